"""The engine's own file, beside one server's data.

SQLite commits each statement of DBOS's migrations by itself: a server that is killed between two of
them would leave a file that DBOS never opens again. So a copy is migrated, and put in its place.
"""

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from airboss.engine.dbos_internals import (
    FileRows,
    WorkflowRows,
    delete_open_parts,
    latest_schema,
    schema_of,
)
from airboss.errors import StoreUnavailable

FILE: Final = "engine.sqlite"
# Always the same: the lock on the data folder lets one server in, and it takes up what is open.
EXECUTOR: Final = "server"

T = TypeVar("T")


class Relaxed(sqlite3.Connection):
    """What is committed survives our death, and waits for no disk. A loss of power may take the
    last places of a run: it is played again from the one before, and the executor knows
    the rest."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.execute("PRAGMA synchronous=NORMAL")


def url_of(path: Path) -> str:
    return f"sqlite:///{quote(str(path))}"


@dataclass(frozen=True)
class LocalFile:
    """Looked into without DBOS: loading it takes half a second and 30 MB, and a server without jobs
    needs neither."""

    path: Path

    @property
    def executor(self) -> str:
        return EXECUTOR

    @property
    def queue(self) -> str | None:
        return None

    def config(self, threads: int) -> Mapping[str, Any]:
        return {
            "system_database_url": url_of(self.path),
            # A local file is always there, and needs no asking before each statement.
            "db_engine_kwargs": {
                "pool_pre_ping": False,
                "pool_size": threads + 4,
                "connect_args": {"factory": Relaxed},
            },
        }

    def prepare(self) -> None:
        """Only for the owner's eyes: what agents answer is in it. DBOS leaves the journal as it
        finds it, and SQLite's default makes readers wait for writers."""
        version = self._version()
        if version < latest_schema():
            self._migrate(keep=version > 0)
        with closing(sqlite3.connect(self.path, timeout=10)) as file:
            file.execute("PRAGMA journal_mode=WAL")
            with file:
                delete_open_parts(FileRows(file))

    def _version(self) -> int:
        """0 where nothing was kept yet, whatever tables there are."""
        if not self.path.exists():
            return 0
        with closing(sqlite3.connect(self.path, timeout=10)) as file:
            return schema_of(FileRows(file))

    def _migrate(self, *, keep: bool) -> None:
        from dbos import DBOS

        path = self.path
        draft = path.with_name(f"{path.name}.draft")
        for end in ("", "-journal", "-wal", "-shm"):
            draft.with_name(draft.name + end).unlink(missing_ok=True)
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT, 0o600))
        if path.exists():
            with closing(sqlite3.connect(path, timeout=10)) as old:
                # Takes back what lies beside the file: it must not be found beside the new one.
                old.execute("PRAGMA journal_mode=DELETE")
                if keep:
                    with closing(sqlite3.connect(draft)) as new:
                        old.backup(new)
        DBOS.migrate(url_of(draft))
        draft.replace(path)

    def close(self) -> None:
        """Each question opens the file, and closes it."""

    def asked(
        self, ask: Callable[[WorkflowRows], T], unknown: T, *, is_frequent: bool = False
    ) -> T:
        del is_frequent
        if not self.path.exists():
            return unknown
        try:
            with closing(sqlite3.connect(self.path, timeout=10)) as file, file:
                return ask(FileRows(file))
        except sqlite3.Error as error:
            raise self._told(error) from error

    def in_words(self, error: BaseException) -> StoreUnavailable | None:
        trouble = getattr(error, "orig", error)
        return self._told(trouble) if isinstance(trouble, OSError | sqlite3.Error) else None

    def _told(self, trouble: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"The engine's database {self.path} cannot be used: {trouble}. "
            "Check its disk and its rights, then try again."
        )
