"""DBOS's own file, looked into without DBOS: loading it takes half a second and 30 MB, and a
server without jobs needs neither."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import StoreUnavailable

_OPEN = "status IN ('PENDING', 'ENQUEUED')"
# From `run.` and `run~` to the characters behind these.
_OF_RUN = (
    "workflow_uuid = :run OR workflow_uuid >= :run || '.' AND workflow_uuid < :run || '/' "
    "OR workflow_uuid >= :run || '~' AND workflow_uuid < :run || char(127)"
)
_TABLES_OF_RUNS = (
    "SELECT kept.name FROM sqlite_master AS kept, pragma_table_info(kept.name) AS field "
    "WHERE kept.type = 'table' AND field.name = 'workflow_uuid'"
)


@dataclass(frozen=True)
class Ledger:
    """Every call reads or writes the disk: none belongs on the event loop."""

    path: Path

    def knows(self, run: str) -> bool:
        return self._has("workflow_uuid = ?", run)

    def has_open(self, run: str | None = None) -> bool:
        if run is None:
            return self._has(_OPEN)
        return self._has(f"workflow_uuid = ? AND {_OPEN}", run)

    def has_queued(self) -> bool:
        return self._has("status = 'ENQUEUED'")

    def forget(self, run: str) -> None:
        """All rows of a run that has ended, of each time that it was tried, with all that it
        started: those are named by the run's name and a path."""
        if not self.path.exists():
            return
        try:
            with closing(sqlite3.connect(self.path, timeout=10)) as file, file:
                # DBOS has no foreign keys between these; a table that it adds is found as well.
                for (table,) in file.execute(_TABLES_OF_RUNS).fetchall():
                    ours = f'DELETE FROM "{table}" WHERE {_OF_RUN}'  # noqa: S608 - the file's own names
                    file.execute(ours, {"run": run})
        except sqlite3.Error as error:
            raise self.in_words(error) from error

    def _has(self, condition: str, *values: str) -> bool:
        if not self.path.exists():
            return False
        table = "SELECT 1 FROM sqlite_master WHERE name = 'workflow_status'"
        row = f"SELECT 1 FROM workflow_status WHERE {condition} LIMIT 1"  # noqa: S608
        try:
            with closing(sqlite3.connect(self.path, timeout=10)) as file:
                if file.execute(table).fetchone() is None:
                    return False
                return file.execute(row, values).fetchone() is not None
        except sqlite3.Error as error:
            raise self.in_words(error) from error

    def in_words(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"The engine's database {self.path} cannot be used: {error}. "
            "Check its disk and its rights, then try again."
        )
