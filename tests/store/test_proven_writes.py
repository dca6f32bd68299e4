"""Whatever a worker writes on a shared database proves in its own transaction that it lives: one
that counts as lost writes nothing, wherever it is, and hears so in the words of a fenced append."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, event

from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.model.audit_events import AUDIT
from airboss.model.events import SessionIdle
from airboss.store.claims import Claims
from airboss.store.commands import CommandStore, OwnerCommand
from airboss.store.dialect import Fenced
from airboss.store.duties import DutyStore
from airboss.store.folder import DataFolder
from airboss.store.living_workers import LivingWorkers
from airboss.store.ownership import Ownership
from airboss.store.postgres_database import PostgresDatabase
from airboss.store.postgres_tokens import SharedTokenChanges, SharedTokens
from airboss.store.postgres_workers import Worker, WorkerLine
from airboss.store.run_keys import RunKeys
from airboss.store.settings import KeptSetting, SettingStore
from airboss.store.shared_access import AccessStore, KeptCode
from tests.databases import with_tables
from tests.postgres import Postgres

NAMES = ("first", "second")
RUN = "run_0000000000000000000000000a"
SETTING = KeptSetting("max_tasks", 3, "me", 1)
# All that a server may change, and what must not have changed.
_EVERYTHING = """
SELECT coalesce(string_agg(found, chr(10) ORDER BY found), '') FROM (
    SELECT 'stream ' || streams::text AS found FROM airboss.streams
    UNION ALL SELECT 'event ' || events::text FROM airboss.events
    UNION ALL SELECT 'view ' || views::text FROM airboss.views
    UNION ALL SELECT 'work ' || work::text FROM airboss.work
    UNION ALL SELECT 'command ' || commands::text FROM airboss.commands
    UNION ALL SELECT 'duty ' || duties::text FROM airboss.duties
    UNION ALL SELECT 'token ' || tokens::text FROM airboss.tokens
    UNION ALL SELECT 'change ' || token_changes::text FROM airboss.token_changes
    UNION ALL SELECT 'code ' || codes::text FROM airboss.codes
    UNION ALL SELECT 'key ' || keys::text FROM airboss.keys
    UNION ALL SELECT 'setting ' || settings::text FROM airboss.settings
    UNION ALL SELECT 'worker ' || id || state FROM airboss.workers
) AS all_of_it
"""


@pytest.fixture
def url(postgres: Postgres) -> Generator[str]:
    name = with_tables(postgres)
    yield postgres.url(name)
    postgres.drop(name)


@dataclass
class Server:
    database: PostgresDatabase
    line: WorkerLine
    ended: list[Fenced]
    ownership: Ownership

    @property
    def worker(self) -> str:
        return self.ownership.worker


@asynccontextmanager
async def server(url: str, name: str) -> AsyncGenerator[Server]:
    database = PostgresDatabase(url)
    await database.open()
    line = WorkerLine(url, f"wrk_{name}")
    ended: list[Fenced] = []
    made = Server(database, line, ended, Ownership(line.worker, ended.append))
    try:
        worker = Worker(line.worker, f"own_{name}", name, "h", 1, "v")
        await asyncio.to_thread(line.register, worker, 5)
        database.write_as(made.ownership)
        yield made
    finally:
        await asyncio.to_thread(line.close)
        await database.close()


def all_of_it(url: str) -> str:
    with psycopg.connect(url) as looking:
        row = looking.execute(_EVERYTHING).fetchone()
    assert row is not None
    return str(row[0])


async def test_a_server_that_counts_as_lost_writes_nothing_of_any_kind(
    url: str, tmp_path: Path
) -> None:
    async with server(url, "first") as first, server(url, "second") as second:
        database, me = first.database, first.worker
        claims = Claims(database, me, "own_first")
        commands = CommandStore(database, me)
        code = KeptCode("ada", "hash")
        kept = OwnerCommand("cmd_kept", me, "steer", "{}")
        async with EventLog(database, None, ownership=first.ownership).running() as log:
            audit = await log.writer(AUDIT)
            own = await log.writer("ses_one")
            await own.commit(SessionIdle())
            await claims.offer(RUN, None, "own_first", "1", [])
            await commands.add(OwnerCommand("cmd_taken", me, "steer", "{}"), "me", 60)
            assert len(await commands.take()) == 1
            await commands.add(kept, "me", 60)
            made = SharedTokens(DataFolder(tmp_path), url)
            await asyncio.to_thread(lambda: made.add("ada", "view"))
            assert await asyncio.to_thread(second.line.mark_lost, me, None, 5)
            before = all_of_it(url)
            writes: dict[str, Callable[[], Awaitable[object]]] = {
                "audit": lambda: audit.commit(SessionIdle()),
                "a stream": lambda: own.commit(SessionIdle()),
                "forget": lambda: log.forget(["ses_one"]),
                "offer": lambda: claims.offer("run_new", None, "own_first", "1", []),
                "hand back": lambda: claims.hand_back(RUN, []),
                "drain": lambda: claims.drain(second.worker),
                "ask": lambda: commands.add(OwnerCommand("cmd_b", me, "steer", "{}"), "me", 60),
                "take": commands.take,
                "finish": lambda: commands.finish("cmd_taken", "done", "{}"),
                "withdraw": lambda: commands.withdraw("cmd_kept"),
                "token": lambda: AccessStore(database, "own_first").keep_owner("hash"),
                "code": lambda: AccessStore(database, "own_first").add_code("h", code, None, 9, 9),
                "cookies": AccessStore(database, "own_first").cookies,
                "setting": lambda: SettingStore(database).put(SETTING),
                "key": lambda: RunKeys(database).claim("me", "key", RUN, 1),
            }
            for write in writes.values():
                with pytest.raises(StoreUnavailable, match=r"Not written: .* counts as lost"):
                    await write()
            changes = SharedTokenChanges(url, me)
            assert await asyncio.to_thread(changes.read_whole) == [], "they are for who lives"
            assert not await DutyStore(database, me).has("retention")
            await LivingWorkers(database).hand("ses_one", me)
            assert all_of_it(url) == before
        assert len(first.ended) == 1, "it ends itself, once"
        assert second.ended == []
        await SettingStore(second.database).put(SETTING)
        assert all_of_it(url) != before


async def test_whoever_gives_a_worker_up_waits_for_what_it_writes_just_now(
    url: str,
) -> None:
    async with server(url, "first") as first:
        with psycopg.connect(url, autocommit=True) as other:
            blocked: list[bool] = []

            def reaped(connection: Connection) -> None:
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute("SELECT 1 FROM airboss.workers FOR UPDATE NOWAIT")
                blocked.append(True)

            def write(connection: Connection) -> None:
                connection.exec_driver_sql("UPDATE migrations SET number = number")
                event.listen(connection, "commit", reaped)

            await first.database.write(write)
            assert blocked == [True]
            other.execute("SELECT 1 FROM airboss.workers FOR UPDATE NOWAIT")


async def test_the_proof_takes_no_statement_more_and_what_writes_nothing_takes_no_lock(
    url: str,
) -> None:
    async with server(url, "first") as first:
        said: list[str] = []
        numbers: list[str | None] = []

        def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
            said.append(statement)

        def work(connection: Connection) -> None:
            if not said:
                event.listen(connection.engine, "before_cursor_execute", note)
            said.clear()
            connection.exec_driver_sql("DELETE FROM duties WHERE name = 'none'")

        def commit(connection: Connection) -> None:
            row = connection.connection.cursor()
            row.execute("SELECT pg_current_xact_id_if_assigned()::text")
            numbers.append((row.fetchone() or [None])[0])

        def watched(connection: Connection) -> None:
            work(connection)
            event.listen(connection, "commit", commit, once=True)

        await first.database.write(work)
        await first.database.write(watched)
        assert len(said) == 2, "the number of a transaction was asked for before"
        assert numbers == [None]


async def test_who_is_no_worker_yet_writes_as_before(url: str) -> None:
    database = PostgresDatabase(url)
    await database.open()
    try:
        await SettingStore(database).put(SETTING)
        database.write_as(Ownership("wrk_nobody"))
        with pytest.raises(StoreUnavailable, match=r"Not written: the worker wrk_nobody counts"):
            await SettingStore(database).put(SETTING)
    finally:
        await database.close()
