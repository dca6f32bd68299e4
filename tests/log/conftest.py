"""A log on a real database in a folder of its own."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.store.database import Database

OpenLog = Callable[[], AbstractAsyncContextManager[EventLog]]


@contextlib.asynccontextmanager
async def log_in(folder: Path) -> AsyncGenerator[EventLog]:
    """A server's log on this folder, from its start to its clean end."""
    database = Database(folder / "airboss.sqlite")
    await database.open()
    try:
        async with EventLog(database, Journal(folder / "deltas")).running() as running:
            yield running
    finally:
        await database.close()


@pytest.fixture
def open_log(tmp_path: Path) -> OpenLog:
    """Opens the log of one and the same folder, again and again."""
    return lambda: log_in(tmp_path)


@pytest.fixture
async def log(open_log: OpenLog) -> AsyncGenerator[EventLog]:
    async with open_log() as running:
        yield running
