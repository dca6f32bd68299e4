"""A log on a real database: each of those there are."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.store.ownership import Ownership
from airboss.store.sqlite_database import SqliteDatabase
from tests.databases import SQLITE, NewDatabase, as_the_only_server

OpenLog = Callable[[], AbstractAsyncContextManager[EventLog]]


@contextlib.asynccontextmanager
async def log_in(folder: Path) -> AsyncGenerator[EventLog]:
    """A server's log on this folder, from its start to its clean end."""
    database = SqliteDatabase(folder / "airboss.sqlite")
    await database.open()
    try:
        async with EventLog(database, Journal(folder / "deltas")).running() as running:
            yield running
    finally:
        await database.close()


@contextlib.asynccontextmanager
async def log_on(new_database: NewDatabase, number: list[int]) -> AsyncGenerator[EventLog]:
    """The log of the next server that has this database for itself."""
    database = new_database()
    await database.open()
    try:
        ownership: Ownership = await as_the_only_server(database, number)
        async with EventLog(database, None, ownership=ownership).running() as running:
            yield running
    finally:
        await database.close()


@pytest.fixture
def open_log(kept_in: str, tmp_path: Path, new_database: NewDatabase) -> OpenLog:
    """Opens one and the same log, again and again."""
    number = [0]
    return lambda: log_in(tmp_path) if kept_in == SQLITE else log_on(new_database, number)


@pytest.fixture
async def log(open_log: OpenLog) -> AsyncGenerator[EventLog]:
    async with open_log() as running:
        yield running
