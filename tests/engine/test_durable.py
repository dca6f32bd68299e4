"""Runs that survive: started once, stopped for good, left open when the server stops, taken up."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from airboss.engine.durable import Engine
from airboss.engine.homes import EngineHome
from airboss.engine.task import Verdict
from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.document import Work
from airboss.errors import Conflict, StoreUnavailable
from airboss.model.run_events import RunEnding
from tests.engine.homes import MakeEngine, execute_in, rows_of
from tests.engine.workshop import Workshop, endings, repeated, until

STOPPED = RunEnding(outcome="canceled", reason="Stopped by me.", who="me")
GOOD, BAD, SLOW, THIRD, MUTE = (ref(name) for name in ("good", "bad", "slow", "third", "mute"))
EVERYTHING = seq(
    GOOD,
    par(
        GOOD, seq(GOOD, alt(BAD, true=BAD, false=par(GOOD, GOOD))), loop(GOOD, after=(False, THIRD))
    ),
    ref("last"),
)


@pytest.fixture
def engine(make_engine: MakeEngine) -> Engine:
    return make_engine()


async def run(engine: Engine, shop: Workshop, work: Work, name: str = "run_1") -> list[str]:
    """The tasks that ended, by their paths, and how the run ended."""
    shop.works[name] = work
    await engine.start(name)
    await asyncio.wait_for(shop.end_of(name).wait(), 20)
    return endings(shop, name)


def rows(home: EngineHome, asked: str) -> list[Any]:
    return [tuple(row) for row in rows_of(home, asked)]


def statuses(home: EngineHome) -> set[str]:
    return {status for (status,) in rows(home, "SELECT status FROM workflow_status")}


async def nothing_more(shop: Workshop, name: str = "run_1") -> None:
    before = shop.diary.read(name)
    await asyncio.sleep(0.15)
    assert shop.diary.read(name) == before


async def test_a_task_is_done_act_by_act(engine: Engine, shop: Workshop) -> None:
    assert await run(engine, shop, GOOD) == ["0 succeeded", "succeeded"]
    assert [(path, what) for path, what, _ in shop.diary.read("run_1")] == [
        ("0", "begin"),
        ("0", "open 1"),
        ("0", "open 1 done"),
        ("0", "tell 2"),
        ("0", "tell 3"),
        ("0", "put 4"),
        ("0", "put 4 done"),
        ("0", "tell 6"),
        ("0", "close 7"),
        ("0", "close 7 done"),
        ("0", "tell 8"),
        ("0", "end"),
        ("", "end"),
    ]


async def test_a_seq_fails_at_the_first_that_fails(engine: Engine, shop: Workshop) -> None:
    ended = await run(engine, shop, seq(GOOD, BAD, GOOD))
    assert ended == ["0.0 succeeded", "0.1 failed", "failed"]


async def test_every_kind_of_work_runs_in_one_job(engine: Engine, shop: Workshop) -> None:
    ended = await run(engine, shop, EVERYTHING)
    assert ended[0] == "0.0 succeeded"
    assert ended[-2:] == ["0.2 succeeded", "succeeded"]
    assert sorted(ended[1:-2]) == [
        "0.1.0 succeeded",
        "0.1.1.0 succeeded",
        "0.1.1.1.cond failed",
        "0.1.1.1.false.0 succeeded",
        "0.1.1.1.false.1 succeeded",
        "0.1.2.it1 succeeded",
        "0.1.2.it1.post failed",
        "0.1.2.it2 succeeded",
        "0.1.2.it2.post failed",
        "0.1.2.it3 succeeded",
        "0.1.2.it3.post succeeded",
    ]
    begun = {path: said for path, what, said in shop.diary.read("run_1") if what == "begin"}
    assert begun["0.1.1.0"] == "good after good"
    assert begun["0.1.2.it2"] == "good after third"
    assert begun["0.2"] == "last after good, third"


async def test_the_engine_keeps_one_workflow_of_a_run_and_no_step_of_it(
    engine: Engine, shop: Workshop, engine_home: EngineHome
) -> None:
    await run(engine, shop, EVERYTHING)
    await engine.close()
    assert rows(engine_home, "SELECT workflow_uuid, name FROM workflow_status") == [
        ("run_1", "run")
    ]
    assert rows(engine_home, "SELECT * FROM operation_outputs") == []


async def test_branches_work_at_the_same_time(engine: Engine, shop: Workshop) -> None:
    shop.slow_seconds = 1.0
    shop.works["run_1"] = par(SLOW, seq(SLOW, GOOD), SLOW, alt(SLOW))
    await engine.start("run_1")
    places = ("0.0", "0.1.0", "0.2", "0.3.cond")
    await until(shop, *((place, "put 4") for place in places))
    assert endings(shop) == []
    await asyncio.wait_for(shop.end_of("run_1").wait(), 10)
    assert endings(shop)[-1] == "succeeded"


async def test_a_run_that_is_started_twice_runs_once(engine: Engine, shop: Workshop) -> None:
    shop.works["run_1"] = seq(GOOD, GOOD)
    await asyncio.gather(engine.start("run_1"), engine.start("run_1"))  # noqa: TID251
    await asyncio.wait_for(shop.end_of("run_1").wait(), 10)
    await engine.start("run_1")
    await nothing_more(shop)
    assert repeated(shop.diary) == []


async def test_a_run_is_known_from_its_start_on(engine: Engine, shop: Workshop) -> None:
    shop.works["run_1"] = SLOW
    assert not await engine.known("run_1")
    await engine.start("run_1")
    assert await engine.known("run_1")
    assert not await engine.known("run_2")


async def test_runs_go_on_beside_each_other(engine: Engine, shop: Workshop) -> None:
    shop.works |= {f"run_{number}": EVERYTHING for number in range(5)}
    for name in shop.works:
        await engine.start(name)
    for name in shop.works:
        await asyncio.wait_for(shop.end_of(name).wait(), 30)
        assert len(endings(shop, name)) == 14


@pytest.mark.parametrize(
    ("work", "working"),
    [
        (SLOW, ("0", "put 4")),
        (seq(GOOD, SLOW), ("0.1", "put 4")),
        (par(SLOW, SLOW, seq(GOOD, SLOW)), ("0.2.1", "put 4")),
        (loop(GOOD, after=(True, par(GOOD, alt(SLOW)))), ("0.it1.post.1.cond", "put 4")),
        (seq(*[GOOD] * 50), ("0.0", "begin")),
        (seq(*[GOOD] * 50), ("0.1", "end")),
        (par(*[SLOW] * 20), ("0.3", "open 1")),
    ],
    ids=["alone", "second", "branches", "deep", "beginning", "between", "many"],
)
async def test_a_stopped_run_is_gone_within_two_seconds(
    engine: Engine,
    make_engine: MakeEngine,
    shop: Workshop,
    engine_home: EngineHome,
    work: Work,
    working: tuple[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    shop.works["run_1"] = work
    shop.cleanup_seconds = 0.2
    await engine.start("run_1")
    await until(shop, working)
    begun = time.monotonic()
    await engine.stop("run_1")
    assert time.monotonic() - begun < 2
    assert all_are_cut(shop)
    await nothing_more(shop)
    await engine.close()
    assert statuses(engine_home) <= {"CANCELLED", "SUCCESS"}
    await make_engine().recover()
    await nothing_more(shop)
    assert caplog.messages == []


def all_are_cut(shop: Workshop) -> bool:
    """Every act that was begun was done, or cleaned up behind itself."""
    lines = [(path, what) for path, what, _ in shop.diary.read("run_1")]
    begun = {(path, what) for path, what in lines if what.split()[0] in ("open", "put", "close")}
    acts = {(path, what) for path, what in begun if len(what.split()) == 2}
    return all({(path, f"{act} done"), (path, f"{act} cut")} & begun for path, act in acts)


async def test_a_run_is_stopped_right_after_its_start(engine: Engine, shop: Workshop) -> None:
    shop.works["run_1"] = seq(GOOD, SLOW)
    await engine.start("run_1")
    await engine.stop("run_1")
    await nothing_more(shop)
    assert "succeeded" not in endings(shop)


async def test_a_run_is_stopped_while_it_starts(
    engine: Engine, make_engine: MakeEngine, shop: Workshop
) -> None:
    shop.works["run_1"] = seq(SLOW)
    async with asyncio.TaskGroup() as both:
        both.create_task(engine.start("run_1"))
        await asyncio.sleep(0)
        both.create_task(engine.stop("run_1"))
    await nothing_more(shop)
    await engine.close()
    await make_engine().recover()
    await nothing_more(shop)


async def test_a_start_or_a_stop_is_ended_even_when_nobody_waits_for_it(
    engine: Engine, shop: Workshop
) -> None:
    shop.works["run_1"] = SLOW
    await give_up_waiting(engine.start("run_1"))
    await until(shop, ("0", "put 4"))
    await give_up_waiting(engine.stop("run_1"))
    await until(shop, ("0", "put 4 cut"))


async def give_up_waiting(asked: Coroutine[Any, Any, None]) -> None:
    waiting = asyncio.get_running_loop().create_task(asked)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_stopping_twice_or_too_late_or_too_early_is_nothing(
    engine: Engine, shop: Workshop
) -> None:
    await engine.stop("run_0")
    assert await run(engine, shop, GOOD) == ["0 succeeded", "succeeded"]
    await engine.stop("run_1")
    await engine.stop("run_1")
    shop.works["run_2"] = SLOW
    await engine.start("run_2")
    await until(shop, ("0", "put 4"), name="run_2")
    async with asyncio.TaskGroup() as both:
        both.create_task(engine.stop("run_2"))
        both.create_task(engine.stop("run_2"))
    await nothing_more(shop, "run_2")


async def test_a_stop_leaves_other_runs_alone(engine: Engine, shop: Workshop) -> None:
    shop.slow_seconds = 0.5
    shop.works |= {"run_1": par(SLOW, SLOW), "run_2": par(SLOW, SLOW)}
    for name in shop.works:
        await engine.start(name)
    await until(shop, ("0.0", "put 4"), ("0.1", "put 4"))
    await engine.stop("run_1")
    await asyncio.wait_for(shop.end_of("run_2").wait(), 10)
    assert endings(shop, "run_2")[-1] == "succeeded"
    assert endings(shop, "run_1") == []


async def test_a_run_is_stopped_that_the_last_server_left_open(
    engine: Engine, make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome
) -> None:
    shop.works["run_1"] = par(SLOW, seq(GOOD, SLOW))
    await engine.start("run_1")
    await until(shop, ("0.0", "put 4"), ("0.1.1", "put 4"))
    await engine.close()
    assert statuses(engine_home) == {"PENDING"}
    after = make_engine()
    begun = time.monotonic()
    await after.stop("run_1")
    assert time.monotonic() - begun < 2
    await nothing_more(shop)
    await after.close()
    assert statuses(engine_home) == {"CANCELLED"}


@pytest.mark.parametrize("times", [1, 4])
async def test_a_closed_engine_leaves_its_runs_to_the_next(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome, times: int
) -> None:
    shop.seconds = 0.05
    shop.works["run_1"] = EVERYTHING
    engine = make_engine()
    await engine.start("run_1")
    for number in range(times):
        await asyncio.sleep(0.1 + 0.05 * number)
        await engine.close()
        assert not shop.end_of("run_1").is_set()
        assert all_are_cut(shop)
        await nothing_more(shop)
        assert statuses(engine_home) <= {"PENDING", "ENQUEUED", "SUCCESS"}
        engine = make_engine()
        await engine.recover()
    await asyncio.wait_for(shop.end_of("run_1").wait(), 20)
    assert len(endings(shop)) == 14
    assert endings(shop)[-1] == "succeeded"
    assert repeated(shop.diary) == []


@pytest.mark.timed
async def test_a_run_is_taken_up_at_once(make_engine: MakeEngine, shop: Workshop) -> None:
    shop.slow_seconds = 0.4
    shop.works["run_1"] = seq(GOOD, par(SLOW, seq(SLOW, SLOW)), GOOD)
    engine = make_engine()
    await engine.start("run_1")
    await until(shop, ("0.1.0", "put 4"), ("0.1.1.0", "put 4"))
    await engine.close()
    begun = time.monotonic()
    await make_engine().recover()
    await asyncio.wait_for(shop.end_of("run_1").wait(), 10)
    # Two slow tasks in order. Were ends looked for once a second, each of the three levels would
    # wait for that.
    assert time.monotonic() - begun < 2.6
    assert repeated(shop.diary) == []


async def test_a_run_that_was_cut_off_a_thousand_times_is_not_given_up(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome
) -> None:
    shop.works["run_1"] = SLOW
    engine = make_engine()
    await engine.start("run_1")
    await until(shop, ("0", "put 4"))
    await engine.close()
    execute_in(engine_home, "UPDATE workflow_status SET recovery_attempts = 1000")
    shop.slow_seconds = 0
    await make_engine().recover()
    await asyncio.wait_for(shop.end_of("run_1").wait(), 10)
    assert endings(shop) == ["0 succeeded", "succeeded"]


async def test_an_exception_of_ours_fails_the_run_and_stops_its_siblings(
    engine: Engine, make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome
) -> None:
    shop.breaks = frozenset(["broken"])
    shop.works |= {"run_1": par(SLOW, SLOW, seq(GOOD, ref("broken"), GOOD)), "run_2": SLOW}
    await engine.start("run_2")
    shop.fire.clear()
    await engine.start("run_1")
    await until(shop, ("0.0", "put 4"), ("0.1", "put 4"))
    shop.fire.set()
    await asyncio.wait_for(shop.end_of("run_1").wait(), 10)
    await until(shop, ("0.0", "put 4 cut"), ("0.1", "put 4 cut"))
    await nothing_more(shop)
    lines = shop.diary.read("run_1")
    assert ("", "crash", "0.2.1: The workshop burns.") in lines
    assert endings(shop) == ["0.2.0 succeeded"]
    await engine.close()
    kept = rows(engine_home, "SELECT workflow_uuid, status FROM workflow_status")
    assert sorted(kept) == [("run_1", "CANCELLED"), ("run_2", "PENDING")]
    await make_engine().recover()
    await nothing_more(shop)


@pytest.mark.parametrize(
    ("work", "path"),
    [
        (alt(MUTE, true=GOOD, false=GOOD), "0.cond"),
        (loop(GOOD, before=(False, MUTE)), "0.it1.pre"),
        (par(SLOW, alt(seq(GOOD, MUTE), false=GOOD)), "0.1.cond.1"),
        (alt(par(SLOW, MUTE), false=GOOD), "0.cond.1"),
    ],
)
async def test_a_condition_that_could_not_be_asked_ends_the_run(
    engine: Engine, shop: Workshop, work: Work, path: str
) -> None:
    ended = await run(engine, shop, work)
    why = "The condition mute could not be checked: Nobody is there."
    assert ("", "crash", f"{path}: {why}") in shop.diary.read("run_1")
    assert [line for line in ended if "good" not in line][-1] == f"{path} failed"
    await nothing_more(shop)
    begun = {place for place, what, _ in shop.diary.read("run_1") if what == "begin"}
    assert not [place for place in begun if place.endswith((".true", ".false"))]


async def test_elsewhere_what_could_not_be_asked_has_failed(engine: Engine, shop: Workshop) -> None:
    assert await run(engine, shop, seq(MUTE, GOOD)) == ["0.0 failed", "failed"]


async def test_a_condition_that_could_not_be_asked_is_told_by_the_next_server(
    make_engine: MakeEngine, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ended behind the task's end, and before the run's."""

    async def wait_for_ever(run: str, path: str, verdict: Verdict) -> None:
        await Workshop.end_task(shop, run, path, verdict)
        await asyncio.Event().wait()

    engine = make_engine()
    with monkeypatch.context() as patch:
        patch.setattr(shop, "end_task", wait_for_ever)
        shop.works["run_1"] = alt(MUTE, false=GOOD)
        await engine.start("run_1")
        await until(shop, ("0.cond", "end"))
        await engine.close()
    await make_engine().recover()
    await asyncio.wait_for(shop.end_of("run_1").wait(), 20)
    assert [what for _, what, _ in shop.diary.read("run_1")].count("crash") == 1


async def test_of_several_exceptions_the_first_is_told(engine: Engine, shop: Workshop) -> None:
    shop.breaks = frozenset(["broken"])
    await run(engine, shop, par(*[ref("broken")] * 5))
    await engine.stop("run_1")
    await nothing_more(shop)
    assert [what for _, what, _ in shop.diary.read("run_1")].count("crash") == 1


async def test_a_crash_that_cannot_be_told_is_logged_and_stops_the_run(
    engine: Engine,
    shop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def refuse(*_: object) -> None:
        raise OSError("No space left.")

    monkeypatch.setattr(shop, "crash_run", refuse)
    shop.breaks = frozenset(["broken"])
    shop.works["run_1"] = par(SLOW, ref("broken"))
    await engine.start("run_1")
    await until(shop, ("0.0", "put 4 cut"))
    await nothing_more(shop)
    assert caplog.messages == ["The crash of run_1 at 0.1 could not be told."]


async def test_a_run_is_ended_on_disk_first_then_in_the_engine_then_with_its_tasks(
    engine: Engine, shop: Workshop
) -> None:
    shop.works["run_1"] = par(SLOW, SLOW)
    await engine.start("run_1")
    await until(shop, ("0.0", "put 4"), ("0.1", "put 4"))
    await engine.end("run_1", STOPPED)
    await engine.end("run_1", STOPPED)
    lines = [what for _, what, _ in shop.diary.read("run_1")]
    assert lines[-4:] == ["ending", "put 4 cut", "put 4 cut", "dismissed"]
    assert not await engine.is_open("run_1")


async def test_what_the_disk_refuses_is_ended_as_soon_as_it_does_not(
    engine: Engine, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = iter([StoreUnavailable("The disk is full.")] * 2)

    async def refuse(run: str, ending: RunEnding) -> None:
        if refused := next(refusals, None):
            raise refused
        await Workshop.dismiss(shop, run, ending)

    monkeypatch.setattr(shop, "dismiss", refuse)
    shop.works["run_1"] = SLOW
    await engine.start("run_1")
    await until(shop, ("0", "put 4"))
    await engine.end_surely("run_1", STOPPED)
    assert shop.diary.find("run_1", "", "dismissed") == "Stopped by me."


async def test_a_run_that_is_over_is_let_go(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome
) -> None:
    """As after a crash between the end that was told and the mark of the engine."""
    shop.works["run_1"] = par(SLOW, seq(GOOD, SLOW))
    engine = make_engine()
    await engine.start("run_1")
    await until(shop, ("0.0", "put 4"), ("0.1.1", "put 4"))
    await engine.close()
    shop.over.add("run_1")
    engine = make_engine()
    await engine.recover()
    end = time.monotonic() + 20
    while "PENDING" in statuses(engine_home) or "ENQUEUED" in statuses(engine_home):
        assert time.monotonic() < end
        await asyncio.sleep(0.05)
    assert "crash" not in [what for _, what, _ in shop.diary.read("run_1")]


async def test_work_that_cannot_be_found_fails_the_run(engine: Engine, shop: Workshop) -> None:
    await engine.start("run_1")
    await asyncio.wait_for(shop.end_of("run_1").wait(), 10)
    assert shop.diary.read("run_1")[0] == ("", "crash", "0: 'run_1'")


async def test_a_closed_engine_starts_nothing(engine: Engine) -> None:
    await engine.close()
    await engine.close()
    with pytest.raises(Conflict, match=r"The server is stopping\."):
        await engine.start("run_1")


async def test_threads_work_after_the_engine_was_closed(engine: Engine, shop: Workshop) -> None:
    await run(engine, shop, GOOD)
    await engine.close()
    assert await asyncio.to_thread(lambda: 1) == 1


@pytest.mark.parametrize(("look", "interval"), [(60, 0.05), (0.01, 1.0)])
async def test_open_runs_are_looked_for_often_at_first_and_then_seldom(
    engine: Engine,
    shop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    look: float,
    interval: float,
) -> None:
    from dbos._dbos import _get_or_create_dbos_registry  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr("airboss.engine.durable._LOOK_SECONDS", look)
    await run(engine, shop, seq(GOOD, GOOD))
    [queue] = _get_or_create_dbos_registry().internal_queues()
    async with asyncio.timeout(10):
        while queue.polling_interval_sec != interval:  # noqa: ASYNC110 - DBOS has no event for it
            await asyncio.sleep(0.01)


def test_dbos_is_not_loaded_without_a_run(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from airboss.engine.durable import Engine
from airboss.engine.local_file import LocalFile

async def main():
    engine = Engine(LocalFile(Path({str(tmp_path)!r}) / "engine.sqlite"), None)
    await engine.recover()
    assert not await engine.known("run_1")
    await engine.stop("run_1")
    await engine.close()

asyncio.run(main())
print("dbos" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"False\n"
