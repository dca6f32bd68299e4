"""Who waits for a place or for a person says so, once, and goes on when there is one."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.slots import Slots
from airboss.engine.task_place import TaskPlace
from airboss.harness.turn import CalledAway, Request
from airboss.log.log import EventLog
from airboss.model.ids import PromptId, TaskRunId
from tests.engine.crew import place_in, work_at_random
from tests.harness.desk import Desk
from tests.harness.states import state_in
from tests.harness.test_pending_items import shell
from tests.log.conftest import log_in

FREE = "a free place: 1 of 1 agents of jobs are at work"


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as running:
        yield running


async def said(log: EventLog, stream: str) -> list[str]:
    await log.last_view(stream)
    return [
        f"{one.event.kind} {getattr(one.event, 'reason', '')}".strip()
        for one in await log.after(stream, 0)
    ]


async def test_who_finds_a_free_place_says_nothing_and_gives_it_back(log: EventLog) -> None:
    slots = Slots(1)
    with (place := place_in(log, slots)):
        await place.end()
        assert slots.taken_count == 1
    assert slots.taken_count == 0
    assert await said(log, "run_1") == []


async def test_who_waits_says_for_what_until_there_is_a_place(log: EventLog) -> None:
    slots = Slots(1)
    with (first := place_in(log, slots, "1")), (second := place_in(log, slots, "2", is_lone=True)):
        await first.end()
        waiting = asyncio.ensure_future(second.end())
        await asyncio.sleep(0)
        assert second.waits_for == FREE
        first.begin("your answer")  # its agent asks somebody, and others work meanwhile
        await asyncio.wait_for(waiting, 5)
        assert slots.taken_count == 1
    assert await said(log, "run_1") == ["run.work.waiting your answer"]
    assert await said(log, "run_2") == [f"run.work.waiting {FREE}", "run.work.going"]
    # A task by itself has no page of its run: its own stream says so too.
    assert await said(log, "tsk_2") == [f"task.waiting {FREE}", "task.going"]


@pytest.mark.parametrize("count", [1, 2])
async def test_who_is_asked_again_while_the_answered_call_waits_takes_one_place_for_both(
    log: EventLog, count: int
) -> None:
    slots = Slots(count)
    place = place_in(log, slots)
    others = [place_in(log, slots, f"other{number}") for number in range(count)]
    desk = Desk(await state_in(log, TaskRunId("tsk_1")))
    with contextlib.ExitStack() as places:
        for one in (place, *others):
            places.enter_context(one)
        await place.end()
        desk.state.begin_turn(PromptId("pro_1"), Request(TaskRunId("tsk_1"), place))
        first = asyncio.create_task(desk.pending.decide(shell("rm x", "call_1")))
        await desk.asked()
        for one in others:  # who waited has all places
            await asyncio.wait_for(one.end(), 5)
        await desk.settle("allow-once")
        await until_says(place, "a free place")
        second = asyncio.create_task(desk.pending.decide(shell("rm y", "call_2")))
        await desk.asked()
        assert (await asyncio.wait_for(first, 5)).allowed, "as if both had been asked together"
        await desk.settle("allow-once")
        await until_says(place, "a free place")
        others[0].begin("your answer")
        assert (await asyncio.wait_for(second, 5)).allowed
        assert slots.taken_count == count
        assert place.waits_for is None
    assert slots.taken_count == 0


async def until_says(place: TaskPlace, words: str) -> None:
    async with asyncio.timeout(20):
        while not (place.waits_for or "").startswith(words):  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.005)


async def test_while_one_of_two_waits_the_run_says_that_and_no_place_is_taken(
    log: EventLog,
) -> None:
    slots = Slots(1)
    with (place := place_in(log, slots)):
        await place.end()
        place.begin("your first answer", "1")
        place.begin("your second answer", "2")
        await place.end("2")
        assert (place.waits_for, slots.taken_count) == ("your first answer", 0)
        place.begin("your third answer", "3")
        place.drop("3")
        assert place.waits_for == "your first answer"
        await place.end("1")
        assert (place.waits_for, slots.taken_count) == (None, 1)
    assert await said(log, "run_1") == [
        "run.work.waiting your first answer",
        "run.work.waiting your second answer",
        "run.work.waiting your first answer",
        "run.work.waiting your third answer",
        "run.work.waiting your first answer",
        "run.work.going",
    ]


async def test_a_question_that_is_taken_back_at_once_lets_nobody_pass_by_a_place(
    log: EventLog,
) -> None:
    slots = Slots(1)
    with (place := place_in(log, slots)), (other := place_in(log, slots, "2")):
        await other.end()
        place.begin("your answer", "1")
        waiting = asyncio.create_task(place.end("1"))
        await until_says(place, "a free place")
        place.begin("your answer", "2")
        place.drop("2")
        await until_says(place, "a free place")
        assert not waiting.done()
        other.begin("your answer")
        await asyncio.wait_for(waiting, 5)
        assert (place.waits_for, slots.keys) == (None, {"tsk_1"})


async def test_who_leaves_while_it_waits_for_a_place_gets_none_later(log: EventLog) -> None:
    slots = Slots(1)
    with (other := place_in(log, slots, "2")):
        await other.end()
        with (place := place_in(log, slots)):
            waiting = asyncio.create_task(place.end())
            await until_says(place, "a free place")
        await asyncio.wait_for(waiting, 5)
        await place.end()
    assert slots.taken_count == 0
    assert await said(log, "run_1") == [f"run.work.waiting {FREE}"]


async def test_whatever_agents_ask_at_once_no_place_is_lost_and_whoever_waits_goes_on(
    log: EventLog,
) -> None:
    for seed in range(60):
        await work_at_random(log, Slots(1 + seed % 3), seed)


async def test_what_was_said_before_is_not_said_again(log: EventLog) -> None:
    place = place_in(log, Slots(1))
    place.begin("your answer")
    place.begin("your answer")
    with place:
        await place.end()
        await place.end()
    assert await said(log, "run_1") == ["run.work.waiting your answer", "run.work.going"]


async def test_a_lent_session_needs_no_place(log: EventLog) -> None:
    with (place := place_in(log, None)):
        await place.end()
        place.begin("your answer")
        place.call_away()
    assert await said(log, "run_1") == ["run.work.waiting your answer"]


async def test_who_is_called_away_waits_no_longer(log: EventLog) -> None:
    slots = Slots(0)
    place = place_in(log, slots)
    waiting = asyncio.ensure_future(place.end())
    await asyncio.sleep(0)
    place.call_away()
    with pytest.raises(CalledAway):
        await waiting


async def test_who_asked_a_person_meanwhile_does_not_go_on_because_the_server_has_room(
    log: EventLog,
) -> None:
    with (place := place_in(log, Slots(1))):
        await place.end()
        place.busy("a runtime")
        place.busy(None)
        assert place.waits_for is None
        place.busy("a runtime")
        place.begin("your answer")
        place.busy(None)
        assert place.waits_for == "your answer"
        await place.end()
        assert place.waits_for is None
