"""One PostgreSQL for many machines: a connection a thread, and patience while it is away."""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final, TypeVar, cast

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from airboss.errors import StoreAway, StoreUnavailable
from airboss.patience import is_ending, patience
from airboss.store.database import Database
from airboss.store.dialect import is_proven, note_proven
from airboss.store.notices import Heard, NoticeLine
from airboss.store.ownership import NOT_WRITTEN, Ownership
from airboss.store.postgres_connection import (
    CALL_SECONDS,
    IN_DOUBT,
    Watchdog,
    connect,
    in_words,
    is_refused,
    options_of,
    refuse_old,
    sentence,
    state_of,
)
from airboss.store.postgres_dialect import PostgresDialect, driver_of
from airboss.store.postgres_migrations import MIGRATING_SECONDS, migrate
from airboss.store.postgres_notices import PostgresNotices
from airboss.store.postgres_poolers import REFUSED, is_poolers_refusal, refuse_pooler
from airboss.store.postgres_proof import WorkerLost, prove
from airboss.store.view_rows import stored

T = TypeVar("T")

_log = logging.getLogger(__name__)

# So soon it is asked again: a plain loop is back at once when the database is.
_AGAIN_SECONDS: Final = 0.1
_START_SECONDS: Final = 0.5
_STATUS: Final = "SELECT pg_xact_status(CAST(%s AS text)::xid8)"
_SLOW: Final = "The database does not answer. Try again in a moment."
_SLOW_IN_DOUBT: Final = f"The database does not answer. {IN_DOUBT}"
# A statement that takes too long may have waited for another one; so often it did not.
_MOST_CANCELED: Final = 5
_CANCELED: Final = "57014"
_UNKNOWN_NUMBER: Final = "22023"
_TOO_LONG: Final = (
    "The database takes too long for this, each time. Look at its load, then try again."
)


class PostgresDatabase(Database):
    """Without a pool: after a restart one gave out each dead connection once."""

    dialect = PostgresDialect()

    def __init__(self, url: str, call_seconds: float = CALL_SECONDS) -> None:
        super().__init__()
        self._url = url
        self._call_seconds = call_seconds
        self._watchdog = Watchdog()
        self._heard_at = time.monotonic()
        self._ownership: Ownership | None = None

    @cached_property
    def _engine(self) -> Engine:
        engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: connect(self._url),
            poolclass=NullPool,
            hide_parameters=True,  # what people said is not for the server's own log
            use_native_hstore=False,  # else each connection asks for that type
            execution_options={"keeps_parts": True},
        )
        event.listen(engine, "before_cursor_execute", _clean, retval=True)
        return engine

    async def open(self) -> None:
        try:
            options_of(self._url)
            await self._wait_for_it()
            await self._in(self._writer, self._migrate)
        except BaseException:
            await self.close()
            raise

    @property
    def silence(self) -> float | None:
        return time.monotonic() - self._heard_at

    def write_as(self, ownership: Ownership) -> None:
        """From now on each transaction that writes proves that this worker lives."""
        self._ownership = ownership

    def notice_line(self, heard: Heard) -> NoticeLine | None:
        return PostgresNotices(self._url, self._watchdog, heard)

    async def _wait_for_it(self) -> None:
        told = ""
        while True:
            try:
                return await asyncio.to_thread(self._try_to_connect)
            except StoreAway as away:
                if is_ending():
                    raise
                if str(away) != told:
                    told = str(away)
                    _log.warning("Waiting for the database. %s", away)
            await asyncio.sleep(_START_SECONDS)

    def _try_to_connect(self) -> None:
        try:
            with connect(self._url, autocommit=True) as connection:
                refuse_pooler(connection, self._url)
                refuse_old(connection)
        except psycopg.Error as error:
            if is_poolers_refusal(error):
                raise StoreUnavailable(REFUSED) from error
            if is_refused(error):
                raise StoreUnavailable(
                    f"The database does not let Airboss in: {sentence(error)} Check its address, "
                    "its role and its password (AIRBOSS_DATABASE, or PGPASSFILE), then start again."
                ) from error
            raise in_words(error) or error from error

    def _migrate(self) -> None:
        self._transact(migrate, reads=False, seconds=MIGRATING_SECONDS)

    async def write(self, work: Callable[[Connection], T]) -> T:
        doubtful: list[tuple[str, T]] = []

        def noted(connection: Connection) -> T:
            result = work(connection)
            number = prove(connection, self._worker)
            if number is not None:
                doubtful[:] = [(number, result)]
            return result

        async def attempt() -> T:
            if doubtful:
                number, result = doubtful[0]
                try:
                    status = await self.try_write(lambda c: status_of(c, number))
                except StoreAway as away:
                    raise StoreAway(_SLOW_IN_DOUBT, in_doubt=True) from away
                if status == "committed":
                    return result
                if status == "in progress":
                    raise StoreAway(_SLOW_IN_DOUBT, in_doubt=True)
                doubtful.clear()
            try:
                return await self.try_write(noted)
            except StoreAway as away:
                if not away.in_doubt:
                    doubtful.clear()
                raise

        return await self._patiently(attempt)

    async def try_write(self, work: Callable[[Connection], T]) -> T:
        try:
            return await super().try_write(work)
        except WorkerLost as lost:
            if self._ownership is not None:
                self._ownership.tell(lost)
            raise StoreUnavailable(NOT_WRITTEN.format(error=lost)) from lost

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._patiently(lambda: self.try_read(work))

    async def _patiently(self, attempt: Callable[[], Any]) -> Any:
        seconds = patience()
        until = None if seconds is None else time.monotonic() + seconds
        canceled = 0
        while True:
            try:
                return await attempt()
            except StoreAway as away:
                canceled += state_of(away.__cause__ or away) == _CANCELED
                if canceled >= _MOST_CANCELED:
                    raise StoreUnavailable(_TOO_LONG) from away
                is_late = until is not None and time.monotonic() + _AGAIN_SECONDS > until
                if is_late or is_ending():
                    raise
            self._must_be_open()
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _in(self, threads: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        """Whoever has no patience does not wait for a thread that is held up, either."""
        self._must_be_open()
        begun = threads.submit(call)
        asked = asyncio.wrap_future(begun)
        await asyncio.wait({asked}, timeout=patience())
        if not asked.done():
            is_begun = not begun.cancel()
            asked.add_done_callback(_ignored)
            in_doubt = is_begun and threads is self._writer
            raise StoreAway(_SLOW_IN_DOUBT if in_doubt else _SLOW, in_doubt=in_doubt)
        return await asked

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._transact(work, reads=True, seconds=self._call_seconds)

    @property
    def _worker(self) -> str | None:
        return None if self._ownership is None else self._ownership.worker

    def _write(self, work: Callable[[Connection], T]) -> T:
        def proven(connection: Connection) -> T:
            note_proven(connection, proven=False)
            result = work(connection)
            if self._worker is not None and not is_proven(connection):
                prove(connection, self._worker)
            return result

        return self._transact(proven, reads=False, seconds=self._call_seconds)

    def _transact(self, work: Callable[[Connection], T], *, reads: bool, seconds: float) -> T:
        is_committing = False
        try:
            connection = self._connection_for(reads=reads)
            driver = driver_of(connection)
            with self._watchdog.guard(driver, seconds):
                result = work(connection)
                is_committing = not reads
                # What SQLAlchemy has not heard of, since it was said to the driver, is the driver's
                # to commit.
                connection.commit()
                driver.commit()
        except BaseException as error:
            self._roll_back()
            said = in_words(error, in_doubt=is_committing)
            if said is None:
                raise
            raise said from error
        self._heard_at = time.monotonic()
        return result

    def _connection_for(self, *, reads: bool) -> Connection:
        is_new = threading.get_ident() not in self._connections
        connection = self._connection()
        if is_new and reads:
            driver = driver_of(connection)
            # One state of the database, as whoever reads several tables expects it.
            driver.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            driver.read_only = True
        return connection

    def _roll_back(self) -> None:
        """Back to the beginning; a connection that cannot go there is given up for a new one."""
        connection = self._connections.get(threading.get_ident())
        if connection is None:
            return
        try:
            driver = driver_of(connection)
            if not driver.closed:
                with self._watchdog.guard(driver, 1):
                    connection.rollback()
                    driver.rollback()
            usable = not driver.closed
        except (psycopg.Error, SQLAlchemyError, OSError):
            usable = False
        if not usable:
            self._give_up_connection()

    async def close(self) -> None:
        await super().close()
        self._watchdog.close()


def _clean(
    _connection: Connection, _cursor: Any, statement: str, given: Any, *_: Any
) -> tuple[str, Any]:
    """Whoever asks with a character that PostgreSQL has in no text finds nothing by it."""
    return statement, _without_nul(given)


def _without_nul(given: Any) -> Any:
    if isinstance(given, str):
        return stored(given)
    if isinstance(given, dict):
        named = cast("dict[str, Any]", given)
        return {name: _without_nul(value) for name, value in named.items()}
    if isinstance(given, list | tuple):
        some = [_without_nul(value) for value in cast("Sequence[Any]", given)]
        return tuple(some) if isinstance(given, tuple) else some
    return given


def status_of(connection: Connection, number: str) -> str | None:
    """None of a number that the database does not know: its failover lost what was committed."""
    try:
        return connection.exec_driver_sql(_STATUS, (number,)).scalar()
    except SQLAlchemyError as error:
        if state_of(error) == _UNKNOWN_NUMBER:
            return None
        raise


def _ignored(asked: "asyncio.Future[Any]") -> None:
    with contextlib.suppress(asyncio.CancelledError):
        asked.exception()
