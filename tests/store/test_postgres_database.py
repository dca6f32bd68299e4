"""A PostgreSQL that goes away comes back: what works waits for it, people are told, and whatever
was written counts once."""

import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio
import pytest
from sqlalchemy import Connection, text

from airboss.errors import SettingsInvalid, StoreAway, StoreUnavailable
from airboss.patience import be_patient_for, patient_context
from airboss.store import postgres_connection
from airboss.store.migrations import Migration, run_migrations
from airboss.store.postgres_database import PostgresDatabase, status_of
from airboss.store.postgres_migrations import latest_schema
from tests.cut_line import CutLine, cut_line_to
from tests.databases import with_tables
from tests.postgres import Mode, Postgres

ADD = text("INSERT INTO positions (stream, seq, drained) VALUES (:stream, 0, 0)")
STREAMS = text("SELECT stream FROM positions ORDER BY stream")


@pytest.fixture(scope="module")
def name(postgres: Postgres) -> Generator[str]:
    made = with_tables(postgres)
    yield made
    postgres.drop(made)


@pytest.fixture(autouse=True)
def emptied(postgres: Postgres, name: str) -> None:
    postgres.execute("TRUNCATE airboss.positions", name)


@asynccontextmanager
async def opened(url: str, call_seconds: float = 6.0) -> AsyncGenerator[PostgresDatabase]:
    database = PostgresDatabase(url, call_seconds)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@contextmanager
def line_to(postgres: Postgres) -> Generator[CutLine]:
    with cut_line_to(postgres.port) as line:
        yield line


def add(connection: Connection, stream: str) -> str:
    connection.execute(ADD, {"stream": stream})
    return stream


def streams(connection: Connection) -> list[str]:
    return list(connection.execute(STREAMS).scalars())


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_work_waits_for_a_database_that_is_started_again(
    postgres: Postgres, name: str, mode: Mode
) -> None:
    async with opened(postgres.url(name)) as database:
        await database.write(lambda c: add(c, "before"))
        assert await database.read(streams) == ["before"]
        found: list[list[str]] = []

        async def work() -> None:
            await database.write(lambda c: add(c, "meanwhile"))
            found.append(await database.read(streams))

        async with anyio.create_task_group() as group:
            await anyio.to_thread.run_sync(postgres.stop, mode)
            group.start_soon(work)
            await anyio.sleep(0.3)
            assert found == []
            await anyio.to_thread.run_sync(postgres.start)
        assert found == [["before", "meanwhile"]]


async def test_a_person_is_refused_in_words_and_a_start_waits(
    postgres: Postgres, name: str
) -> None:
    async with opened(postgres.url(name)) as database:
        await anyio.to_thread.run_sync(postgres.stop)
        starting = PostgresDatabase(postgres.url(name))
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(starting.open)
                be_patient_for(0.4)
                began = time.monotonic()
                with pytest.raises(StoreAway, match=r"cannot be reached: .*Try again in a moment"):
                    await database.read(streams)
                with pytest.raises(StoreAway):
                    await database.write(lambda c: add(c, "refused"))
                assert time.monotonic() - began < 5
                context = patient_context()
                assert context is not None
                await anyio.to_thread.run_sync(postgres.start)
            be_patient_for(30)
            assert await starting.read(streams) == await database.read(streams) == []
        finally:
            await starting.close()


async def test_a_call_into_a_line_that_swallows_everything_comes_to_an_end(
    postgres: Postgres, name: str
) -> None:
    with line_to(postgres) as line:
        async with opened(postgres.url(name, port=line.port), call_seconds=0.5) as database:
            await database.write(lambda c: add(c, "before"))
            line.swallow()
            began = time.monotonic()
            with pytest.raises(StoreAway):
                await database.try_write(streams)
            assert time.monotonic() - began < 5, "the watchdog shuts the socket"
            line.heal()
            assert await database.read(streams) == ["before"]


SLOW_COMMIT = """
CREATE FUNCTION airboss.dawdle() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER dawdling AFTER INSERT ON airboss.positions
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION airboss.dawdle();
"""


async def test_a_commit_whose_answer_was_lost_counts_once(postgres: Postgres, name: str) -> None:
    """The commit takes a moment, in which the line is cut."""
    postgres.execute(SLOW_COMMIT, name)
    try:
        with line_to(postgres) as line:
            async with opened(postgres.url(name, port=line.port)) as database:
                times, begun = 0, threading.Event()

                def work(connection: Connection) -> str:
                    nonlocal times
                    times += 1
                    begun.set()
                    return add(connection, f"try {times}")

                answers: list[str] = []
                async with anyio.create_task_group() as group:

                    async def write() -> None:
                        answers.append(await database.write(work))

                    group.start_soon(write)
                    await anyio.to_thread.run_sync(begun.wait, 20)
                    await anyio.sleep(0.3)
                    line.refuse()
                    await anyio.sleep(0.2)
                    line.heal()
                assert (answers, times) == (["try 1"], 1)
                assert await database.read(streams) == ["try 1"]
    finally:
        postgres.execute("DROP FUNCTION airboss.dawdle() CASCADE", name)


async def test_what_waiting_does_not_change_is_refused_at_the_start(
    postgres: Postgres, name: str
) -> None:
    wrong = postgres.url(name).replace(f":{postgres.password}@", ":wrong-secret@")
    for url, words in (
        (wrong, "password authentication failed"),
        (postgres.url("nowhere"), 'database "nowhere" does not exist'),
    ):
        with anyio.fail_after(20), pytest.raises(StoreUnavailable, match=words) as refused:
            await PostgresDatabase(url).open()
        assert "Check its address, its role and its password" in str(refused.value)
        assert "wrong-secret" not in str(refused.value)
    with pytest.raises(SettingsInvalid, match="postgresql://USER@HOST/DATABASE") as refused:
        await PostgresDatabase("postgresql://me:secret@[half").open()
    assert "secret" not in str(refused.value)


async def test_a_postgresql_that_is_too_old_is_refused_at_the_start(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "OLDEST", 990000)
    words = r"This is PostgreSQL \d+\. Airboss needs 99 or newer: upgrade it\."
    with anyio.fail_after(20), pytest.raises(StoreUnavailable, match=words):
        await PostgresDatabase(postgres_url).open()


async def test_servers_that_start_at_once_make_the_tables_once(postgres_url: str) -> None:
    databases = [PostgresDatabase(postgres_url) for _ in range(3)]
    async with anyio.create_task_group() as group:
        for database in databases:
            group.start_soon(database.open)
    numbers = text("SELECT number, works_from FROM migrations")
    for database in databases:
        found = await database.read(lambda c: c.execute(numbers).all())
        assert found == [(number, 14) for number in range(14, latest_schema() + 1)]
        await database.close()


async def test_a_newer_schema_is_used_as_long_as_it_works_with_this_version(
    postgres: Postgres, name: str
) -> None:
    known = latest_schema()
    newer = known + 1
    try:
        put = f"INSERT INTO airboss.migrations VALUES ({newer}, {known})"  # noqa: S608
        postgres.execute(put, name)
        async with opened(postgres.url(name)) as database:
            assert await database.read(streams) == []
        needs_itself = "UPDATE airboss.migrations SET works_from = number WHERE number = "
        postgres.execute(f"{needs_itself}{newer}", name)
        with pytest.raises(StoreUnavailable, match="written by a newer Airboss"):
            await PostgresDatabase(postgres.url(name)).open()
    finally:
        gone = f"DELETE FROM airboss.migrations WHERE number = {newer}"  # noqa: S608
        postgres.execute(gone, name)


async def test_a_migration_that_fails_leaves_nothing(postgres: Postgres, name: str) -> None:
    def fail(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE half (id integer)"))
        raise ZeroDivisionError

    async with opened(postgres.url(name)) as database:
        with pytest.raises(ZeroDivisionError):
            await database.write(lambda c: run_migrations(c, {99: Migration(fail, 99)}, "database"))
    assert postgres.execute("SELECT to_regclass('airboss.half')", name) == [(None,)]


async def test_what_takes_too_long_each_time_is_not_repeated_for_ever(
    postgres: Postgres, name: str
) -> None:
    tries: list[int] = []

    def too_long(connection: Connection) -> None:
        tries.append(1)
        connection.exec_driver_sql("SET LOCAL statement_timeout = 20")
        connection.exec_driver_sql("SELECT pg_sleep(5)")

    async with opened(postgres.url(name)) as database:
        with pytest.raises(StoreUnavailable, match="takes too long for this, each time"):
            await database.write(too_long)
        assert 1 < len(tries) < 10
        assert await database.write(lambda c: add(c, "next")) == "next"


async def test_people_are_told_where_what_they_asked_may_have_happened(
    postgres: Postgres, name: str
) -> None:
    async with opened(postgres.url(name)) as database:
        be_patient_for(0.3)
        with pytest.raises(StoreAway, match="may have happened all the same"):
            await database.write(lambda c: c.exec_driver_sql("SELECT pg_sleep(1)") and None)


async def test_a_commit_that_a_failover_lost_is_no_fault_of_ours(
    postgres: Postgres, name: str
) -> None:
    async with opened(postgres.url(name)) as database:
        assert await database.try_write(lambda c: status_of(c, "999999999")) is None
        assert await database.write(lambda c: add(c, "next")) == "next"
