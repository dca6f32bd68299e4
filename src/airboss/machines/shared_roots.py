"""Folders that several machines have in common, proven by an id in a file at their top."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.errors import SettingsInvalid

MARK: Final = ".airboss-root"
_PREFIX: Final = "root_"


@dataclass(frozen=True)
class SharedRoots:
    """Each by its real path, with its id. Two machines have the same folder where both agree."""

    ids: dict[Path, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Of each: the same on another machine that has the same folder at the same path."""
        return tuple(_name(root, path) for path, root in self.ids.items())

    @classmethod
    def marked(cls, folders: Sequence[Path]) -> "SharedRoots":
        """Whoever comes to a folder first puts the mark there."""
        return cls({Path(os.path.realpath(folder)): _id_of(folder) for folder in folders})

    def root_of(self, cwd: str) -> str | None:
        """The name of the shared folder that this one lies in."""
        real = Path(os.path.realpath(cwd))
        found = [path for path in self.ids if real == path or path in real.parents]
        # The innermost: it may be the only one that another machine has.
        inner = max(found, key=lambda path: len(path.parts), default=None)
        return None if inner is None else _name(self.ids[inner], inner)


def _name(root: str, path: Path) -> str:
    return f"{root}:{path}"


def path_of(name: str) -> str:
    """Where the shared folder of this name is."""
    return name.partition(":")[2]


def _id_of(folder: Path) -> str:
    file = folder / MARK
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return _read(file)
    except OSError as error:
        raise SettingsInvalid(
            f"The shared folder {folder} cannot be marked: {error.strerror}. "
            f"Check that it exists, and that you can write the file {MARK} in it."
        ) from error
    made = f"{_PREFIX}{secrets.token_hex(12)}"
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        opened.write(f"{made}\n")
        opened.flush()
        os.fsync(opened.fileno())
    return made


def _read(file: Path) -> str:
    try:
        said = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        said = ""
    if not said.startswith(_PREFIX):
        raise SettingsInvalid(
            f"The file {file} is not a mark of Airboss, or was not written to its end. "
            "Delete it, and start every worker that uses this folder again."
        )
    return said
