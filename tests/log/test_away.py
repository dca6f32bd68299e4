"""A database that goes away in the midst of it: work waits, people are refused and have said
nothing, and each event is there once."""

import asyncio

import anyio
import pytest
from sqlalchemy import select

from airboss.errors import StoreAway
from airboss.log.log import EventLog
from airboss.model.events import (
    MessageDelta,
    MessageEnded,
    MessageStarted,
    SessionIdle,
    SessionOpened,
    SessionReady,
)
from airboss.patience import be_patient_for
from airboss.store.database import Database
from airboss.store.postgres_database import PostgresDatabase
from airboss.store.tables import events, streams
from tests.cut_line import cut_line_to
from tests.databases import NewDatabase, as_the_only_server, on_postgres, with_tables
from tests.postgres import Mode, Postgres
from tests.trials import share

STREAM = "ses_one"
OPENED = SessionOpened(model="m", cwd="/", policy="ask", who="me")

pytestmark = on_postgres


async def seqs_in(database: Database, stream: str = STREAM) -> list[int]:
    wanted = select(events.c.seq).where(events.c.stream == stream).order_by(events.c.seq)
    return list(await database.read(lambda c: c.execute(wanted).scalars().all()))


@pytest.mark.timeout(120)
async def test_restarts_under_load_lose_no_event_and_double_none(
    database: Database, postgres: Postgres
) -> None:
    ownership = await as_the_only_server(database, [0])
    async with EventLog(database, None, ownership=ownership).running() as log:
        writers = [log.new_writer(f"ses_{number}") for number in range(3)]
        for writer in writers:
            await writer.commit(OPENED)
        is_over, counts = False, [1] * len(writers)

        async def talk(number: int) -> None:
            while not is_over:
                committed = await writers[number].commit(SessionReady(), SessionIdle())
                counts[number] += 2
                assert committed.seq == counts[number]

        modes: list[Mode] = ["fast", "immediate"]
        async with anyio.create_task_group() as group:
            for number in range(len(writers)):
                group.start_soon(talk, number)
            for place in range(share(2, 12)):
                await anyio.sleep(0.3)
                await anyio.to_thread.run_sync(postgres.restart, modes[place % 2])
            await anyio.sleep(0.3)
            is_over = True
    for number, count in enumerate(counts):
        assert await seqs_in(database, f"ses_{number}") == list(range(1, count + 1))
    wanted = select(streams.c.head).order_by(streams.c.stream)
    assert await database.read(lambda c: c.execute(wanted).scalars().all()) == counts
    assert sum(counts) > 20, "next to nothing was said"


async def test_people_are_refused_and_have_said_nothing_while_work_waits(
    database: Database, postgres: Postgres
) -> None:
    ownership = await as_the_only_server(database, [0])
    async with EventLog(database, None, ownership=ownership).running() as log:
        writer, other = log.new_writer(STREAM), log.new_writer("ses_person")
        await log.commit(writer.line(OPENED), other.line(OPENED))
        await anyio.to_thread.run_sync(postgres.stop)
        working = asyncio.create_task(writer.commit(SessionReady()))

        async def ask() -> None:
            be_patient_for(0.5)
            with pytest.raises(StoreAway, match="cannot be reached"):
                await other.commit(SessionIdle(), origin="asked")

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
        assert isinstance(log.trouble, StoreAway)
        assert other.said_from("asked") is None
        assert not working.done()
        await anyio.to_thread.run_sync(postgres.start)
        assert (await working).seq == 2
        await other.commit(SessionReady())
        assert log.trouble is None
        kinds = [one.event.kind for one in await log.after("ses_person", 0)]
        assert kinds == [OPENED.kind, SessionReady().kind]


SLOW_COMMIT = """
CREATE FUNCTION airboss.dawdle() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER dawdling AFTER INSERT ON airboss.events
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.kind = 'session.ready')
  EXECUTE FUNCTION airboss.dawdle();
"""


@pytest.mark.parametrize("is_heard", [True, False])
async def test_a_commit_of_unknown_outcome_is_settled_by_how_far_the_stream_has_come(
    postgres: Postgres, kept_in: str, is_heard: bool
) -> None:
    """The line is cut before the commit comes to the server, and while that works on it."""
    name = with_tables(postgres)
    if is_heard:
        postgres.execute(SLOW_COMMIT, name)
    with cut_line_to(postgres.port) as line:
        database = PostgresDatabase(postgres.url(name, port=line.port), call_seconds=1)
        await database.open()
        ownership = await as_the_only_server(database, [0])
        async with EventLog(database, None, ownership=ownership).running() as log:
            writer = log.new_writer(STREAM)
            await writer.commit(OPENED)
            if is_heard:
                saying = asyncio.create_task(writer.commit(SessionReady()))
                await anyio.sleep(0.4)
                line.refuse()
            else:
                line.swallow()
                saying = asyncio.create_task(writer.commit(SessionReady()))
                await anyio.sleep(0.4)
            await anyio.sleep(0.3)
            line.heal()
            assert (await saying).seq == 2
            assert (await writer.commit(SessionIdle())).seq == 3
        assert await seqs_in(database) == [1, 2, 3]
        await database.close()
    postgres.drop(name)


async def test_what_was_shown_is_committed_and_a_batch_of_deltas_is_one_row(
    new_database: NewDatabase,
) -> None:
    database = new_database()
    await database.open()
    ownership = await as_the_only_server(database, [0])
    async with EventLog(database, None, ownership=ownership).running() as log:
        writer = log.new_writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        for place, letter in enumerate("Hello"):
            writer.say(MessageDelta(block="m", offset=place, text=letter))
        assert await log.after(STREAM, 2) == [], "nothing is shown before it is there"
        await writer.settle()
        rows = "SELECT first, seq, text FROM parts"
        kept = await database.read(lambda c: c.exec_driver_sql(rows).all())
        assert kept == [(3, 7, '"Hello"')]
        assert len(await log.after(STREAM, 2)) == 5, "whoever watched has each of them"
        writer.say(SessionIdle())
        writer.say(MessageDelta(block="m", offset=5, text=" you"))
        await writer.settle()
    next_database = new_database()
    await next_database.open()
    ownership = await as_the_only_server(next_database, [1])
    async with EventLog(next_database, None, ownership=ownership).running() as log:
        whole, middle = await log.after(STREAM, 2), await log.after(STREAM, 4)
        assert [one.event for one in whole] == [
            MessageDelta(block="m", offset=0, text="Hello"),
            SessionIdle(),
            MessageDelta(block="m", offset=5, text=" you"),
        ]
        assert middle[0].event == MessageDelta(block="m", offset=2, text="llo")
        late, more = await log.compact(STREAM, 4, 10)
        assert ([one.seq for one in late], more) == ([7, 8, 9], False)
        writer = await log.writer(STREAM)
        [left] = writer.left_open
        assert (left.text, left.seq) == ("Hello you", 2)
        await writer.commit(MessageEnded(block="m", text="Hello you"))
        assert (await writer.commit(SessionReady())).seq == 11, "no number is left out"
    kept = await next_database.read(lambda c: c.exec_driver_sql(rows).all())
    assert [row[1] for row in kept] == [9], "only one that stands alone stays as it is"
    await database.close()
    await next_database.close()
