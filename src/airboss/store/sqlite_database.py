"""One SQLite file in a data folder."""

import asyncio
import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from airboss.errors import StoreUnavailable
from airboss.store.database import Database
from airboss.store.sqlite_dialect import SqliteDialect, driver_of
from airboss.store.sqlite_migrations import migrate

T = TypeVar("T")

# A log that readers never let shrink is written back by force when it is larger than this.
_LARGEST_WAL = 64 * 1024 * 1024
_LOOK_EVERY_WRITES = 100

# What SQLite says when the trouble is outside, and what helps. Anything else is a fault of ours.
_ADVICE = {
    "SQLITE_FULL": "Free some space on its disk",
    "SQLITE_IOERR": "Check that its disk works and has free space",
    "SQLITE_READONLY": "Make the data folder writable, or choose another with --data",
    "SQLITE_CANTOPEN": "Check that the data folder exists and that you can write to it",
    "SQLITE_PERM": "Check the owner and permissions of the data folder",
    "SQLITE_AUTH": "Check the owner and permissions of the data folder",
    "SQLITE_BUSY": "Close the other program that has it open",
    "SQLITE_LOCKED": "Close the other program that has it open",
    "SQLITE_PROTOCOL": "Close the other program that has it open",
    "SQLITE_CORRUPT": "It is damaged: stop the server, restore a backup or move the file",
    "SQLITE_NOTADB": "It is damaged: stop the server, restore a backup or move the file",
    "SQLITE_NOMEM": "Give the server more memory",
}


def _set_pragmas(connection: Any, _record: Any) -> None:
    # The driver must not open transactions by itself: ours begin with BEGIN IMMEDIATE.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        cursor.execute("PRAGMA busy_timeout=10000")
        cursor.execute("PRAGMA journal_mode=WAL")
        # Every commit reaches the disk: an answer means "this survives a loss of power".
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA journal_size_limit=16777216")
        cursor.execute("PRAGMA temp_store=MEMORY")
    finally:
        cursor.close()
    connection.create_function("folded", 1, _folded, deterministic=True)


def _folded(text: str | None) -> str | None:
    return text and text.casefold()


def _in_words(path: Path, error: BaseException) -> StoreUnavailable | None:
    cause = error.orig if isinstance(error, DatabaseError) else error
    code: str = getattr(cause, "sqlite_errorname", "")
    advice = next((words for name, words in _ADVICE.items() if code.startswith(name)), None)
    if advice is None:
        return None
    return StoreUnavailable(
        f"The database {path} cannot be used: {cause}. {advice}, then try again."
    )


class SqliteDatabase(Database):
    """It is on this machine: never away, and no commit of it is in doubt."""

    dialect = SqliteDialect()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._writes = 0

    @cached_property
    def _engine(self) -> Engine:
        # Never made by a connection: where the data folder has left, a new one would find an empty
        # database there instead of an error.
        file = URL.create(
            "sqlite", database=self.path.absolute().as_uri(), query={"mode": "rw", "uri": "true"}
        )
        engine = create_engine(
            file,
            poolclass=NullPool,
            hide_parameters=True,  # what people said is not for the server's own log
            connect_args={"check_same_thread": False},
        )
        event.listen(engine, "connect", _set_pragmas)
        return engine

    async def open(self) -> None:
        try:
            await asyncio.to_thread(self._make_private)
            await self.write(migrate)
        except BaseException:
            await self.close()
            raise

    def _make_private(self) -> None:
        """What people say to agents is for the owner's eyes; SQLite gives its other files the same
        rights."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StoreUnavailable(
                f"The database {self.path} cannot be opened: {error.strerror}. "
                "Free some space, fix its permissions, or choose another data folder with --data."
            ) from error

    def _roll_back(self) -> None:
        """Back to the beginning; a connection that cannot go there is given up for a new one."""
        connection = self._connections.get(threading.get_ident())
        if connection is None:
            return
        try:
            connection.rollback()
            driver = driver_of(connection)
            driver.rollback()
            usable = not driver.in_transaction
        except (DatabaseError, sqlite3.Error):
            usable = False
        if not usable:
            self._give_up_connection()

    def _transact(self, begin: str, work: Callable[[Connection], T]) -> T:
        try:
            connection = self._connection()
            driver = driver_of(connection)
            driver.execute(begin)
            result = work(connection)
            # Inside the try: a commit that a full disk refused is rolled back. What SQLAlchemy has
            # not heard of, since it was said to the driver, is the driver's to commit.
            connection.commit()
            driver.commit()
        except BaseException as error:
            self._roll_back()
            said = _in_words(self.path, error)
            if said is None:
                raise
            raise said from error
        return result

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._transact("BEGIN", work)

    def _write(self, work: Callable[[Connection], T]) -> T:
        result = self._transact("BEGIN IMMEDIATE", work)
        self._writes += 1
        if self._writes % _LOOK_EVERY_WRITES == 0:
            self._bound_the_wal()
        return result

    def _bound_the_wal(self) -> None:
        """SQLite empties its log only at a moment without readers, and there may be none."""
        wal = self.path.with_name(f"{self.path.name}-wal")
        with contextlib.suppress(OSError, DatabaseError):
            if wal.stat().st_size > _LARGEST_WAL:
                connection = self._connection()
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.commit()
