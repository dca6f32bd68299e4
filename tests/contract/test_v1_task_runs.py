"""Task runs over v1: start, list, show, read, follow, stop; and a problem in words else."""

import asyncio
import json
import re
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.contract.guest import JSON, Frame, Guest, kinds
from tests.contract.task_guest import TaskGuest
from tests.contract.test_v1_sessions import refused
from tests.contract.usage import NOTHING_USED
from tests.portal import Portal
from tests.service.errands import DOCUMENT, SAY_SO

RUNS = "task-runs"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


async def start(tasker: TaskGuest, **asked: Any) -> tuple[int, str, str]:
    content = json.dumps(asked)  # in ASCII: half a character is no UTF-8
    return await refused(tasker, "POST", RUNS, content=content, headers=JSON)


# Start.


async def test_a_run_starts_and_its_place_is_told(tasker: TaskGuest) -> None:
    answer = await tasker.http.post("/api/v1/task-runs", json={"task": "moment"})
    view = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/api/v1/task-runs/{view['id']}"
    assert re.fullmatch(r"tsk_[0-9a-z]{26}", view["id"])
    assert re.fullmatch(r"[0-9a-f]{64}", view["entry"])
    assert view == {
        "id": view["id"],
        "state": "running",
        "task": "moment",
        "entry": view["entry"],
        "model": "driver",
        "cwd": str(tasker.portal.work),
        "policy": "read-only",
        "who": "owner",
        "created_at": view["created_at"],
        "updated_at": view["updated_at"],
        "seq": 1,
        "session": None,
        "sessions": [],
        "opened": [],
        "missions": 0,
        "crashes": 0,
        "retries": 0,
        "usage": NOTHING_USED,
        "run": None,
        "path": None,
        "own_run": view["own_run"],
        "waits_for": None,
        "for_person": None,
        "worked_ms": 0,
        "working_since": view["created_at"],
        "doing": "",
        "reason": None,
        "unasked": False,
        "ended_at": None,
    }
    ended = await tasker.over(view["id"])
    assert (ended["state"], ended["reason"]) == ("succeeded", "The prompt was done.")
    assert ended["ended_at"] >= view["created_at"]
    assert ended["doing"] == "[TASK SUCCEEDED] The prompt was done."


async def test_model_and_folder_may_be_chosen(tasker: TaskGuest) -> None:
    folder = tasker.portal.work / "with space"
    folder.mkdir(exist_ok=True)
    run = await tasker.run("plan", model="reviewer", cwd=str(folder))
    view = await tasker.over(run)
    assert (view["model"], view["cwd"]) == ("reviewer", str(folder))
    [session] = await tasker.opened_by(run)
    assert (session["model"], session["cwd"]) == ("reviewer", str(folder))


async def test_a_run_works_on_an_open_session(tasker: TaskGuest) -> None:
    session = await tasker.open(model="coder")
    run = await tasker.run("plan", session=session)
    view = await tasker.over(run)
    assert (view["session"], view["model"], view["state"]) == (session, "coder", "succeeded")
    assert (await tasker.show(session))["state"] == "idle"
    assert await tasker.opened_by(run) == []


async def test_availability_is_asked_unless_somebody_says_otherwise(tasker: TaskGuest) -> None:
    view = await tasker.over(await tasker.run("picky"))
    reason = "availability.previousTasks does not hold: No task ended before."
    assert (view["state"], view["reason"]) == ("failed", reason)
    view = await tasker.over(await tasker.run("picky", skip_availability=True))
    assert view["state"] == "succeeded"


async def test_what_cannot_be_started_is_refused_in_words(
    tasker: TaskGuest, tmp_path: Path
) -> None:
    session = await tasker.open(model="coder")
    assert await start(tasker, task="nobody") == (404, "not_found", "There is no task nobody.")
    told = await start(tasker, task="nobody", session="ses_x")
    assert told == (404, "not_found", "There is no open session ses_x.")
    assert (await start(tasker, task="plan", model="nobody"))[:2] == (422, "model_not_found")
    assert (await start(tasker, task="plan", model=""))[:2] == (422, "model_not_found")
    folders = {
        "here": "working_directory_not_absolute",
        "/nowhere/at/all": "working_directory_missing",
        str(tmp_path): "working_directory_not_allowed",
    }
    for cwd, code in folders.items():
        assert (await start(tasker, task="plan", cwd=cwd))[:2] == (422, code)
    needs = "The task input needs input. Tell it what to do."
    assert await start(tasker, task="input") == (422, "invalid", needs)
    assert await start(tasker, task="input", input=" \n") == (422, "invalid", needs)
    takes = "The task plan takes no input. Start it without input."
    assert await start(tasker, task="plan", input="this") == (422, "invalid", takes)
    keeps = "A session keeps its model, folder and cage. With a session, send none."
    for more in ({"model": "coder"}, {"cwd": str(tasker.portal.work)}):
        told = await start(tasker, task="plan", session=session, **more)
        assert told == (422, "invalid", keeps)
    assert (await tasker.show(session))["turns"] == 0


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"task": ""},
        {"task": 5},
        {"task": None},
        {"task": ["plan"]},
        {"task": "x" * 401},
        {"task": "\ud800"},
        {"task": "plan", "colour": "red"},
        {"task": "plan", "userInput": "x"},
        {"task": "plan", "skip_availability": "perhaps"},
        {"task": "plan", "input": None},
        {"task": "plan", "input": {"text": "x"}},
        {"task": "plan", "session": 7},
        {"task": "plan", "session": "s" * 101},
        {"task": "plan", "model": "m" * 401},
        {"task": "plan", "cwd": "/" + "c" * 4096},
        {"task": "plan", SECRET: 1},
    ],
)
async def test_what_is_no_request_is_refused_and_never_repeated(
    tasker: TaskGuest, asked: dict[str, Any]
) -> None:
    status, code, detail = await start(tasker, **asked)
    assert (status, code) == (422, "invalid")
    assert SECRET not in detail


async def test_garbage_is_refused(tasker: TaskGuest) -> None:
    for body in (b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b'"plan"', b"[" * 100_000):
        status, _, _ = await refused(tasker, "POST", RUNS, content=body)
        assert status in (400, 422)


async def test_a_huge_input_is_refused_and_a_large_one_is_not(tasker: TaskGuest) -> None:
    asked = {"task": "input", "input": "x" * (4 * 1024 * 1024)}
    assert (await refused(tasker, "POST", RUNS, json=asked))[:2] == (413, "body_too_large")
    text = "ü" * 100_000
    view = await tasker.over(await tasker.run("input", input=text))
    assert view["state"] == "succeeded"
    assert view["user_input"] == text
    assert view["attempts"][0]["text"] == f"Do: {text}"


async def test_a_secret_in_the_input_is_not_kept(tasker: TaskGuest) -> None:
    run = await tasker.run("input", input=f"use {SECRET}")
    view = await tasker.over(run)
    assert view["state"] == "succeeded"
    assert SECRET not in json.dumps(view)
    assert SECRET not in json.dumps(await tasker.run_page(run, limit=1000))


# Show.


async def test_a_run_is_shown_with_all_that_it_did(tasker: TaskGuest) -> None:
    run = await tasker.run("several")
    view = await tasker.over(run)
    assert [decision["text"].partition("]")[0] for decision in view["decisions"]] == [
        "[SESSION STARTED",
        "[OPERATION",
        "[AVAILABILITY",
        "[SESSION STARTED",
        "[OPERATION",
        "[CRITERIA",
        "[SESSION STARTED",
        "[OPERATION",
        "[CRITERIA",
        "[TASK SUCCEEDED",
    ]
    checks = [{**check, "at": 0} for check in view["checks"]]
    assert checks == [
        {
            "at": 0,
            "field": "availability.condition",
            "round": 0,
            "holds": True,
            "content": f"Is it there?\n{SAY_SO}",
            "reason": "It is.",
            "unasked": False,
        },
        {
            "at": 0,
            "field": "criteria.toolExecuted",
            "round": 0,
            "holds": True,
            "content": DOCUMENT,
            "reason": "All were called.",
            "unasked": False,
        },
        {
            "at": 0,
            "field": "criteria.condition",
            "round": 0,
            "holds": True,
            "content": f"Is it so?\n{SAY_SO}",
            "reason": "It is.",
            "unasked": False,
        },
    ]
    sessions = await tasker.opened_by(run)
    assert [session["model"] for session in sessions] == ["driver", "coder", "driver"]
    for attempt, session in zip(view["attempts"], sessions, strict=True):
        assert attempt["session"] == session["id"]
        assert attempt["started_at"] <= attempt["ended_at"] <= view["ended_at"]
        accepted = (await tasker.events(session["id"]))[2]["event"]
        assert accepted["kind"] == "prompt.accepted"
        assert (accepted["prompt"], accepted["task"]) == (attempt["prompt"], run)
        assert accepted["text"] == attempt["text"]
    assert [(one["mission"]["kind"], one["outcome"]) for one in view["attempts"]] == [
        ("availability", "done"),
        ("prompt", "done"),
        ("criteria", "done"),
    ]
    assert view["attempts"][1]["calls"] == [
        {"tool": DOCUMENT, "argument": "  docs/plan.md \nand more"}
    ]
    assert (view["missions"], view["crashes"], view["retries"]) == (3, 0, 0)


async def test_a_run_at_work_shows_what_it_does(tasker: TaskGuest) -> None:
    run = await tasker.run("slow")
    session = await tasker.under_way(run)
    view = await tasker.show_run(run)
    assert (view["state"], view["sessions"], view["missions"]) == ("running", [session], 1)
    assert view["doing"] == "[OPERATION] Sends the prompt."
    [attempt] = view["attempts"]
    assert (attempt["outcome"], attempt["ended_at"], attempt["calls"]) == (None, None, [])
    await tasker.stop_run(run)


async def test_what_is_not_there_is_not_found(tasker: TaskGuest) -> None:
    session = await tasker.open(model="coder")
    for run in ("tsk_x", session):
        for method, path in (
            ("GET", ""),
            ("POST", "/stop"),
            ("GET", "/events"),
            ("GET", "/stream"),
        ):
            told = await refused(tasker, method, f"{RUNS}/{run}{path}")
            assert told == (404, "not_found", f"There is no task run {run}."), path
    run = await tasker.run("plan")
    for method, path in (
        ("GET", ""),
        ("POST", "/abort"),
        ("POST", "/close"),
        ("POST", "/resume"),
        ("GET", "/events"),
        ("GET", "/stream"),
    ):
        told = await refused(tasker, method, f"sessions/{run}{path}")
        assert told == (404, "not_found", f"There is no session {run}."), path
    assert (await refused(tasker, "PUT", f"{RUNS}/{run}"))[:2] == (405, "method_not_allowed")
    await tasker.over(run)


# List.


async def test_runs_are_listed_by_state_newest_first_page_by_page(
    own_task_portal: Portal,
) -> None:
    async with TaskGuest.of(own_task_portal) as guest:
        empty = (await guest.http.get("/api/v1/task-runs")).json()
        assert empty == {"items": [], "next_cursor": None}
        made = [await guest.run(name) for name in ("plan", "idle", "plan", "idle", "slow", "slow")]
        for run in made[:4]:
            await guest.over(run)
        await guest.stop_run(made[4])

        async def listed(**query: Any) -> list[str]:
            """Page by page."""
            found: list[str] = []
            cursor: str | None = None
            while True:
                more = {"cursor": cursor} if cursor else {}
                answer = await guest.http.get("/api/v1/task-runs", params={**query, **more})
                assert answer.status_code == 200, answer.text
                page = answer.json()
                assert len(page["items"]) <= query.get("limit", 50)
                found += [view["id"] for view in page["items"]]
                cursor = page["next_cursor"]
                if cursor is None:
                    return found

        newest = made[::-1]
        for limit in (1, 2, 5, 6, 200):
            assert await listed(limit=limit) == newest
        assert await listed(state="succeeded") == [made[2], made[0]]
        assert await listed(state="failed", limit=1) == [made[3], made[1]]
        assert await listed(state="canceled") == [made[4]]
        assert await listed(state="running") == [made[5]]
        assert await listed(state="crashed") == []
        assert await listed(state=["running", "failed"]) == [made[5], made[3], made[1]]
        first = (await guest.http.get("/api/v1/task-runs", params={"limit": 2})).json()
        later = await guest.run("plan")
        query = {"limit": 2, "cursor": first["next_cursor"]}
        second = (await guest.http.get("/api/v1/task-runs", params=query)).json()
        assert [view["id"] for view in second["items"]] == newest[2:4], "its place stays true"
        shown = await guest.over(later)
        [view] = (await guest.http.get("/api/v1/task-runs", params={"limit": 1})).json()["items"]
        assert view.items() <= shown.items(), "a list has the view without the story"
        await guest.stop_run(made[5])
        await refuses_bad_questions(guest)


async def refuses_bad_questions(guest: Guest) -> None:
    for query in (
        "state=idle",
        "state=",
        "limit=0",
        "limit=201",
        "limit=x",
        "cursor=x",
        "cursor=%F0",
        "cursor=" + "x" * 201,
    ):
        assert (await refused(guest, "GET", f"{RUNS}?{query}"))[:2] == (422, "invalid"), query


# Events.


async def test_events_are_read_page_by_page(tasker: TaskGuest) -> None:
    run = await tasker.run("idle")
    view = await tasker.over(run)
    whole = await tasker.run_page(run, limit=1000)
    assert kinds(whole["items"]) == [
        "task.accepted",
        "task.session.started",
        "task.decided",
        "task.decided",
        "task.mission.sent",
        "task.mission.ended",
        "task.checked",
        "task.decided",
        "task.session.stopped",
        "task.decided",
        "task.ended",
    ]
    assert (whole["more"], whole["seq"], whole["next_after"]) == (False, view["seq"], view["seq"])
    for limit in (1, 2, 3, 10, 11):
        found: list[Any] = []
        page: dict[str, Any] = {"next_after": 0, "more": True}
        while page["more"]:
            page = await tasker.run_page(run, after=page["next_after"], limit=limit)
            found += page["items"]
        assert found == whole["items"]
    assert (await tasker.run_page(run, after=view["seq"]))["items"] == []
    for query in ("after=-1", "after=x", "limit=0", "limit=1001"):
        assert (await refused(tasker, "GET", f"{RUNS}/{run}/events?{query}"))[0] == 422


async def test_a_run_is_followed_from_any_point_to_its_end(tasker: TaskGuest) -> None:
    run = await tasker.run("moment")
    watching = asyncio.create_task(_frames(tasker, run))
    await tasker.under_way(run)
    late = await _frames(tasker, run)
    seen = await watching
    assert seen[:-1] == late[:-1]
    *events, end = seen
    stored = (await tasker.run_page(run, limit=1000))["items"]
    assert [frame.data for frame in events] == stored
    assert [frame.id for frame in events] == [told["seq"] for told in stored]
    assert (end.name, end.data["seq"]) == ("end", stored[-1]["seq"])
    for place in range(len(stored)):
        seq = stored[place - 1]["seq"] if place else 0
        for after, last_id in ((seq, None), (None, str(seq)), (0, str(seq))):
            frames = await _frames(tasker, run, after, last_id)
            assert [frame.data for frame in frames[:-1]] == stored[place:]
    for last_id in ("x", "-1", "1" * 21):
        sent = {"headers": {"Last-Event-ID": last_id}}
        told = await refused(tasker, "GET", f"{RUNS}/{run}/stream", **sent)
        assert told[:2] == (422, "invalid")


async def _frames(
    tasker: TaskGuest, run: str, after: int | None = None, last_id: str | None = None
) -> list[Frame]:
    async with asyncio.timeout(20), aclosing(tasker.run_frames(run, after, last_id)) as frames:
        return [frame async for frame in frames if frame.name != "heartbeat"]


# Stop.


async def test_a_run_is_stopped_with_its_agents_and_twice_is_as_good_as_once(
    tasker: TaskGuest,
) -> None:
    run = await tasker.run("slow")
    session = await tasker.under_way(run)
    began = time.monotonic()
    view = await tasker.stop_run(run)
    assert time.monotonic() - began < 10  # tests/crash has the two seconds
    assert (view["state"], view["reason"]) == ("canceled", "Stopped by owner.")
    assert "decisions" not in view
    assert (await tasker.show(session))["state"] == "closed"
    assert await tasker.stop_run(run) == view
    shown = await tasker.over(run)
    assert view.items() <= shown.items()
    stored = (await tasker.run_page(run))["items"]
    ended = stored[-1]["event"]
    assert ended.pop("usage") == shown["usage"]
    assert ended == {
        "kind": "task.ended",
        "outcome": "canceled",
        "reason": "Stopped by owner.",
        "who": "owner",
        "unasked": False,
    }


async def test_stopping_a_run_leaves_the_session_that_it_was_given(tasker: TaskGuest) -> None:
    session = await tasker.open(model="coder")
    run = await tasker.run("slow", session=session)
    await tasker.under_way(run)
    assert (await tasker.stop_run(run))["state"] == "canceled"
    view = await tasker.until(session, "idle")
    assert (view["turn"], view["queue"]) == (None, [])
    await tasker.turn(session, "Say more.")


async def test_many_run_at_once(tasker: TaskGuest) -> None:
    async with asyncio.TaskGroup() as group:
        started = [group.create_task(tasker.run("several")) for _ in range(6)]
    for one in started:
        assert (await tasker.over(one.result()))["state"] == "succeeded"
