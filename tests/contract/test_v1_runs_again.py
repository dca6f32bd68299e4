"""Runs over v1, behind their first end: retried, run again, deleted, and after a restart."""

import asyncio
import json
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.contract.guest import Told, kinds, only
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
from tests.portal import Portal

YES, NO, SLOW = ref("yes"), ref("no"), ref("slow")
# `mend-x` fails the first time; `hold-x` waits the first time to be stopped.
NAMES = ("seq", "par", "alt", "rounds", "twice", "held", "beside")
_RULES = """
  - {{when: "Mend {name}", times: 1, steps: [{{say: "I could not."}}]}}
  - {{when: "Hold {name}", times: 1, steps: [{{say: "One moment."}}, {{sleep: 60}}]}}
"""
_YES = """
  - when: "Mend|Hold"
    steps: [{call: {tool: job_boolean_true, arguments: {argument: "yes"}}}, {say: "Yes."}]
"""
RULES = "".join(_RULES.format(name=name) for name in NAMES) + _YES
TASKS: dict[str, Any] = {
    f"{verb}-{name}": task(f"{verb.title()} {name}.") for name in NAMES for verb in ("mend", "hold")
}
JOBS: dict[str, Any] = {
    "yes": YES,
    "no": NO,
    "slow": SLOW,
    "seq": seq(YES, ref("mend-seq"), YES),
    "par": par(YES, seq(YES, ref("mend-par"), YES), YES),
    "alt": alt(NO, true=YES, false=seq(YES, ref("mend-alt"))),
    "rounds": loop(ref("mend-rounds"), pre=[True, YES], post=[True, NO]),
    "twice": seq(YES, ref("mend-twice"), NO, YES),
    "held": seq(YES, par(YES, ref("hold-held")), YES),
    "beside": par(ref("mend-beside"), ref("hold-beside")),
    "input": ref("input"),
}


ENTRY = entry_of(JOBS, **TASKS)


@pytest.fixture(scope="module")
def job_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with job_portal_in(tmp_path_factory.mktemp("again"), rules=RULES).serving() as portal:
        asyncio.run(install_jobs(portal, ENTRY))
        yield portal


@pytest.fixture
async def guest(job_portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(job_portal) as guest:
        yield guest


async def ended(guest: JobGuest, job: str, **asked: Any) -> Told:
    return await guest.over((await guest.run(job, **asked))["id"])


async def retried(guest: JobGuest, run: str) -> Told:
    await guest.do_run(run, "retry")
    return await guest.over(run)


def times_begun(view: Told) -> dict[str, int]:
    return dict(Counter(work["path"] for work in view["works"]))


# Retry.


@pytest.mark.parametrize(
    ("job", "culprit", "begun"),
    [
        ("seq", "0.1", {"0.0": 1, "0.1": 2, "0.2": 1}),
        ("par", "0.1.1", {"0.0": 1, "0.1.0": 1, "0.1.1": 2, "0.1.2": 1, "0.2": 1}),
        ("alt", "0.false.1", {"0.cond": 1, "0.false.0": 1, "0.false.1": 2}),
        ("rounds", "0.it1", {"0.it1.pre": 1, "0.it1": 2, "0.it1.post": 1}),
    ],
)
async def test_a_retry_does_the_failed_part_again_and_no_more(
    guest: JobGuest, job: str, culprit: str, begun: dict[str, int]
) -> None:
    first = await ended(guest, job)
    assert first["state"] == "failed"
    answer = await guest.do_run(first["id"], "retry")
    assert (answer["attempt"], answer["redo"], answer["ended_at"]) == (2, [culprit], None)
    assert answer["state"] in ("waiting", "running")
    view = await guest.over(first["id"])
    assert (view["state"], times_begun(view)) == ("succeeded", begun)
    told = only("run.retried", await guest.run_events(first["id"]))
    assert told == [{"kind": "run.retried", "time": 2, "who": "owner", "redo": [culprit]}]
    assert await guest.open_sessions() == []


async def test_a_run_may_be_retried_as_often_as_it_fails(guest: JobGuest) -> None:
    run = (await ended(guest, "twice"))["id"]
    assert times_begun(await guest.show_run(run)) == {"0.0": 1, "0.1": 1}
    view = await retried(guest, run)
    assert (view["state"], times_begun(view)) == ("failed", {"0.0": 1, "0.1": 2, "0.2": 1})
    view = await retried(guest, run)
    assert (view["state"], times_begun(view)) == ("failed", {"0.0": 1, "0.1": 2, "0.2": 2})
    assert (view["attempt"], view["works_failed"]) == (3, 3)
    assert kinds(await guest.run_events(run)).count("run.ended") == 3


async def test_two_who_retry_at_once_retry_once(guest: JobGuest) -> None:
    run = (await ended(guest, "no"))["id"]
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(guest.http.post(f"/api/v1/runs/{run}/retry")) for _ in range(4)]
    assert sorted(one.result().status_code for one in asked) == [200, 409, 409, 409]
    view = await guest.over(run)
    assert (view["time"], times_begun(view)) == (2, {"0": 2})


async def test_what_succeeded_or_goes_on_is_not_retried(guest: JobGuest) -> None:
    done = (await ended(guest, "yes"))["id"]
    going = (await guest.run("slow"))["id"]
    for run, state in ((done, "succeeded"), (going, "")):
        told = await refused(guest, "POST", f"runs/{run}/retry")
        assert told[:2] == (409, "conflict")
        assert state in told[2]
    await guest.do_run(going, "stop")


async def test_a_run_that_was_stopped_goes_on_where_it_was(guest: JobGuest) -> None:
    run = (await guest.run("held"))["id"]
    await guest.until_run(run, lambda view: view["works_succeeded"] == 2)
    await guest.at_work(run)
    assert (await guest.do_run(run, "stop"))["state"] == "canceled"
    view = await retried(guest, run)
    assert view["state"] == "succeeded"
    assert times_begun(view) == {"0.0": 1, "0.1.0": 1, "0.1.1": 2, "0.2": 1}


async def test_what_had_failed_beside_a_task_that_was_stopped_is_done_again_too(
    guest: JobGuest,
) -> None:
    run = (await guest.run("beside"))["id"]
    await guest.until_run(run, lambda view: view["works_failed"] == 1)
    await guest.at_work(run)
    await guest.do_run(run, "stop")
    view = await retried(guest, run)
    assert (view["state"], times_begun(view)) == ("succeeded", {"0.0": 2, "0.1": 2})


async def test_a_stream_that_had_ended_goes_on_behind_the_retry(guest: JobGuest) -> None:
    first = await ended(guest, "no")
    await guest.do_run(first["id"], "retry")
    *events, end = await guest.run_frames(first["id"], first["seq"])
    assert [frame.kind for frame in events] == [
        "run.retried",
        "run.work.started",
        "run.work.stopped",
        "run.ended",
    ]
    assert end.name == "end"


# Again.


async def test_a_run_again_is_a_new_one_of_the_same(guest: JobGuest) -> None:
    folder = guest.portal.work / "with space"
    folder.mkdir(exist_ok=True)
    first = await ended(guest, "input", input="the same", cwd=str(folder))
    answer = await guest.http.post(f"/api/v1/runs/{first['id']}/again")
    assert answer.status_code == 201
    second = await guest.over(answer.json()["id"])
    assert answer.headers["location"] == f"/api/v1/runs/{second['id']}"
    for name in ("job", "cwd", "user_input", "state", "entry"):
        assert second[name] == first[name], name
    assert (second["again"], second["id"] != first["id"]) == (first["id"], True)
    folder.rmdir()
    told = await refused(guest, "POST", f"runs/{first['id']}/again")
    assert told[0] == 422


# Delete.


def rows_about(portal: Portal, *names: str) -> int:
    """In both databases, wherever somebody is named."""
    count = 0
    for file in ("airboss.sqlite", "engine.sqlite"):
        with closing(sqlite3.connect(portal.data / file)) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in tables.fetchall():
                rows = database.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608
                # That it was deleted, and by whom, stays in the audit.
                kept = [row for row in rows if "audit" not in row]
                texts = (json.dumps([str(value) for value in row]) for row in kept)
                count += sum(any(name in text for name in names) for text in texts)
    return count


async def test_a_run_is_deleted_with_its_tasks_and_their_sessions(guest: JobGuest) -> None:
    kept = await ended(guest, "no")
    view = await ended(guest, "no", cwd=str(guest.portal.work))
    run = view["id"]
    view = await retried(guest, run)
    tasks = [work["task_run"] for work in view["works"]]
    sessions = [one["id"] for one in await guest.sessions_of(*tasks)]
    assert (len(tasks), len(sessions)) == (2, 2)
    assert rows_about(guest.portal, run, *tasks, *sessions)
    answer = await guest.http.delete(f"/api/v1/runs/{run}")
    assert (answer.status_code, answer.content) == (204, b"")
    gone = [f"runs/{run}", *(f"task-runs/{one}" for one in tasks)]
    for path in (*gone, *(f"sessions/{one}" for one in sessions)):
        assert (await refused(guest, "GET", path))[0] == 404
    for kind in ("runs", "task-runs", "sessions"):
        listed = (await guest.http.get(f"/api/v1/{kind}", params={"limit": 200})).json()["items"]
        assert not {run, *tasks, *sessions} & {one["id"] for one in listed}
    assert await guest.job_live(run) == {"error": "JobNotFound"}
    assert rows_about(guest.portal, run, *tasks, *sessions) == 0
    assert (await guest.show_run(kept["id"])) == kept
    assert (await refused(guest, "DELETE", f"runs/{run}"))[0] == 404


async def test_a_run_that_goes_on_is_not_deleted(guest: JobGuest) -> None:
    run = (await guest.run("slow"))["id"]
    told = await refused(guest, "DELETE", f"runs/{run}")
    assert told == (409, "conflict", "The run has not ended. Stop it first.")
    await guest.do_run(run, "stop")
    assert (await guest.http.delete(f"/api/v1/runs/{run}")).status_code == 204


# After a restart.


async def test_a_restart_keeps_keys_and_retries_what_an_earlier_server_ended(
    tmp_path: Path,
) -> None:
    with job_portal_in(tmp_path, rules=RULES).serving() as portal:
        await install_jobs(portal, ENTRY)
        headers = {"Idempotency-Key": "once"}
        async with JobGuest.of(portal) as guest:
            answer = await guest.http.post("/api/v1/runs", json={"job": "no"}, headers=headers)
            done = await guest.over(answer.json()["id"])
            failed = await ended(guest, "seq")
        await asyncio.to_thread(portal.stop)
        await asyncio.to_thread(portal.start)
        await install_jobs(portal, ENTRY)
        async with JobGuest.of(portal) as guest:
            answer = await guest.http.post("/api/v1/runs", json={"job": "no"}, headers=headers)
            assert (answer.status_code, answer.json()["id"]) == (201, done["id"])
            assert await guest.show_run(done["id"]) == done
            view = await retried(guest, failed["id"])
            # The script counts anew with a new server: it fails as it did the first time.
            assert (view["state"], times_begun(view)) == ("failed", {"0.0": 1, "0.1": 2})
            view = await retried(guest, failed["id"])
            assert times_begun(view) == {"0.0": 1, "0.1": 3, "0.2": 1}
            assert (view["state"], view["restarts"]) == ("succeeded", 0)
            assert (await guest.http.delete(f"/api/v1/runs/{done['id']}")).status_code == 204
