"""What one process says, all others on the same database show."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Final

import anyio
import pytest

from airboss.log.elsewhere import COMPARE_SECONDS
from airboss.log.log import EventLog
from airboss.log.news import MOST_SEQS
from airboss.model.events import (
    MessageDelta,
    MessageStarted,
    PromptAccepted,
    Recorded,
    SessionIdle,
    SessionOpened,
    SessionReady,
)
from airboss.model.ids import PromptId
from airboss.model.views import SessionView
from tests.databases import with_tables
from tests.log.neighbours import SilentDatabase, log_of
from tests.log.truth import Truth, begin
from tests.postgres import Postgres

STREAM: Final = "ses_one"
OPENED: Final = SessionOpened(model="m", cwd="/", policy="read-only", who="me")
LONG: Final = 20.0


@pytest.fixture
def shared(postgres: Postgres) -> Generator[str]:
    name = with_tables(postgres)
    yield name
    postgres.drop(name)


@pytest.fixture
def url(postgres: Postgres, shared: str) -> str:
    return postgres.url(shared)


@pytest.fixture
async def worker(url: str) -> AsyncGenerator[EventLog]:
    async with log_of(url, "wrk_works") as running:
        yield running


@pytest.fixture
async def portal(url: str) -> AsyncGenerator[EventLog]:
    async with log_of(url, "wrk_shows") as running:
        yield running


async def until_it_listens(worker: EventLog, portal: EventLog) -> None:
    """It says so once, and on a busy machine before anybody here waits for that. Afterwards nothing
    is on its way."""
    with portal.changes() as heard:
        async with asyncio.timeout(LONG):
            while not await heard.within(0.05):
                worker.announce("hello")
            worker.announce("goodbye")
            while "goodbye" not in await heard.next():
                pass


async def followed(log: EventLog, after: int, until: int, stream: str = STREAM) -> list[Recorded]:
    """All that a follower is given, from `after` to `until`."""
    found: list[Recorded] = []
    async with asyncio.timeout(LONG), log.follow(stream, after) as follower:
        while follower.seq < until:
            found += await follower.next(LONG)
    return found


async def test_a_follower_elsewhere_is_given_all_of_a_stream_in_its_order(
    worker: EventLog, portal: EventLog
) -> None:
    truth, chance = Truth(), random.Random(19)  # noqa: S311 - the same in each run
    writer = await begin(worker, STREAM, truth)
    readers: list[tuple[int, asyncio.Task[list[Recorded]]]] = []
    ready = asyncio.Event()

    async def read(after: int) -> list[Recorded]:
        found: list[Recorded] = []
        async with portal.follow(STREAM, after) as follower:
            while not (ready.is_set() and follower.seq >= truth.seq):
                found += await follower.next(0.5)
        return found

    async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
        for number in range(12):
            writer.say(truth.start(f"b{number}"))
            for _ in range(chance.randrange(1, 60)):
                writer.say(truth.delta(f"b{number}", chance.choice(("a", "bc ", "déf\n"))))
                if chance.random() < 0.1:
                    await asyncio.sleep(chance.choice((0, 0.01, 0.04)))
                if chance.random() < 0.03:
                    after = chance.randrange(truth.seq)
                    readers.append((after, group.create_task(read(after))))
            writer.say(truth.end(f"b{number}"))
        await writer.commit(truth.other(SessionIdle()))
        ready.set()
    assert readers
    for after, reader in readers:
        truth.check(after, reader.result())


async def test_views_and_heads_of_streams_elsewhere_are_those_that_are_committed(
    worker: EventLog, portal: EventLog
) -> None:
    writer = worker.new_writer(STREAM)
    await writer.commit(OPENED)
    async with portal.follow(STREAM, 0) as follower:
        for number in range(10):
            prompt = PromptAccepted(prompt=PromptId(f"pro_{number}"), text="Hello", who="me")
            last = await writer.commit(prompt)
            # At once, and not when a notice has come.
            view = await portal.view(STREAM)
            assert isinstance(view, SessionView)
            assert (view.seq, await portal.head(STREAM)) == (last.seq, last.seq)
        async with asyncio.timeout(LONG):
            while follower.head < 11:
                await follower.next(LONG)
        assert follower.view == await worker.view(STREAM)


async def test_lists_hear_of_streams_elsewhere_but_not_of_deltas(
    worker: EventLog, portal: EventLog
) -> None:
    await until_it_listens(worker, portal)
    with portal.changes() as heard, portal.changes(only_here=True) as heard_here:
        before = portal.lists_version
        writer = worker.new_writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="b"))
        assert await asyncio.wait_for(heard.next(), LONG) == [STREAM]
        assert portal.lists_version > before
        async with portal.follow(STREAM, 2) as follower:
            writer.say(MessageDelta(block="b", offset=0, text="Hi"))
            assert [one.seq for one in await follower.next(LONG)] == [3]
        worker.announce("settings")
        assert await asyncio.wait_for(heard.next(), LONG) == ["settings"]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(heard_here.next(), 0.01)


async def test_who_waits_for_a_word_is_woken_by_that_word_alone(
    worker: EventLog, portal: EventLog
) -> None:
    await until_it_listens(worker, portal)
    with portal.changes("rules") as heard, portal.changes() as all_of_it:
        writer = worker.new_writer(STREAM)
        await writer.commit(OPENED)
        worker.announce("settings")
        async with asyncio.timeout(LONG):
            names: set[str] = set()
            while not {STREAM, "settings"} <= names:
                names.update(await all_of_it.next())
        assert not await heard.within(0)
        worker.announce("rules")
        assert await heard.within(LONG)
        assert not await heard.within(0)


async def test_a_notice_that_is_lost_costs_about_a_second(url: str, portal: EventLog) -> None:
    async with log_of(url, "wrk_dies", SilentDatabase) as silent:
        writer = silent.new_writer(STREAM)
        await writer.commit(OPENED)
        async with portal.follow(STREAM, 1) as follower:
            await writer.commit(SessionReady())
            begun = anyio.current_time()
            found = await follower.next(LONG)
    assert [one.event for one in found] == [SessionReady()]
    # Load may add to it. Without the comparison it would never come.
    assert anyio.current_time() - begun < 10 * COMPARE_SECONDS


async def test_who_was_cut_off_is_told_what_it_missed(
    postgres: Postgres, shared: str, worker: EventLog, portal: EventLog
) -> None:
    writer = worker.new_writer(STREAM)
    await writer.commit(OPENED)
    with portal.changes() as heard:
        await asyncio.wait_for(heard.next(), LONG)
        heard.took_any()
        async with portal.follow(STREAM, 1) as follower:
            await asyncio.to_thread(_end_all_connections, postgres, shared)
            await writer.commit(SessionReady())
            found = await follower.next(LONG)
            assert [one.event for one in found] == [SessionReady()]
        async with asyncio.timeout(LONG):
            while not heard.took_any():  # lists are asked for again
                await heard.next()
        await writer.commit(SessionIdle())
        async with asyncio.timeout(LONG):
            while STREAM not in await heard.next():
                pass


def _end_all_connections(postgres: Postgres, name: str) -> None:
    postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        name,
    )


async def test_who_follows_a_stream_that_was_deleted_elsewhere_is_told(
    worker: EventLog, portal: EventLog
) -> None:
    writer = worker.new_writer(STREAM)
    await writer.commit(OPENED)
    async with portal.follow(STREAM, 1) as follower:
        await worker.forget([STREAM])
        assert await follower.next(LONG) == []
        assert follower.is_forgotten
    assert await portal.view(STREAM) is None


async def test_both_write_in_the_shared_stream_and_both_followers_see_the_same(
    worker: EventLog, portal: EventLog
) -> None:
    writers = [await worker.writer("audit"), await portal.writer("audit")]
    each = 40
    async with asyncio.TaskGroup() as group:
        readers = [
            group.create_task(followed(log, 0, 2 * each, "audit")) for log in (worker, portal)
        ]
        for writer in writers:
            group.create_task(_say(writer.commit, each))
    one, other = (reader.result() for reader in readers)
    assert [recorded.seq for recorded in one] == list(range(1, 2 * each + 1))
    assert [(r.seq, r.body) for r in one] == [(r.seq, r.body) for r in other]


async def _say(commit: Callable[..., Awaitable[Recorded]], count: int) -> None:
    for _ in range(count):
        await commit(SessionReady())


async def test_a_stream_that_gets_another_owner_is_followed_on_where_it_was(
    postgres: Postgres, shared: str, worker: EventLog, portal: EventLog
) -> None:
    writer = worker.new_writer(STREAM)
    await writer.commit(OPENED)
    async with worker.follow(STREAM, 1) as follower:
        postgres.execute("UPDATE airboss.streams SET owner = NULL", shared)
        taken = await portal.writer(STREAM)
        await taken.commit(SessionReady())
        assert [one.seq for one in await follower.next(LONG)] == [2]
        assert (await worker.view(STREAM)) == (await portal.view(STREAM))


async def test_who_is_far_behind_reads_the_store(worker: EventLog, portal: EventLog) -> None:
    truth = Truth()
    writer = await begin(worker, STREAM, truth)
    async with portal.follow(STREAM, 1) as follower:
        writer.say(truth.start("b"))
        for _ in range(MOST_SEQS + 10):
            writer.say(truth.delta("b", "x"))
        await writer.commit(truth.end("b"))
        found: list[Recorded] = []
        async with asyncio.timeout(LONG):
            while follower.seq < truth.seq:
                found += await follower.next(LONG)
    truth.check(1, found)


async def test_a_view_that_only_a_newer_server_understands_stops_nobody_who_follows(
    postgres: Postgres, shared: str, worker: EventLog, portal: EventLog
) -> None:
    other = worker.new_writer("ses_two")
    await worker.commit(worker.new_writer(STREAM).line(OPENED), other.line(OPENED))
    async with portal.follow(STREAM, 1) as newer, portal.follow("ses_two", 1) as follower:
        for said in (
            "UPDATE streams SET head = 2 WHERE stream = 'ses_one'",
            "INSERT INTO events (stream, seq, at, kind, body) "
            """VALUES ('ses_one', 2, 1, 'session.dreamed', '{"kind": "session.dreamed"}')""",
            """UPDATE views SET body = jsonb_set(body::jsonb, '{state}', '"dreaming"')::text """
            "WHERE stream = 'ses_one'",
        ):
            postgres.execute(f"SET search_path = airboss; {said}", shared)
        assert [one.seq for one in await newer.next(LONG)] == [2], "it is passed on"
        await other.commit(SessionReady())
        assert [one.event for one in await follower.next(LONG)] == [SessionReady()]
