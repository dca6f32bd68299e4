"""DBOS's tables, made or brought up to date in one piece.

SQLite commits each statement of its migrations by itself: a server that is killed between two of
them would leave a file that DBOS never opens again. So a copy is migrated, and put in its place.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dbos import DBOS

from airboss.engine.dbos_internals import delete_open_parts, latest_schema, schema_of


def prepare(path: Path) -> None:
    """Only for the owner's eyes: what agents answer is in it. DBOS leaves the journal as it finds
    it, and SQLite's default makes readers wait for writers."""
    version = _version(path)
    if version < latest_schema():
        _migrate(path, keep=version > 0)
    with closing(sqlite3.connect(path, timeout=10)) as file:
        file.execute("PRAGMA journal_mode=WAL")
        with file:
            delete_open_parts(file)


class Relaxed(sqlite3.Connection):
    """What is committed survives our death, and waits for no disk. A loss of power may take the
    last places of a run: it is played again from the one before, and the executor knows
    the rest."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.execute("PRAGMA synchronous=NORMAL")


def url_of(path: Path) -> str:
    return f"sqlite:///{quote(str(path))}"


def _version(path: Path) -> int:
    """0 where nothing was kept yet, whatever tables there are."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=10)) as file:
        return schema_of(file)


def _migrate(path: Path, *, keep: bool) -> None:
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
