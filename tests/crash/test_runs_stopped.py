"""Runs that are stopped, at every stage and within two seconds: nothing of them works on."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.guest import Told, kinds, only
from tests.contract.job_guest import JobGuest, par, ref, seq
from tests.crash.marks import bearing, left_of, running, soon
from tests.portal import Portal
from tests.service.errands import entry, task
from tests.trials import sampled

pytestmark = [pytest.mark.anyio, pytest.mark.timed]

SCRIPT = Path(__file__).with_name("tasks.yaml").read_text(encoding="utf-8")
STOP_SECONDS = 2
SERVER_SECONDS = 5
STOPPED = ("canceled", "Stopped by owner.")
# `hold` is done when it is begun again after a crash; `always` never.
WORK, HOLD, ALWAYS = ref("work"), ref("hold"), ref("always")
TASKS: dict[str, Any] = {
    "work": task("Work."),
    "hold": task("HOLD. Work."),
    "always": task("HOLD ALWAYS."),
    "shell": task("Run: $user-input"),
}
JOBS: dict[str, Any] = {
    "work": WORK,
    "hold": seq(WORK, HOLD, WORK),
    "always": ALWAYS,
    "shell": ref("shell"),
    "four": par(ALWAYS, seq(ALWAYS, WORK), seq(par(ALWAYS, ALWAYS), WORK)),
}
ENTRY = entry(TASKS, jobs={name: {"work": work} for name, work in JOBS.items()})


def portal_in(folder: Path) -> Portal:
    fixtures = str(folder / "fixtures")
    options = ("--permissions", "approve-all", "--test", "--test-folder", fixtures)
    portal = Portal(folder, (*options, "--max-tasks", "4"), SCRIPT)
    portal.start()
    asyncio.run(install(portal))
    return portal


async def install(portal: Portal) -> None:
    async with JobGuest.of(portal) as guest:
        await guest.install(ENTRY)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """For those who stop runs only."""
    portal = portal_in(tmp_path_factory.mktemp("stopped"))
    yield portal
    portal.stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Portal]:
    """For those who kill the server."""
    portal = portal_in(tmp_path)
    yield portal
    portal.stop()


@pytest.fixture
async def guest(shared: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(shared) as guest:
        yield guest


async def begun(guest: JobGuest, job: str, **asked: Any) -> str:
    return (await guest.run(job, **asked))["id"]


async def all_of(guest: JobGuest, run: str) -> dict[str, Told]:
    """The run, its tasks and their sessions, as they are."""
    view = await guest.show_run(run)
    tasks = [await guest.task_run(work["task_run"]) for work in view["works"]]
    sessions = await guest.sessions_of(*(one["id"] for one in tasks))
    return {one["id"]: one for one in (view, *tasks, *sessions)}


async def nothing_works(guest: JobGuest, run: str) -> dict[str, Told]:
    """Nothing of it is open, nothing runs for it, and nothing is said any more."""
    found = await all_of(guest, run)
    for name, one in found.items():
        assert one["state"] not in ("waiting", "running", "opening", "idle", "working"), one
        assert bearing("COPILOT_AGENT_SESSION_ID", name) == []
    assert not {told["who"] for told in await guest.open_sessions()} & {f"task {x}" for x in found}
    assert found[run]["ending"] is None
    assert kinds(await guest.run_events(run)).count("run.ended") == 1
    return found


async def stop(guest: JobGuest, run: str) -> dict[str, Told]:
    """In time; and when the answer is there, so is the end of all that it opened."""
    began = time.monotonic()
    view = await guest.do_run(run, "stop")
    assert time.monotonic() - began < STOP_SECONDS
    found = await nothing_works(guest, run)
    assert view.items() <= found[run].items()
    heard = await guest.hear_job(run)
    assert heard[-1] == {"error": "JobsClosed"}
    if view["state"] == "canceled":
        ends = {"jobSucceeded", "jobFailed", "jobError"}
        assert not ends & {name for one in heard for name in (one.get("callback"), *one)}
    return found


async def canceled(guest: JobGuest, run: str) -> None:
    found = await stop(guest, run)
    assert (found[run]["state"], found[run]["reason"]) == STOPPED
    await asyncio.sleep(0.3)
    assert await all_of(guest, run) == found, "nothing of it is said later"


async def restarted(portal: Portal) -> None:
    portal.kill()
    await asyncio.to_thread(portal.start)
    await install(portal)


# By a person.


async def test_a_stop_before_anything_began(guest: JobGuest) -> None:
    for number in range(6):
        run = await begun(guest, "hold")
        await asyncio.sleep(number * 0.03)
        await canceled(guest, run)


async def test_a_stop_while_a_session_opens(guest: JobGuest) -> None:
    """The runtime is new each time: its start gives the stop something to cut short."""
    for number in range(5):
        if pid := (await guest.http.get("/api/v1/status")).json()["runtime"]["pid"]:
            os.kill(pid, signal.SIGKILL)
        run = await begun(guest, "always")
        await asyncio.sleep(number * 0.12)
        await canceled(guest, run)


async def test_a_stop_in_mid_stream(guest: JobGuest) -> None:
    run = await begun(guest, "always")
    [session] = await guest.at_work(run)
    await guest.take(session["id"], lambda frame: frame.kind == "message.started")
    await canceled(guest, run)


async def test_a_stop_while_a_shell_command_runs_ends_the_command(guest: JobGuest) -> None:
    attached, detached = (f"sleep {guest.portal.pid}.{number}" for number in (1, 2))
    both = f"sh -c 'setsid nohup {detached} >/dev/null 2>&1 & {attached}; true'"
    run = await begun(guest, "shell", input=both)
    assert await asyncio.to_thread(soon, lambda: running(attached) and running(detached), 10)
    await canceled(guest, run)
    assert running(attached) == running(detached) == []


async def test_a_stop_in_a_par_of_four_and_of_one_who_waits_behind_them(guest: JobGuest) -> None:
    four = await begun(guest, "four")
    await guest.at_work(four, 4)
    late = [await begun(guest, "work") for _ in range(2)]
    for run in late:
        await guest.until_run(run, lambda view: view["state"] == "waiting" and view["works"])
    await canceled(guest, late[0])
    await canceled(guest, four)
    assert (await guest.over(late[1]))["state"] == "succeeded"


async def test_a_stop_during_a_retry_after_a_crash(guest: JobGuest) -> None:
    for number in range(4):
        run = await begun(guest, "always")
        await guest.at_work(run)
        os.kill((await guest.http.get("/api/v1/status")).json()["runtime"]["pid"], signal.SIGKILL)
        await asyncio.sleep(number * 0.25)
        await canceled(guest, run)


async def test_two_who_stop_it_at_once_get_the_same_answer(guest: JobGuest) -> None:
    run = await begun(guest, "four")
    await guest.at_work(run, 2)
    async with asyncio.TaskGroup() as group:
        stops = [group.create_task(guest.do_run(run, "stop")) for _ in range(3)]
        seeds = [group.create_task(guest.seed(f"copilot/job/{run}/stop")) for _ in range(3)]
    views = [one.result() for one in stops]
    assert views[0] == views[1] == views[2] == await guest.do_run(run, "stop")
    for one in seeds:
        assert one.result() in ({"result": "Closed"}, {"error": "JobNotFound"})
    assert kinds(await guest.run_events(run)).count("run.ending") == 1
    await canceled(guest, run)


async def test_a_stop_at_once_with_its_own_end(guest: JobGuest) -> None:
    outcomes: set[str] = set()
    for number in range(12):
        run = await begun(guest, "work")
        # Not once it is seen at work: so short a task may be over before anybody looks.
        await asyncio.sleep(number * 0.02)
        view = (await stop(guest, run))[run]
        outcomes.add(view["state"])
        told = await guest.run_events(run)
        said = only("run.ending", told) + only("run.ended", told)
        assert {event["outcome"] for event in said} == {view["state"]}, (
            "the first has the last word"
        )
        assert kinds(told)[-1] == "run.ended"
    assert outcomes <= {"canceled", "succeeded"}


# With the server.


async def test_a_stop_while_a_new_server_takes_the_run_up(own: Portal) -> None:
    ended: dict[str, dict[str, Told]] = {}
    for seconds in (0, 0.1, 0.4, 0.8):
        async with JobGuest.of(own) as guest:
            run = await begun(guest, "four")
            await guest.at_work(run, 2)
        own.kill()
        await asyncio.to_thread(own.start)
        async with JobGuest.of(own) as guest:
            await asyncio.sleep(seconds)
            await canceled(guest, run)
            ended[run] = await all_of(guest, run)
        await install(own)
    await restarted(own)
    async with JobGuest.of(own) as guest:
        await asyncio.sleep(1)
        for run, before in ended.items():
            assert await all_of(guest, run) == before, "nothing brings it back"
        assert await guest.open_sessions() == []


async def test_a_kill_in_the_middle_of_a_stop_is_no_way_back(own: Portal) -> None:
    """A runtime that hangs makes the stop last: it has said that it ends, and has not."""
    async with JobGuest.of(own) as guest:
        run = await begun(guest, "four")
        await guest.at_work(run, 4)
        pid = (await guest.http.get("/api/v1/status")).json()["runtime"]["pid"]
        os.kill(pid, signal.SIGSTOP)
        stopping = asyncio.create_task(guest.http.post(f"/api/v1/runs/{run}/stop"))
        await guest.until_run(run, lambda view: view["ending"])
        assert kinds(await guest.run_events(run))[-1] == "run.ending"
        own.kill()
        with contextlib.suppress(httpx2.HTTPError):
            await stopping
    await asyncio.to_thread(own.start)
    async with JobGuest.of(own) as guest:
        view = await guest.over(run)
        assert (view["state"], view["reason"]) == STOPPED
        assert view["restarts"] == 0
        told = [one for one in kinds(await guest.run_events(run)) if one != "run.work.cut"]
        assert told[-2:] == ["run.ending", "run.ended"]
        before = await nothing_works(guest, run)
        await asyncio.sleep(1)
        assert await all_of(guest, run) == before
    await restarted(own)
    async with JobGuest.of(own) as guest:
        assert await all_of(guest, run) == before
    assert await asyncio.to_thread(soon, lambda: not left_of(own)), left_of(own)


@pytest.mark.parametrize("how", sampled(1, ["api/stop", "SIGTERM"]))
async def test_a_server_that_is_stopped_in_order_fails_no_run(own: Portal, how: str) -> None:
    async with JobGuest.of(own) as guest:
        runs = [await begun(guest, job) for job in ("hold", "hold", "always")]
        for run in runs[:2]:
            await guest.until_run(run, lambda view: view["works_succeeded"])
        for run in runs:
            await guest.at_work(run)
        began = time.monotonic()
        if how == "api/stop":
            assert await guest.seed("stop", method="GET") == {}
        else:
            own.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(own.process.wait, SERVER_SECONDS) == 0
        assert time.monotonic() - began < SERVER_SECONDS
    assert left_of(own) == []
    assert "Traceback" not in own.log, own.log
    await asyncio.to_thread(own.start)
    async with JobGuest.of(own) as guest:
        for run in runs[:2]:
            view = await guest.over(run)
            assert (view["state"], view["restarts"]) == ("succeeded", 1)
            assert [work["path"] for work in view["works"]] == ["0.0", "0.1", "0.2"]
            shown = await guest.task_run(view["works"][1]["task_run"])
            assert [one["outcome"] for one in shown["attempts"]] == ["crashed", "done"]
        await guest.at_work(runs[2])
        await canceled(guest, runs[2])


async def test_nothing_of_all_that_was_stopped_comes_back(shared: Portal) -> None:
    async def ended() -> dict[str, Told]:
        async with JobGuest.of(shared) as guest:
            answer = await guest.http.get("/api/v1/runs", params={"limit": 200})
            assert not {one["state"] for one in answer.json()["items"]} & {"waiting", "running"}
            return {one["id"]: one for one in answer.json()["items"]}

    before = await ended()
    assert before, "the tests above stopped some"
    await restarted(shared)
    await asyncio.sleep(1)
    assert await ended() == before
    async with JobGuest.of(shared) as guest:
        assert await guest.open_sessions() == []
