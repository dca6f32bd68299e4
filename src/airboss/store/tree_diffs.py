"""What differs between two trees that were kept in git. Reads objects only; nothing is written."""

import contextlib
import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from airboss.store.git_trees import (
    Clock,
    NotKept,
    bare_repository,
    find_repository,
    plain_environ,
    run_git,
)

How = Literal["created", "edited", "deleted"]

_HOWS: Final[dict[str, How]] = {"A": "created", "D": "deleted"}
_MOST_LISTED: Final = 16 * 1024 * 1024
_MOST_DIFF: Final = 8 * 1024 * 1024
# Attributes and drivers of the repository are not looked at: they name programs.
_PLAIN: Final = ("-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(frozen=True)
class TreePlace:
    """A tree, and the folder whose repository has it."""

    folder: Path
    tree: str


@dataclass(frozen=True)
class DifferentFile:
    """A file that differs. Of one that is no text no lines are counted."""

    path: str
    how: How
    added: int
    removed: int
    is_text: bool = True


def list_differences(before: TreePlace, after: TreePlace) -> list[DifferentFile]:
    """Blocking. Raises `NotKept` where a tree is not there any more."""
    if before.tree == after.tree:
        return []
    clock = Clock()
    with _objects_of(before, after, clock) as (folder, environ):
        command = ("diff-tree", *_PLAIN, "-z", "--raw", "--numstat", before.tree, after.tree)
        said = run_git(command, folder, environ, clock, most=_MOST_LISTED)
    return _read_list([os.fsdecode(part) for part in said.split(b"\0")])


def write_diff(before: TreePlace, after: TreePlace, paths: Sequence[str]) -> dict[str, str]:
    """The unified diff of each of these files. Blocking; as much of it as is within bounds."""
    clock = Clock()
    diffs: dict[str, str] = {}
    with _objects_of(before, after, clock) as (folder, environ):
        for path in paths:
            command = ("diff-tree", *_PLAIN, "-p", before.tree, after.tree, "--", path)
            said = run_git(command, folder, environ, clock, most=_MOST_DIFF)
            diffs[path] = said.decode(errors="replace")
    return diffs


@contextlib.contextmanager
def _objects_of(
    before: TreePlace, after: TreePlace, clock: Clock
) -> Generator[tuple[Path, dict[str, str]]]:
    one = find_repository(before.folder, clock)
    other = one
    if before.folder != after.folder:
        other = find_repository(after.folder, clock)
    for repository in (one, other):
        if foreign := repository.foreign:
            raise NotKept(f"Nothing is read from this repository: {foreign}.")
    if one.object_format != other.object_format:
        raise NotKept("The repositories name their objects in different ways.")
    with bare_repository(one.object_format) as own:
        yield (
            own,
            plain_environ()
            | {
                "GIT_DIR": str(own),
                "GIT_OBJECT_DIRECTORY": str(one.objects),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(other.objects),
            },
        )


def _quoted(path: Path) -> str:
    """As git reads a list of paths: a colon would end one."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _read_list(parts: list[str]) -> list[DifferentFile]:
    """First a line and a path for each file; then its counts, with the path behind them."""
    hows: dict[str, How] = {}
    files: list[DifferentFile] = []
    place = 0
    while place < len(parts):
        part = parts[place]
        if part.startswith(":") and place + 1 < len(parts):
            hows[parts[place + 1]] = _HOWS.get(part.rsplit(" ", 1)[-1][:1], "edited")
            place += 2
            continue
        place += 1
        added, _, rest = part.partition("\t")
        removed, tab, path = rest.partition("\t")
        if tab:
            files.append(_counted(added, removed, path, hows.get(path, "edited")))
    return files


def _counted(added: str, removed: str, path: str, how: How) -> DifferentFile:
    if added == "-":
        return DifferentFile(path, how, 0, 0, is_text=False)
    return DifferentFile(path, how, int(added), int(removed))
