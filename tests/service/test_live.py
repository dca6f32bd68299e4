"""`live` on a real log: what is offered, given, kept and told at the end."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from airboss.http.callbacks import callback_of
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import (
    Event,
    PromptAccepted,
    SessionClosed,
    SessionInterrupted,
    SessionOpened,
    SessionReady,
    SessionResumed,
    TurnEnded,
    TurnStarted,
)
from airboss.model.ids import PromptId, TaskRunId, TurnId
from airboss.service.live import Live, NeverUsed, ParallelCall
from airboss.store.positions import Positions
from airboss.store.sqlite_database import SqliteDatabase
from tests.log.conftest import log_in

STREAM = "ses_1"
OPENED = SessionOpened(model="m", cwd="/", policy="read-only", who="me")
CLOSED = SessionClosed(reason="Closed.", who="me")


def turn(number: int) -> Event:
    return TurnStarted(turn=TurnId(f"trn_{number}"))


@dataclass
class Hall:
    """A log, and `live` on it."""

    log: EventLog
    live: Live
    writer: Writer

    async def call(self, stream: str = STREAM, *, give: bool = True) -> object:
        """What one caller hears: a turn's number, a name, "closed", or None in want of anything."""
        async with self.live.reader(stream) as reader:
            offer = await reader.next()
            if offer is None:
                return None
            if give:
                await reader.give(offer)
            if offer.body is None:
                return "closed"
            return offer.body.get("turnId") or next(iter(offer.body))


@contextlib.asynccontextmanager
async def hall_in(folder: Path) -> AsyncGenerator[Hall]:
    positions = SqliteDatabase(folder / "positions.sqlite")
    await positions.open()
    async with log_in(folder) as log:
        live = Live(log, Positions(positions), callback_of)
        yield Hall(log, live, await log.writer(STREAM))
        await live.stop()
    await positions.close()


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncGenerator[Hall]:
    async with hall_in(tmp_path) as hall:
        await hall.writer.commit(OPENED, SessionReady())
        yield hall


async def test_what_was_offered_and_not_given_is_offered_again(hall: Hall) -> None:
    await hall.writer.commit(turn(1), turn(2))
    for _ in range(3):
        assert await hall.call(give=False) == "trn_1"
    assert [await hall.call(), await hall.call()] == ["trn_1", "trn_2"]


async def test_nobody_is_served_between_an_offer_and_its_giving(hall: Hall) -> None:
    await hall.writer.commit(turn(1), turn(2))
    async with hall.live.reader(STREAM) as reader:
        offer = await reader.next()
        assert offer is not None
        with pytest.raises(ParallelCall):
            await hall.call()
        await reader.give(offer)
        with pytest.raises(ParallelCall):
            await hall.call()
    assert await hall.call() == "trn_2"


async def test_a_caller_that_is_cut_off_at_any_moment_blocks_nobody(hall: Hall) -> None:
    await hall.writer.commit(turn(1))
    for steps in range(12):
        calling = asyncio.create_task(hall.call(give=False))
        for _ in range(steps):
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait({calling})
    assert await hall.call() == "trn_1"


async def test_the_end_is_told_once_to_whoever_stays_to_hear_it(hall: Hall) -> None:
    await hall.writer.commit(turn(1), CLOSED)
    assert await hall.call() == "trn_1"
    assert await hall.call(give=False) == "closed"
    assert await hall.call() == "closed"
    for _ in range(2):
        with pytest.raises(NeverUsed):
            await hall.call()


async def test_the_place_is_kept_over_a_restart(tmp_path: Path) -> None:
    async with hall_in(tmp_path) as hall:
        await hall.writer.commit(OPENED, SessionReady(), *map(turn, range(1, 9)))
        heard = [await hall.call() for _ in range(5)]
    async with hall_in(tmp_path) as hall:
        await hall.writer.commit(CLOSED)
        heard += [await hall.call() for _ in range(4)]
    assert heard == [*(f"trn_{number}" for number in range(1, 9)), "closed"]
    async with hall_in(tmp_path) as hall:
        with pytest.raises(NeverUsed):
            await hall.call()


async def test_a_session_that_is_resumed_speaks_again_after_its_end(hall: Hall) -> None:
    await hall.writer.commit(SessionInterrupted(reason="Lost."))
    assert [await hall.call() for _ in range(2)] == ["sessionError", "closed"]
    with pytest.raises(NeverUsed):
        await hall.call()
    await hall.writer.commit(SessionResumed(who="me"), SessionReady(), turn(1))
    assert await hall.call() == "trn_1"
    await hall.writer.commit(CLOSED)
    assert await hall.call() == "closed"
    with pytest.raises(NeverUsed):
        await hall.call()


async def test_one_that_was_resumed_and_closed_without_a_word_ends_once_more_for_who_waited(
    hall: Hall,
) -> None:
    await hall.writer.commit(SessionInterrupted(reason="Lost."))
    assert [await hall.call() for _ in range(2)] == ["sessionError", "closed"]
    await hall.writer.commit(SessionResumed(who="me"), SessionReady())
    waiting = asyncio.create_task(hall.call())
    await asyncio.sleep(0.05)
    await hall.writer.commit(CLOSED)
    assert await waiting == "closed"


async def test_closing_what_was_interrupted_and_drained_is_no_second_end(hall: Hall) -> None:
    await hall.writer.commit(SessionInterrupted(reason="Lost."))
    assert [await hall.call() for _ in range(2)] == ["sessionError", "closed"]
    await hall.writer.commit(CLOSED)
    with pytest.raises(NeverUsed):
        await hall.call()


async def test_while_the_server_stops_all_that_was_said_is_given_before_the_end(
    hall: Hall,
) -> None:
    await hall.writer.commit(turn(1))
    hall.log.end_followers()
    assert [await hall.call() for _ in range(2)] == ["trn_1", None]  # nobody waits any more
    await hall.writer.commit(SessionInterrupted(reason="The server was stopped."))
    assert [await hall.call() for _ in range(2)] == ["sessionError", "closed"]


async def test_a_disk_that_takes_no_position_keeps_nobody_from_reading(tmp_path: Path) -> None:
    async with hall_in(tmp_path) as hall:
        await hall.writer.commit(OPENED, SessionReady(), turn(1), turn(2), CLOSED)
        assert await hall.call(give=False) == "trn_1"
        await hall.live.positions.database.close()  # from now on it refuses
        assert [await hall.call() for _ in range(3)] == ["trn_1", "trn_2", "closed"]
        with pytest.raises(NeverUsed):
            await hall.call()


async def test_what_was_read_ahead_of_many_streams_is_forgotten_and_read_again(hall: Hall) -> None:
    names = [f"ses_many_{number}" for number in range(70)]
    for name in names:
        writer = await hall.log.writer(name)
        await writer.commit(OPENED, turn(1), turn(2), TurnEnded(turn=TurnId("t"), outcome="done"))
    for expected in ("trn_1", "trn_2", "t"):
        for name in names:
            assert await hall.call(name) == expected
    kept = hall.live._streams  # pyright: ignore[reportPrivateUsage]
    assert not any(kept.ahead for kept in kept.values())


async def test_nothing_stays_of_ids_that_were_never_used(hall: Hall) -> None:
    for number in range(5):
        with pytest.raises(NeverUsed):
            await hall.call(f"ses_never_{number}")
    assert hall.live._streams == {}  # pyright: ignore[reportPrivateUsage]


async def test_a_tasks_requests_are_told_and_a_persons_are_not(hall: Hall) -> None:
    person = PromptAccepted(prompt=PromptId("pro_1"), text="hello", who="me")
    task = person.model_copy(update={"text": "Is it done?", "task": TaskRunId("tsk_1")})
    await hall.writer.commit(person, task)
    async with hall.live.reader(STREAM) as reader:
        offer = await reader.next()
    assert offer is not None
    assert offer.body == {"callback": "onGeneratedUserPrompt", "prompt": "Is it done?"}
