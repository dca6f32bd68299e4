"""Runs whose server or runtime gets `kill -9`: at moments that were chosen, and at some by chance.
`make chaos` has many more of the latter."""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest

from airboss.engine.local_file import FILE
from tests.crash.chaos import Target, Trial, make_trial, run_trial
from tests.crash.chaos_checks import LATE_MS
from tests.crash.chaos_tree import Tree
from tests.crash.marks import bearing, owner_of, soon
from tests.portal import Portal
from tests.trials import sampled, share

pytestmark = pytest.mark.timeout(120)

Make: TypeAlias = Callable[[Path, tuple[str, ...], str], Portal]
Begin: TypeAlias = Callable[..., Trial]


@pytest.fixture
def make() -> Make:
    def make(folder: Path, options: tuple[str, ...], script: str) -> Portal:
        return Portal(folder, options, script)

    return make


@pytest.fixture
async def begin(make: Make, tmp_path: Path) -> AsyncGenerator[Begin]:
    """A trial of one task of each of these kinds, in order or at once, with one place."""
    begun: list[Trial] = []

    def begin(*kinds: str, at_once: bool = False) -> Trial:
        tree = Tree.of(*kinds, at_once=at_once)
        trial = make_trial(tmp_path / "portal", tree, make)
        begun.append(trial)
        return trial

    yield begin
    for trial in begun:
        await trial.watch.close()
        await asyncio.to_thread(trial.portal.stop)


def attempts(trial: Trial) -> list[str]:
    """`t0 prompt 1 done` for each mission that ended, in the order of the tasks."""
    told: list[str] = []
    for stream in trial.watch.of("task-runs"):
        task = stream.seen[0]["event"]["task"]
        for event in (one["event"] for one in stream.seen):
            if event["kind"] == "task.mission.ended":
                mission = event["mission"]
                outcome = "restart" if event["is_restart"] else event["outcome"]
                told.append(f"{task} {mission['kind']} {mission['attempt']} {outcome}")
    return told


def ticks_too_late(trial: Trial) -> list[float]:
    """By how many ms commands went on behind the ends of their attempts."""
    ends: dict[str, int] = {}
    for stream in trial.watch.of("task-runs"):
        for told in stream.seen:
            if told["event"]["kind"] == "task.mission.ended":
                ends[told["event"]["session"]] = told["at"]
    ticks = (trial.portal.work / "ticks.txt").read_text("utf-8").splitlines()
    late = [
        float(seconds) * 1000 - ends[session]
        for session, seconds in (tick.split() for tick in ticks)
    ]
    return [ms for ms in late if ms > LATE_MS]


@pytest.mark.parametrize("seed", [1])
async def test_a_random_job_comes_to_what_it_comes_to_undisturbed(
    make: Make, tmp_path: Path, seed: int
) -> None:
    trial = await run_trial(tmp_path / "portal", seed, make, 3)
    assert trial.findings == []


async def test_a_run_that_was_accepted_and_not_begun_is_begun_by_the_next_server(
    begin: Begin,
) -> None:
    trial = begin("plain")
    await trial.start()
    await trial.accept()
    await trial.kill("server")
    assert await trial.conclude() == []


@pytest.mark.trial
async def test_a_wish_that_was_cut_off_and_is_said_again_is_one_run(begin: Begin) -> None:
    trial = begin("plain")
    await trial.start()
    for delay in (0.01, 0.0, 0.03)[: share(2, 3)]:
        asked_for = asyncio.create_task(trial.accept())
        await asyncio.sleep(delay)
        await trial.kill("server")
        with contextlib.suppress(httpx2.HTTPError):
            await asked_for
    await trial.accept()
    answer = await trial.watch.client.get("/api/v1/runs")
    assert [view["id"] for view in answer.json()["items"]] == [trial.run]
    assert await trial.conclude() == []


@pytest.mark.trial
@pytest.mark.parametrize("what", sampled(1, ["server", "both"]))
async def test_a_session_that_was_opening_is_nobodys_and_another_one_is_opened(
    begin: Begin, what: Target
) -> None:
    trial = begin("plain", "tool")
    await trial.start()
    await trial.accept()
    for _ in range(share(2, 3)):
        assert await trial.watch.heard("run.work.started")
        await asyncio.sleep(0.05)
        await trial.kill(what)
    assert await trial.conclude() == []


async def test_a_session_that_the_runtime_forgot_costs_no_try_and_what_waited_goes_on(
    begin: Begin,
) -> None:
    """There is one place for two, and then for both."""
    trial = begin("plain", "plain", at_once=True)
    await trial.start()
    await trial.accept()
    assert await trial.watch.heard("task.session.started", 2)
    assert await trial.watch.heard("run.work.waiting")
    await asyncio.to_thread(trial.portal.kill)
    # While it lives it writes its sessions down, and it outlives the server by a moment.
    assert soon(lambda: bearing("AIRBOSS_OWNER", owner_of(trial.portal)) == [])
    shutil.rmtree(trial.portal.data / "copilot-home" / "session-state")
    *options, _ = trial.portal.options
    trial.portal.options = (*options, "2")
    await trial.start()
    assert await trial.conclude() == []
    told = attempts(trial)
    assert [one for one in told if one.endswith("crashed")] == []
    # One of the two was at work, whichever came first; the other one had nothing to lose.
    assert sorted(one.split(" ", 1)[1] for one in told) == [
        "prompt 1 done",
        "prompt 1 restart",
        "prompt 2 done",
    ]


@pytest.mark.parametrize("what", sampled(2, ["server", "runtime", "both"]))
async def test_a_turn_that_was_cut_off_is_done_again_and_its_command_is_gone(
    begin: Begin, what: Target
) -> None:
    trial = begin("plain", "plain")
    await trial.start()
    await trial.accept()
    assert await trial.watch.heard("tool.started")
    await asyncio.sleep(0.1)
    await trial.kill(what)
    assert await trial.conclude() == []
    first, *rest = attempts(trial)
    assert first in ("t0 prompt 1 restart", "t0 prompt 1 crashed")
    assert rest == ["t0 prompt 2 done", "t1 prompt 1 done"]
    assert ticks_too_late(trial) == []


async def test_between_two_missions_the_session_goes_on_with_its_history(begin: Begin) -> None:
    trial = begin("checked")
    await trial.start()
    await trial.accept()
    assert await trial.watch.heard("task.mission.ended")
    await trial.kill("server")
    assert await trial.conclude() == []
    told = attempts(trial)
    assert told[0] == "t0 availability 1 done"
    assert told[-1] in ("t0 prompt 1 done", "t0 prompt 2 done")


async def test_a_kill_behind_a_missions_end_does_not_repeat_it(begin: Begin) -> None:
    trial = begin("plain", "tool", "asked")
    await trial.start()
    await trial.accept()
    for number in range(1, 4):
        assert await trial.watch.heard("task.mission.ended", number)
        await trial.kill("server")
    assert await trial.conclude() == []
    done = [told for told in attempts(trial) if told.endswith("done")]
    assert [told.rpartition(" ")[0][:-2] for told in done] == [
        "t0 prompt",
        "t1 prompt",
        "t2 prompt",
        "t2 criteria",
    ]


@pytest.mark.parametrize("delay", sampled(1, [0.05, 0.0, 0.3]))
async def test_a_run_that_was_being_stopped_is_stopped_by_the_next_server(
    begin: Begin, delay: float
) -> None:
    trial = begin("plain", "plain")
    await trial.start()
    await trial.accept()
    assert await trial.watch.heard("tool.started")
    stop = asyncio.create_task(trial.watch.client.post(f"/api/v1/runs/{trial.run}/stop"))
    assert await trial.watch.heard("run.ending")
    await asyncio.sleep(delay)
    await trial.kill("server")
    with contextlib.suppress(httpx2.HTTPError):
        await stop
    assert await trial.conclude("canceled") == []


def read_engine(trial: Trial) -> bytes:
    with contextlib.closing(sqlite3.connect(trial.portal.data / FILE)) as file:
        return file.serialize()


async def lose_power(trial: Trial, left: bytes) -> None:
    """The server ends, and of the engine's file only this is left. Its commits wait for no disk;
    those of the log do."""
    await asyncio.to_thread(trial.portal.kill)
    for end in ("-wal", "-shm"):
        (trial.portal.data / f"{FILE}{end}").unlink(missing_ok=True)
    (trial.portal.data / FILE).write_bytes(left)
    await trial.start()


async def test_places_that_a_loss_of_power_took_are_walked_again_and_nothing_is_done_again(
    begin: Begin,
) -> None:
    trial = begin("plain", "tool", "plain")
    await trial.start()
    await trial.accept()
    assert await trial.watch.heard("run.work.started")
    left = read_engine(trial)
    assert await trial.watch.heard("run.work.stopped", 2)
    await lose_power(trial, left)
    assert await trial.conclude() == []
    done = [told for told in attempts(trial) if told.endswith("done")]
    assert [told.partition(" ")[0] for told in done] == ["t0", "t1", "t2"]


async def test_a_stop_that_a_loss_of_power_took_from_the_engine_holds(begin: Begin) -> None:
    trial = begin("plain", "plain")
    await trial.start()
    await trial.accept()
    assert await trial.watch.heard("tool.started")
    left = read_engine(trial)
    stop = asyncio.create_task(trial.watch.client.post(f"/api/v1/runs/{trial.run}/stop"))
    assert await trial.watch.heard("run.ending")
    await lose_power(trial, left)
    with contextlib.suppress(httpx2.HTTPError):
        await stop
    assert await trial.conclude("canceled") == []
