"""Who waits for a place or for a person says so, once, and goes on when there is one."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.slots import CalledAway, Slots
from airboss.engine.task_place import TaskPlace
from airboss.log.log import EventLog
from airboss.model.ids import TaskRunId
from airboss.model.run_events import WorkStarted
from tests.log.conftest import log_in

FREE = "a free place: 1 of 1 agents of jobs are at work"


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as running:
        yield running


def place_in(
    log: EventLog, slots: Slots | None, name: str = "1", *, is_lone: bool = False
) -> TaskPlace:
    task_run = TaskRunId(f"tsk_{name}")
    started = WorkStarted(work=0, path="0", task="it", task_run=task_run)
    own = log.new_writer(task_run) if is_lone else None
    return TaskPlace(started, log.new_writer(f"run_{name}"), slots, own)


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
