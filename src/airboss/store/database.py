"""Where everything is kept: one thread that writes, a few that read, and no SQL on the event loop.

Which database it is, only the modules `sqlite_*` and `postgres_*` know; what SQL they say otherwise
stands in `dialect.py`.
"""

import asyncio
import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from airboss.errors import StoreUnavailable
from airboss.store.dialect import Dialect
from airboss.store.notices import Heard, NoticeLine

T = TypeVar("T")
READERS = 4


class Database(ABC):
    """`write` is one transaction; what it returned is on disk."""

    dialect: Dialect

    def __init__(self) -> None:
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        self._connections: dict[int, Connection] = {}
        self._closed = False

    @property
    def silence(self) -> float | None:
        """For so many seconds it has answered nothing; None where nobody can be cut off from it."""
        return None

    @abstractmethod
    async def open(self) -> None:
        """With today's tables. A database that is away is waited for."""

    @cached_property
    @abstractmethod
    def _engine(self) -> Engine: ...

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Once, however often it has to be tried: while the database is away it is waited for, as
        long as whoever asks has patience."""
        return await self.try_write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """The same, of one state of the database."""
        return await self.try_read(work)

    async def try_write(self, work: Callable[[Connection], T]) -> T:
        """Without waiting: raises `StoreAway` where the database is away."""
        return await self._in(self._writer, lambda: self._write(work))

    async def try_read(self, work: Callable[[Connection], T]) -> T:
        return await self._in(self._readers, lambda: self._read(work))

    def notice_line(self, heard: Heard) -> NoticeLine | None:
        """To other processes on the same database, where there can be some."""
        return None

    @abstractmethod
    def _write(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    def _read(self, work: Callable[[Connection], T]) -> T: ...

    async def _in(self, threads: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        self._must_be_open()
        return await asyncio.get_running_loop().run_in_executor(threads, call)

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The database is closed: the server is stopping.")

    async def close(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._readers.shutdown(wait=True)
        self._writer.shutdown(wait=True)
        for connection in self._connections.values():
            with contextlib.suppress(DatabaseError):
                connection.close()
        self._connections.clear()
        self._engine.dispose()

    def _connection(self) -> Connection:
        """One connection a thread, kept: opening one costs more than most reads."""
        key = threading.get_ident()
        if key not in self._connections:
            self._connections[key] = self._engine.connect()
        return self._connections[key]

    def _give_up_connection(self) -> None:
        """For a new one."""
        connection = self._connections.pop(threading.get_ident(), None)
        if connection is not None:
            connection.invalidate()
            with contextlib.suppress(SQLAlchemyError):
                connection.close()
