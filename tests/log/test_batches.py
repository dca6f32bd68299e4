"""How often is written where nothing is shown before that."""

import time

import anyio
import pytest

from airboss.log import flusher as flusher_module
from airboss.log.log import EventLog
from airboss.model.events import MessageDelta, MessageStarted, SessionOpened, SessionReady
from tests.databases import on_postgres

STREAM = "ses_one"
OPENED = SessionOpened(model="m", cwd="/", policy="read-only", who="me")
LONG = 20.0


@pytest.fixture(autouse=True)
def endless_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for the end of one would wait too long."""
    monkeypatch.setattr(flusher_module, "BATCH_SECONDS", 2 * LONG)


@on_postgres
async def test_a_delta_does_not_wait_for_the_end_of_a_batch(log: EventLog) -> None:
    writer = log.new_writer(STREAM)
    await writer.commit(OPENED, MessageStarted(block="b"))
    async with log.follow(STREAM, 2) as follower:
        for number in range(3):
            writer.say(MessageDelta(block="b", offset=number, text="x"))
            assert [one.seq for one in await follower.next(LONG)] == [3 + number]


@on_postgres
async def test_many_deltas_make_few_batches(log: EventLog) -> None:
    writer = log.new_writer(STREAM)
    await writer.commit(OPENED, MessageStarted(block="b"))
    before, began = log.counts["flushes"], time.monotonic()
    for number in range(400):
        writer.say(MessageDelta(block="b", offset=number, text="x"))
        await anyio.sleep(0.0005)
    most = (time.monotonic() - began) / flusher_module.DELTA_SECONDS + 2
    assert 1 <= log.counts["flushes"] - before <= most


@on_postgres
async def test_what_is_said_soon_waits_for_neither(log: EventLog) -> None:
    writer = log.new_writer(STREAM)
    await writer.commit(OPENED)
    async with log.follow(STREAM, 1) as follower:
        writer.say(SessionReady())
        assert [one.seq for one in await follower.next(LONG)] == [2]


@on_postgres
async def test_what_is_not_urgent_is_written_with_what_is_committed_next(log: EventLog) -> None:
    writer, other = log.new_writer(STREAM), log.new_writer("ses_other")
    await writer.commit(OPENED)
    async with log.follow(STREAM, 1) as follower:
        writer.say(SessionReady(), urgent=False)
        assert await follower.next(0.2) == []
        before = log.counts["flushes"]
        await other.commit(OPENED)
        assert [one.seq for one in await follower.next(LONG)] == [2]
    assert log.counts["flushes"] == before + 1
