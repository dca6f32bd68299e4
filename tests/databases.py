"""Both databases for one test: a folder with SQLite, and a PostgreSQL that has all tables."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import Connection, select, update

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.store.database import Database
from airboss.store.dialect import Append, Growth, Row
from airboss.store.machine_tables import workers
from airboss.store.ownership import LIVING, Ownership
from airboss.store.postgres_database import PostgresDatabase
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.tables import streams
from tests.postgres import Postgres
from tests.trials import whole_only

SQLITE: Final = "sqlite"
POSTGRES: Final = "postgresql"
# For a test of what only one of them does.
on_sqlite: Final = pytest.mark.parametrize("kept_in", [SQLITE], indirect=True)
on_postgres: Final = pytest.mark.parametrize("kept_in", [POSTGRES], indirect=True)
# For one whose other half only the trials have.
mostly_on_sqlite: Final = pytest.mark.parametrize(
    "kept_in", [SQLITE, pytest.param(POSTGRES, marks=whole_only)], indirect=True
)

# Opened again it is the same one.
NewDatabase = Callable[[], Database]


def make_tables(url: str) -> None:
    async def migrate() -> None:
        database = PostgresDatabase(url)
        await database.open()
        await database.close()

    # Who asks may be on an event loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(migrate())).result()


def with_tables(postgres: Postgres) -> str:
    """The name of a new database that has all tables."""
    return postgres.new_database(postgres.template("airboss", make_tables))


@contextmanager
def databases_on(postgres: Postgres) -> Generator[NewDatabase]:
    name = with_tables(postgres)
    try:
        yield lambda: PostgresDatabase(postgres.url(name))
    finally:
        postgres.drop(name)


def databases_in(folder: Path) -> AbstractContextManager[NewDatabase]:
    return nullcontext(lambda: SqliteDatabase(folder / "airboss.sqlite"))


def register_alone(connection: Connection, worker: str, place: str, version: str) -> None:
    """The only server on its database: whoever was there before counts as lost."""
    lost = update(workers).where(workers.c.state.in_(LIVING), workers.c.id != worker)
    connection.execute(lost.values(state="lost"))
    connection.execute(
        workers.insert().values(
            id=worker,
            place=place,
            name=socket.gethostname(),
            host=socket.gethostname(),
            pid=os.getpid(),
            version=version,
            state="alive",
        )
    )


async def as_the_only_server(database: Database, number: list[int]) -> Ownership:
    """The next server on this database; SQLite has always the same."""
    if isinstance(database, SqliteDatabase):
        return Ownership("here")
    number[0] += 1
    worker = f"wrk_{number[0]}"
    await database.write(lambda c: register_alone(c, worker, "plc_test", "test"))
    return Ownership(worker)


async def append_rows(database: Database, rows: Sequence[Row]) -> None:
    """Events as a server writes them, whatever they are."""

    def work(connection: Connection) -> None:
        known = connection.execute(select(workers.c.id)).first()
        if known is None:
            register_alone(connection, "wrk_rows", "plc_test", "test")
        for name in dict.fromkeys(row[0] for row in rows):
            seqs = [row[1] for row in rows if row[0] == name]
            wanted = select(streams.c.head).where(streams.c.stream == name)
            head = connection.execute(wanted).scalar()
            growth = Growth(name, min(seqs), max(seqs), 0, None if head is None else 1, head or 0)
            mine = [row for row in rows if row[0] == name]
            database.dialect.append(connection, Append("wrk_rows", [growth], mine))

    await database.write(work)


@asynccontextmanager
async def running_log(database: Database, folder: Path) -> AsyncGenerator[EventLog]:
    """The log of the one server on this database, which is open."""
    is_file = isinstance(database, SqliteDatabase)
    journal = Journal(folder / "deltas") if is_file else None
    ownership = await as_the_only_server(database, [0])
    async with EventLog(database, journal, ownership=ownership).running() as log:
        yield log
