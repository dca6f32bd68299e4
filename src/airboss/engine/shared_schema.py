"""The engine's tables in a database that several machines share: the schema `dbos`, beside ours."""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import psycopg

from airboss.engine.dbos_internals import (
    SchemaRows,
    WorkflowRows,
    latest_shared_schema,
    quiet_log,
    schema_of,
)
from airboss.errors import StoreAway, StoreUnavailable
from airboss.store.postgres_connection import (
    Watchdog,
    connect,
    engine_options,
    is_away,
    sentence,
)

SCHEMA: Final = "dbos"
# Beside those of the store: DBOS's own threads have their turn at so many. One more listens.
_CONNECTIONS: Final = 4
_SECONDS: Final = 5

T = TypeVar("T")

# Behind a line that swallows everything no timeout of the server's is heard.
_WATCHDOG: Final = Watchdog()


@dataclass(frozen=True)
class EngineSchema:
    """How far the engine's tables have come, and how far this Airboss knows the way. 0: none."""

    number: int
    latest: int

    @classmethod
    def at(cls, url: str) -> "EngineSchema":
        number = SharedSchema(url, "", "").asked(schema_of, 0)
        return cls(number, latest_shared_schema(SCHEMA))

    @property
    def is_behind(self) -> bool:
        return self.number < self.latest


def migrate_engine(url: str) -> None:
    """Blocks. Whoever comes second waits, and finds nothing left to do."""
    from dbos import DBOS

    quiet_log()
    try:
        DBOS.migrate(url, schema=SCHEMA)
    except Exception as error:
        said = SharedSchema(url, "", "").in_words(error)
        raise said or error from error


class _KeptLine:
    """One connection for what is asked again and again, in whatever thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        # Once there, they stay.
        self.has_tables = False

    @contextmanager
    def opened(self, url: str, options: str) -> "Generator[psycopg.Connection[Any]]":
        """One transaction; after trouble the next one has a new connection."""
        with self._lock:
            connection = self._connection
            if connection is None or connection.closed:
                connection = connect(url, options=options, connect_timeout=_SECONDS)
                self._connection = connection
            try:
                with _WATCHDOG.guard(connection), connection.transaction():
                    yield connection
            except BaseException:
                self._let_go()
                raise

    def close(self) -> None:
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


@dataclass(frozen=True)
class SharedSchema:
    """`worker` is this process, `place` the data folder that it has: the same after a restart."""

    url: str
    worker: str
    place: str
    _line: _KeptLine = field(default_factory=_KeptLine, compare=False, repr=False)

    @property
    def executor(self) -> str:
        return self.worker

    @property
    def queue(self) -> str | None:
        return f"at:{self.place}"

    def config(self, threads: int) -> Mapping[str, Any]:
        del threads
        return {
            "system_database_url": self.url,
            "dbos_system_schema": SCHEMA,
            "sys_db_idle_transaction_timeout_sec": _SECONDS,
            "db_engine_kwargs": {
                "pool_pre_ping": True,
                "pool_size": _CONNECTIONS,
                "max_overflow": 0,
                "connect_args": {
                    "connect_timeout": _SECONDS,
                    "keepalives_idle": _SECONDS,
                    "keepalives_interval": 1,
                    "keepalives_count": 3,
                    # What was sent and is not acknowledged: keepalives do not look at that.
                    "tcp_user_timeout": 2 * _SECONDS * 1000,
                    "application_name": "airboss engine",
                    "options": engine_options(self.url),
                },
            },
        }

    def prepare(self) -> None:
        """DBOS makes its tables itself, one process at a time."""

    def asked(
        self, ask: Callable[[WorkflowRows], T], unknown: T, *, is_frequent: bool = False
    ) -> T:
        try:
            options = f"-c search_path={SCHEMA} -c statement_timeout={_SECONDS * 1000}"
            if is_frequent:
                with self._line.opened(self.url, options) as connection:
                    return self._answer(connection, ask, unknown)
            with (
                connect(self.url, options=options, connect_timeout=_SECONDS) as connection,
                _WATCHDOG.guard(connection),
            ):
                return self._answer(connection, ask, unknown)
        except psycopg.Error as error:
            raise self._told(error) from error

    def _answer(
        self, connection: "psycopg.Connection[Any]", ask: Callable[[WorkflowRows], T], unknown: T
    ) -> T:
        rows, line = SchemaRows(connection), self._line
        line.has_tables = line.has_tables or rows.has_tables()
        return ask(rows) if line.has_tables else unknown

    def close(self) -> None:
        self._line.close()

    def in_words(self, error: BaseException) -> StoreUnavailable | None:
        trouble = getattr(error, "orig", error)
        return self._told(trouble) if isinstance(trouble, OSError | psycopg.Error) else None

    def _told(self, trouble: BaseException) -> StoreUnavailable:
        kind = StoreAway if is_away(trouble) else StoreUnavailable
        return kind(
            f"The engine's tables in the database cannot be used: {sentence(trouble)} "
            "Check that the database runs and can be reached, then try again."
        )
