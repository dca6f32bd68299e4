"""Runs over v1: start, list, show, read, follow, stop; and a problem in words else."""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from tests.contract.guest import JSON, Told, kinds
from tests.contract.job_guest import (
    JobGuest,
    alt,
    entry_of,
    install_jobs,
    job_portal_in,
    loop,
    par,
    ref,
    seq,
    task,
)
from tests.contract.test_v1_sessions import refused
from tests.contract.usage import NOTHING_USED
from tests.portal import Portal

RUNS = "runs"
YES, NO, SLOW = ref("yes"), ref("no"), ref("slow")
JOBS: dict[str, Any] = {
    "yes": YES,
    "no": seq(YES, NO, YES),
    "slow": SLOW,
    "both": par(SLOW, seq(YES, YES)),
    "rounds": loop(YES, post=[True, ref("more")]),
    "input": ref("input"),
    "else": seq(alt(SLOW, true=YES, false=NO), YES),
    "either": seq(alt(SLOW, true=NO, false=YES), YES),
}


@pytest.fixture(scope="module")
def job_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with job_portal_in(tmp_path_factory.mktemp("runs")).serving() as portal:
        asyncio.run(install_jobs(portal, entry_of(JOBS, more=task("True twice."))))
        yield portal


@pytest.fixture
async def guest(job_portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(job_portal) as guest:
        yield guest


async def ended(guest: JobGuest, job: str, **asked: Any) -> Told:
    return await guest.over((await guest.run(job, **asked))["id"])


async def pressed(guest: JobGuest, key: str, job: str = "yes") -> Told:
    headers = {"Idempotency-Key": key}
    answer = await guest.http.post(f"/api/v1/{RUNS}", json={"job": job}, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def start(guest: JobGuest, **asked: Any) -> tuple[int, str, str]:
    return await refused(guest, "POST", RUNS, content=json.dumps(asked), headers=JSON)


# Start.


async def test_a_run_starts_and_its_place_is_told(guest: JobGuest) -> None:
    asked = {"job": "yes", "cwd": str(guest.portal.work)}
    answer = await guest.http.post("/api/v1/runs", json=asked)
    view = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/api/v1/runs/{view['id']}"
    assert re.fullmatch(r"run_[0-9a-z]{26}", view["id"])
    assert re.fullmatch(r"[0-9a-f]{64}", view["entry"])
    assert view == {
        "id": view["id"],
        "state": "waiting",
        "job": "yes",
        "entry": view["entry"],
        "cwd": str(guest.portal.work),
        "who": "owner",
        "created_at": view["created_at"],
        "updated_at": view["created_at"],
        "seq": 1,
        "again": None,
        "title": "",
        "running": [],
        "works_succeeded": 0,
        "works_failed": 0,
        "restarts": 0,
        "attempt": 1,
        "time": 1,
        "usage": NOTHING_USED,
        "waits_for": "a worker to begin it",
        "ending": None,
        "trusted": False,
        "cage": None,
        "caged": "no",
        "machine": None,
        "moved": None,
        "labels": [],
        "redo": [],
        "reason": None,
        "ended_at": None,
        "short_title": "",
        "input_start": "",
        "tags": [],
    }
    over = await guest.over(view["id"])
    assert (over["state"], over["reason"]) == ("succeeded", "All that had to succeed did.")
    assert (over["waits_for"], over["running"]) == (None, [])
    assert over["ended_at"] >= over["works"][0]["ended_at"] >= view["created_at"]


async def test_without_a_folder_a_run_works_in_the_repository(guest: JobGuest) -> None:
    answer = await guest.http.post("/api/v1/runs", json={"job": "yes"})
    assert answer.json()["cwd"] == str(guest.portal.work)
    await guest.over(answer.json()["id"])


async def test_a_key_that_is_repeated_starts_nothing_new(guest: JobGuest) -> None:
    first = await pressed(guest, "a key")
    assert (await pressed(guest, "a key"))["id"] == first["id"]
    await guest.over(first["id"])
    assert (await pressed(guest, "a key"))["state"] == "succeeded"
    other = await pressed(guest, "another key")
    assert other["id"] != first["id"]
    assert kinds(await guest.run_events(first["id"])).count("run.accepted") == 1
    await guest.over(other["id"])


async def test_a_key_that_several_press_at_once_starts_one_run(guest: JobGuest) -> None:
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(pressed(guest, "at once")) for _ in range(8)]
    assert len({one.result()["id"] for one in asked}) == 1
    run = asked[0].result()["id"]
    assert (await guest.over(run))["state"] == "succeeded"
    told = kinds(await guest.run_events(run))
    assert (told.count("run.accepted"), told.count("run.work.started")) == (1, 1)


async def test_a_key_is_its_callers_own(guest: JobGuest) -> None:
    first = await pressed(guest, "mine")
    added = await asyncio.to_thread(guest.portal.run, "token", "add", "laptop")
    headers = {"Authorization": f"Bearer {added.stdout.strip()}", "Idempotency-Key": "mine"}
    answer = await guest.http.post("/api/v1/runs", json={"job": "yes"}, headers=headers)
    other = answer.json()
    assert (answer.status_code, other["who"]) == (201, "laptop")
    assert other["id"] != first["id"]
    for run in (first, other):
        await guest.over(run["id"])


async def test_a_run_that_is_deleted_frees_its_key(guest: JobGuest) -> None:
    first = await pressed(guest, "freed")
    await guest.over(first["id"])
    assert (await guest.http.delete(f"/api/v1/runs/{first['id']}")).status_code == 204
    second = await pressed(guest, "freed")
    assert second["id"] != first["id"]
    assert (await guest.over(second["id"]))["state"] == "succeeded"


async def test_what_cannot_be_started_is_refused_in_words(guest: JobGuest) -> None:
    assert await start(guest, job="nope") == (404, "not_found", "There is no job nope.")
    assert await start(guest, job="input") == (
        422,
        "invalid",
        "The job input needs input. Tell it what to do.",
    )
    assert (await start(guest, job="input", input=" \n"))[:2] == (422, "invalid")
    assert await start(guest, job="yes", input="more") == (
        422,
        "invalid",
        "The job yes takes no input. Start it without input.",
    )
    for cwd in ("work", "/no/such/folder", "/etc", "a\0b"):
        assert (await start(guest, job="yes", cwd=cwd))[0] == 422, cwd
    for wrong in ({}, {"job": ""}, {"job": 3}, {"job": "yes", "model": "driver"}, {"job": None}):
        assert (await start(guest, **wrong))[:2] == (422, "invalid"), wrong
    for key in ("", "x" * 201):
        sent = {"content": '{"job": "yes"}', "headers": {**JSON, "Idempotency-Key": key}}
        assert (await refused(guest, "POST", RUNS, **sent))[:2] == (422, "invalid")


async def test_a_run_that_is_not_there_is_not_found(guest: JobGuest) -> None:
    session = await guest.open(model="driver")
    for run in ("run_nobody", "x", session):
        for method, path in (
            ("GET", ""),
            ("GET", "/events"),
            ("GET", "/stream"),
            ("POST", "/stop"),
            ("POST", "/retry"),
            ("POST", "/again"),
            ("DELETE", ""),
        ):
            told = await refused(guest, method, f"{RUNS}/{run}{path}")
            assert told == (404, "not_found", f"There is no run {run}.")
    await guest.do(session, "close")


# List.


async def test_runs_are_listed_newest_first_by_state_and_job(guest: JobGuest) -> None:
    done = [(await ended(guest, "no"))["id"], (await ended(guest, "input", input="it"))["id"]]
    going = (await guest.run("slow"))["id"]
    await guest.at_work(going)

    async def listed(*query: tuple[str, str]) -> list[str]:
        answer = await guest.http.get("/api/v1/runs", params=[*query, ("limit", "200")])
        return [view["id"] for view in answer.json()["items"]]

    assert (await listed())[:3] == [going, done[1], done[0]]
    assert await listed(("state", "running")) == [going]
    assert await listed(("state", "waiting")) == []
    assert done[0] in await listed(("state", "failed"))
    both = await listed(("state", "failed"), ("state", "running"))
    assert (both[0], done[0] in both, done[1] in both) == (going, True, False)
    assert (await listed(("job", "input")))[0] == done[1]
    assert going not in await listed(("job", "input"))
    assert await listed(("job", "input"), ("state", "failed")) == []
    assert await listed(("job", "nope")) == []
    await guest.do_run(going, "stop")
    assert going in await listed(("state", "canceled"))


async def test_a_cursor_stays_true_while_new_runs_come(guest: JobGuest) -> None:
    mine = [(await ended(guest, "yes"))["id"] for _ in range(3)]
    query: dict[str, Any] = {"limit": 2, "job": "yes"}
    first = (await guest.http.get("/api/v1/runs", params=query)).json()
    await ended(guest, "yes")
    query["cursor"] = first["next_cursor"]
    second = (await guest.http.get("/api/v1/runs", params=query)).json()
    found = [view["id"] for view in first["items"] + second["items"]]
    assert found[:3] == mine[::-1]
    for wrong in ("state=idle", "state=", "limit=0", "limit=201", "cursor=x", "job=" + "x" * 401):
        assert (await refused(guest, "GET", f"{RUNS}?{wrong}"))[:2] == (422, "invalid"), wrong


# Show.


async def test_a_run_shows_every_work_as_of_its_seq(guest: JobGuest) -> None:
    run = (await guest.run("both"))["id"]
    shown = await guest.until_run(run, lambda view: view["works_succeeded"] == 2)
    assert (shown["state"], shown["works_failed"]) == ("running", 0)
    assert [work["path"] for work in shown["running"]] == ["0.0"]
    works = {work["path"]: work for work in shown["works"]}
    assert {path: work["state"] for path, work in works.items()} == {
        "0.0": "running",
        "0.1.0": "succeeded",
        "0.1.1": "succeeded",
    }
    assert works["0.0"]["ended_at"] is None
    assert works["0.1.0"]["ended_at"] <= works["0.1.1"]["started_at"]
    assert works["0.1.0"]["usage"]["requests"] == 2
    assert shown["usage"]["requests"] == 4
    behind = (await guest.http.get(f"/api/v1/runs/{run}/events?after={shown['seq']}")).json()
    assert behind["items"] == []
    stopped = await guest.do_run(run, "stop")
    over = await guest.show_run(run)
    assert stopped.items() <= over.items()
    assert [work["state"] for work in over["works"] if work["path"] == "0.0"] == ["canceled"]


async def test_the_rounds_of_a_loop_have_paths_of_their_own(guest: JobGuest) -> None:
    view = await ended(guest, "rounds")
    assert [(work["path"], work["work"], work["state"]) for work in view["works"]] == [
        ("0.it1", 1, "succeeded"),
        ("0.it1.post", 0, "succeeded"),
        ("0.it2", 1, "succeeded"),
        ("0.it2.post", 0, "succeeded"),
        ("0.it3", 1, "succeeded"),
        ("0.it3.post", 0, "failed"),
    ]
    assert (view["state"], view["works_succeeded"], view["works_failed"]) == ("succeeded", 5, 1)
    assert len({work["task_run"] for work in view["works"]}) == 6


async def test_the_task_runs_of_a_run_say_whose_they_are(guest: JobGuest) -> None:
    view = await ended(guest, "input", input="two\nlines")
    assert view["user_input"] == "two\nlines"
    [work] = view["works"]
    shown = await guest.task_run(work["task_run"])
    assert (shown["run"], shown["path"], shown["who"]) == (view["id"], "0", f"run {view['id']}")
    assert (shown["state"], shown["user_input"]) == ("succeeded", "two\nlines")
    assert shown["usage"] == work["usage"] == view["usage"]
    listed = (await guest.http.get("/api/v1/task-runs?limit=1")).json()["items"]
    assert listed[0]["run"] == view["id"]


# Events.


async def test_events_are_read_page_by_page(guest: JobGuest) -> None:
    view = await ended(guest, "no")
    whole = (await guest.http.get(f"/api/v1/runs/{view['id']}/events?limit=1000")).json()
    assert kinds(whole["items"]) == [
        "run.accepted",
        "run.work.started",
        "run.work.stopped",
        "run.work.started",
        "run.work.stopped",
        "run.ended",
    ]
    assert (whole["more"], whole["seq"], whole["next_after"]) == (False, view["seq"], view["seq"])
    for limit in (1, 2, 5, 6):
        found: list[Told] = []
        page: Told = {"next_after": 0, "more": True}
        while page["more"]:
            query = {"after": page["next_after"], "limit": limit}
            page = (await guest.http.get(f"/api/v1/runs/{view['id']}/events", params=query)).json()
            found += page["items"]
        assert found == whole["items"]
    for wrong in ("after=-1", "after=x", "limit=0", "limit=1001"):
        assert (await refused(guest, "GET", f"{RUNS}/{view['id']}/events?{wrong}"))[0] == 422


async def test_a_run_is_followed_from_any_point_to_its_end(guest: JobGuest) -> None:
    run = (await guest.run("no"))["id"]
    *events, end = await guest.run_frames(run)
    stored = await guest.run_events(run)
    assert [frame.data for frame in events] == stored
    assert [frame.id for frame in events] == [told["seq"] for told in stored]
    assert (end.name, end.data["seq"]) == ("end", stored[-1]["seq"])
    behind = await guest.http.get(
        f"/api/v1/runs/{run}/stream", headers={"Last-Event-ID": str(stored[-1]["seq"])}
    )
    assert behind.status_code == 204
    for place in range(len(stored)):
        seq_ = stored[place - 1]["seq"] if place else 0
        for after, last_id in ((seq_, None), (None, str(seq_))):
            frames = await guest.run_frames(run, after, last_id)
            assert [frame.data for frame in frames[:-1]] == stored[place:]


# Stop.


async def test_a_run_is_stopped_with_its_agents_and_twice_is_as_good_as_once(
    guest: JobGuest,
) -> None:
    run = (await guest.run("both"))["id"]
    await guest.at_work(run)
    began = time.monotonic()
    view = await guest.do_run(run, "stop")
    assert time.monotonic() - began < 10  # tests/crash has the two seconds
    assert (view["state"], view["reason"]) == ("canceled", "Stopped by owner.")
    assert await guest.open_sessions() == []
    assert await guest.do_run(run, "stop") == view
    stored = await guest.run_events(run)
    # A task may end by itself at this very moment.
    beside = ("run.work.cut", "run.work.stopped")
    told_last = [told["event"] for told in stored if told["event"]["kind"] not in beside]
    assert told_last[-2:] == [
        {"kind": kind, "outcome": "canceled", "reason": "Stopped by owner.", "who": "owner"}
        for kind in ("run.ending", "run.ended")
    ]
    for work in (await guest.show_run(run))["works"]:
        shown = await guest.task_run(work["task_run"])
        assert shown["state"] == ("canceled" if work["state"] == "canceled" else "succeeded")


@pytest.mark.parametrize(
    ("job", "told"),
    [("slow", "failed"), ("else", "failed"), ("either", "succeeded")],
)
async def test_a_task_that_is_stopped_fails_and_its_run_goes_on_by_its_rules(
    guest: JobGuest, job: str, told: str
) -> None:
    run = (await guest.run(job))["id"]
    [session] = await guest.at_work(run)
    task_run = session["who"].removeprefix("task ")
    answer = await guest.http.post(f"/api/v1/task-runs/{task_run}/stop")
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["reason"]) == ("failed", "Stopped by owner.")
    view = await guest.over(run)
    assert view["state"] == told
    assert view["works"][0]["state"] == "failed"
    assert (await guest.http.post(f"/api/v1/task-runs/{task_run}/stop")).json() == answer.json()
    assert await guest.open_sessions() == []
