"""The engine's file, looked into without DBOS: loading it takes half a second and 30 MB, and a
server without jobs needs neither."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from airboss.engine import dbos_internals
from airboss.errors import StoreUnavailable


@dataclass(frozen=True)
class EngineLedger:
    """Every call reads or writes the disk: none belongs on the event loop."""

    path: Path

    def knows(self, run: str) -> bool:
        return self._asked(lambda file: dbos_internals.has_workflow(file, run))

    def has_open(self, run: str | None = None) -> bool:
        return self._asked(lambda file: dbos_internals.has_open_workflow(file, run))

    def has_queued(self) -> bool:
        return self._asked(dbos_internals.has_queued_workflow)

    def forget(self, run: str) -> None:
        """All that is kept of a run that has ended."""

        def delete(file: sqlite3.Connection) -> bool:
            with file:
                dbos_internals.delete_workflows_of(file, run)
            return True

        self._asked(delete)

    def _asked(self, ask: Callable[[sqlite3.Connection], bool]) -> bool:
        """False where there is no file yet."""
        if not self.path.exists():
            return False
        try:
            with closing(sqlite3.connect(self.path, timeout=10)) as file:
                return ask(file)
        except sqlite3.Error as error:
            raise self.in_words(error) from error

    def in_words(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"The engine's database {self.path} cannot be used: {error}. "
            "Check its disk and its rights, then try again."
        )
