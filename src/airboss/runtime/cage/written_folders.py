"""Which folders agents in cages could write: what lies there may be theirs, also in a later cage.

A shared clone says itself whose objects it borrows. An agent that could write that file would name
any other repository, and read it in the next cage. So a clone is believed only where none could.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FILE: Final = "cage-folders"
# Whether what says where objects are was closed there, so that only folders below it are open.
_OPEN, _CLOSED = b"o", b"c"


@dataclass(frozen=True)
class WrittenFolders:
    """Of one data folder. Paths are real ones."""

    data: Path

    def reach(self, folder: Path, part: str = "") -> bool:
        """Blocking. Whether some cage could write the repository that is in `folder`, or this part
        of it."""
        said = self._said()
        places = (folder / part, *(folder / part).parents)
        return any(_line(_OPEN, place) in said for place in places) or any(
            _line(_CLOSED, place) in said for place in places if place != folder
        )

    def note(self, folder: Path, *, is_closed: bool = False) -> None:
        """Blocking, before anything runs in there."""
        line = _line(_CLOSED if is_closed else _OPEN, folder)
        if line in self._said():
            return
        self.data.mkdir(parents=True, exist_ok=True)
        file = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, line + b"\0")
        finally:
            os.close(file)

    @property
    def _file(self) -> Path:
        return self.data / _FILE

    def _said(self) -> frozenset[bytes]:
        try:
            return frozenset(self._file.read_bytes().split(b"\0"))
        except FileNotFoundError:
            return frozenset()


def _line(kind: bytes, folder: Path) -> bytes:
    return kind + os.fsencode(folder)
