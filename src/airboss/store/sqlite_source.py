"""A SQLite file that nobody writes, read from its first row to its last; and how to have such a
file without a touch to the one that it was."""

import shutil
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from airboss.errors import StoreUnavailable

# What SQLite keeps beside a file that was not closed. Its index in memory is made anew.
_BESIDE: Final = ("", "-wal", "-journal")
_ROOM: Final = 1.2
_AT_ONCE: Final = 2000


def files_of(path: Path) -> list[Path]:
    """The file, and what belongs to it."""
    found = (path.with_name(f"{path.name}{end}") for end in _BESIDE)
    return [file for file in found if file.is_file()]


def copy_files(files: Sequence[Path], target: Path) -> None:
    """Byte for byte, while nobody writes: opening the file itself could change it."""
    needed = sum(file.stat().st_size for file in files) * _ROOM
    free = shutil.disk_usage(target).free
    if free < needed:
        raise StoreUnavailable(
            f"A copy of the data needs {needed / 2**20:.0f} MiB in {target.parent}, and "
            f"{free / 2**20:.0f} MiB are free. Set TMPDIR to a folder with more room."
        )
    for file in files:
        try:
            shutil.copyfile(file, target / file.name)
        except OSError as error:
            said = error.strerror or error
            raise StoreUnavailable(f"{file} cannot be copied: {said}.") from error


class SqliteSource:
    """Its tables, as they are."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> "Generator[SqliteSource]":
        with closing(sqlite3.connect(path)) as file:
            yield cls(file)

    def tables(self) -> list[str]:
        asked = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        return [name for (name,) in self._file.execute(asked)]

    def columns(self, table: str) -> list[str]:
        asked = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
        return [name for (name,) in self._file.execute(asked, (table,))]

    def count(self, table: str) -> int:
        return self._file.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        named = ", ".join(f'"{name}"' for name in columns)
        yield from self.asked(f'SELECT {named} FROM "{table}"')  # noqa: S608 - names of tables

    def asked(self, statement: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        cursor = self._file.execute(statement, values)
        while some := cursor.fetchmany(_AT_ONCE):
            yield from some
