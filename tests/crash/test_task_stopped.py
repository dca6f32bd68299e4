"""Tasks that are stopped, at every stage and within two seconds, or with their server."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.guest import Told
from tests.contract.task_guest import TaskGuest, install_tasks
from tests.crash.marks import bearing, left_of, running, soon
from tests.portal import Portal
from tests.service.errands import DOCUMENT, asks, criteria, task
from tests.trials import sampled, share, trial

pytestmark = [pytest.mark.anyio, pytest.mark.timed]

SCRIPT = Path(__file__).with_name("tasks.yaml").read_text(encoding="utf-8")
STOP_SECONDS = 2
SERVER_SECONDS = 5
STOPPED = ("canceled", "Stopped by owner.")
SEVERAL: dict[str, Any] = {"runConditionInSameSession": False}
TASKS: dict[str, Any] = {
    "work": task("Work."),
    "hold": task("HOLD. Work."),
    "shell": task("Run: $user-input"),
    "change": task("Change the world."),
    "ask before": task("Work.", availability={"condition": asks("HOLD. Is it so?")}),
    "ask after": task("Work.", criteria=criteria(condition=asks("HOLD. Is it so?"))),
    "ask another": task("Work.", criteria=criteria(condition=asks("HOLD. Is it so?"), **SEVERAL)),
    "again": task("Do it.", criteria=criteria(DOCUMENT, retries=1000)),
    "again in turns": task(
        "Do it.", criteria=criteria(condition=asks("Is it gone?"), retries=1000, **SEVERAL)
    ),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """For those who stop tasks only."""
    portal = portal_in(tmp_path_factory.mktemp("stopped"))
    yield portal
    portal.stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Portal]:
    """For those who kill the server."""
    portal = portal_in(tmp_path)
    yield portal
    portal.stop()


def portal_in(folder: Path) -> Portal:
    fixtures = str(folder / "fixtures")
    options = ("--permissions", "approve-all", "--test", "--test-folder", fixtures)
    portal = Portal(folder, options, SCRIPT)
    portal.start()
    asyncio.run(install_tasks(portal, TASKS))
    return portal


@pytest.fixture
async def guest(shared: Portal, anyio_backend: str) -> AsyncGenerator[TaskGuest]:
    async with TaskGuest.of(shared) as guest:
        yield guest


async def stop(guest: TaskGuest, run: str) -> Told:
    """In time; and when the answer is there, so is the end of all that it opened."""
    began = time.monotonic()
    view = await guest.stop_run(run)
    assert time.monotonic() - began < STOP_SECONDS
    opened = await guest.opened_by(run)
    assert {session["state"] for session in opened} <= {"closed"}
    for session in opened:
        assert bearing("COPILOT_AGENT_SESSION_ID", session["id"]) == []
    assert view["sessions"] == []
    heard = await guest.drained(run)
    if view["state"] == "canceled":
        told = {"taskSucceeded", "taskFailed", "taskError"}
        assert not told & {name for one in heard for name in (one.get("callback"), *one)}
    return view


def outcome(view: Told) -> tuple[str, str]:
    return view["state"], view["reason"]


async def nothing_is_open(guest: TaskGuest) -> None:
    answer = await guest.http.get("/api/v1/sessions", params={"limit": 200})
    of_tasks = [view for view in answer.json()["items"] if view["who"].startswith("task ")]
    assert {view["state"] for view in of_tasks} <= {"closed"}
    answer = await guest.http.get("/api/v1/task-runs", params={"state": "running"})
    assert answer.json()["items"] == []


# Stopped by a person.


async def test_a_stop_while_its_first_session_opens(guest: TaskGuest) -> None:
    """The runtime is new each time: its start gives the stop something to cut short."""
    for number in range(6):
        status = (await guest.http.get("/api/v1/status")).json()
        if pid := status["runtime"]["pid"]:
            os.kill(pid, signal.SIGKILL)
        run = await guest.run("hold")
        await asyncio.sleep(number * 0.1)
        assert outcome(await stop(guest, run)) == STOPPED
    await nothing_is_open(guest)


async def test_a_stop_while_a_shell_command_runs_ends_the_command(guest: TaskGuest) -> None:
    attached, detached = (f"sleep {guest.portal.pid}.{number}" for number in (1, 2))
    both = f"sh -c 'setsid nohup {detached} >/dev/null 2>&1 & {attached}; true'"
    run = await guest.run("shell", input=both)
    assert await asyncio.to_thread(soon, lambda: running(attached) and running(detached), 10)
    assert outcome(await stop(guest, run)) == STOPPED
    assert running(attached) == running(detached) == []


async def test_a_stop_in_a_persons_session_ends_the_command_and_keeps_the_session(
    guest: TaskGuest,
) -> None:
    session = await guest.open(model="coder")
    words = f"sleep {guest.portal.pid}.3"
    run = await guest.run("shell", input=words, session=session)
    assert await asyncio.to_thread(soon, lambda: running(words), 10)
    assert outcome(await stop(guest, run)) == STOPPED
    assert running(words) == []
    assert (await guest.until(session, "idle"))["queue"] == []
    await guest.turn(session, "Say more.")
    await guest.do(session, "close")


@pytest.mark.parametrize(
    ("name", "mission"),
    sampled(2, [("hold", 1), ("ask another", 2), ("ask before", 1), ("ask after", 2)]),
)
async def test_a_stop_in_any_mission(guest: TaskGuest, name: str, mission: int) -> None:
    run = await guest.run(name)
    await guest.under_way(run, mission)
    view = await stop(guest, run)
    assert outcome(view) == STOPPED
    assert view["missions"] == mission


@trial
@pytest.mark.parametrize("name", sampled(1, ["again in turns", "again"]))
async def test_a_stop_between_retries(guest: TaskGuest, name: str) -> None:
    """Somewhere between them: the rounds are short, and each stop comes a little later."""
    for number in range(share(3, 6)):
        run = await guest.run(name)
        await guest.run_event(run, "task.retrying", 1 + number % 2)
        await asyncio.sleep(number * 0.02)
        view = await stop(guest, run)
        assert outcome(view) == STOPPED
        assert view["retries"] >= 1
    await nothing_is_open(guest)


async def test_two_who_stop_it_at_once_get_the_same_answer(guest: TaskGuest) -> None:
    run = await guest.run("hold")
    await guest.under_way(run)
    async with asyncio.TaskGroup() as group:
        stops = [group.create_task(guest.stop_run(run)) for _ in range(3)]
        seeds = [group.create_task(guest.task_stop(run)) for _ in range(3)]
    views = [one.result() for one in stops]
    assert views[0] == views[1] == views[2] == await guest.stop_run(run)
    assert outcome(views[0]) == STOPPED
    for one in seeds:
        assert one.result() in ({"result": "Closed"}, {"error": "TaskNotFound"})


async def test_a_stop_at_once_with_the_end(guest: TaskGuest) -> None:
    outcomes: set[str] = set()
    for number in range(10):
        run = await guest.run("work")
        await guest.run_event(run, "task.mission.sent")
        await asyncio.sleep(number * 0.012)
        view = await stop(guest, run)
        outcomes.add(view["state"])
        stored = (await guest.run_page(run, limit=1000))["items"]
        assert [one["event"]["kind"] for one in stored].count("task.ended") == 1
    assert outcomes <= {"canceled", "succeeded"}
    await nothing_is_open(guest)


async def test_a_stop_right_behind_the_death_of_the_runtime(guest: TaskGuest) -> None:
    run = await guest.run("hold")
    await guest.under_way(run)
    pid = (await guest.http.get("/api/v1/status")).json()["runtime"]["pid"]
    os.kill(pid, signal.SIGKILL)
    assert outcome(await stop(guest, run)) == STOPPED
    await nothing_is_open(guest)


async def test_stops_of_many_at_once(guest: TaskGuest) -> None:
    runs = [await guest.run("hold") for _ in range(5)]
    for run in runs:
        await guest.under_way(run)
    async with asyncio.TaskGroup() as group:
        stops = [group.create_task(stop(guest, run)) for run in runs]
    assert [outcome(one.result()) for one in stops] == [STOPPED] * 5


# With the server.


async def test_an_orderly_stop_of_the_server_ends_agents_and_the_next_one_goes_on(
    own: Portal,
) -> None:
    words = f"sleep {own.pid}.4"
    async with TaskGuest.of(own) as guest:
        lent = await guest.open(model="coder")
        shell = await guest.run("shell", input=words)
        another = await guest.run("ask another")
        borrowing = await guest.run("hold", session=lent)
        assert await asyncio.to_thread(soon, lambda: running(words), 10)
        await guest.under_way(another, 2)
        await guest.under_way(borrowing)
        own.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(own.process.wait, SERVER_SECONDS) == 0
    assert left_of(own) == running(words) == []
    assert "Traceback" not in own.log, own.log
    own.start()
    async with TaskGuest.of(own) as guest:
        for run in (shell, another):
            assert (await guest.over(run))["state"] == "succeeded"
        view = await guest.over(borrowing)
        assert view["state"] == "failed"
        assert view["reason"].startswith("The borrowed session crashed: ")
        view = await guest.show(lent)
        assert (view["state"], view["queue"]) == ("interrupted", [])
        await nothing_is_open(guest)
