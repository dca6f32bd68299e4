"""Places that no agent reads or changes without a person's word: where secrets of the server lie.

Compared are files, not spellings: links are followed, and a folder that goes by two names (another
case where the disk does not mind, a bind mount, /proc/self/root) is the same folder. A hard link to
a file, and a bind mount below the folder that is searched, are not found.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from airboss.harness.patterns import plain
from airboss.model.rules import Rule
from airboss.runtime.permission import PermissionRequest

_Identity: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Touched:
    """What a request would touch, and which path of the request does. From `above` it would be gone
    through by a listing or a search. The path is None where nobody can tell it."""

    place: Path
    path: Path | None
    above: bool = False


@dataclass(frozen=True)
class Protected:
    """The places, as real paths."""

    places: tuple[Path, ...] = ()

    def touched(self, paths: Iterable[str | None], own: Sequence[Path] = ()) -> tuple[Touched, ...]:
        """By what is done at these real paths. What is `own` is free, wherever it lies."""
        disk = _Disk()
        known = [_Place(place, disk) for place in self.places]
        found = (_touched(path, known, own, disk) for path in paths if known)
        return tuple(one for one in found if one)


NOTHING: Final = Protected()


class _Disk:
    """Files and folders as the disk knows them, looked up once for one question: the places have
    most of their parents in common, and the next question finds what has changed."""

    def __init__(self) -> None:
        self._seen: dict[str, _Identity | None] = {}

    def identity(self, path: str) -> _Identity | None:
        if path not in self._seen:
            try:
                found = os.stat(path)
            except (OSError, ValueError):
                self._seen[path] = None
            else:
                self._seen[path] = found.st_dev, found.st_ino
        return self._seen[path]

    def line(self, path: str) -> frozenset[_Identity]:
        """The file or folder and those above it; what is not there is left out."""
        found: set[_Identity] = set()
        while True:
            if (one := self.identity(path)) is not None:
                found.add(one)
            above = os.path.dirname(path)
            if above == path:
                return frozenset(found)
            path = above


class _Place:
    def __init__(self, path: Path, disk: _Disk) -> None:
        self.path = path
        self.identity = disk.identity(str(path))
        # One that is not there cannot be gone through.
        self.line = frozenset[_Identity]() if self.identity is None else disk.line(str(path))


def _touched(
    path: str | None, known: list[_Place], own: Sequence[Path], disk: _Disk
) -> Touched | None:
    if path is None:
        return Touched(known[0].path, None)
    real = Path(path)
    if is_inside(real, own):
        return None
    identity, line = disk.identity(str(real)), disk.line(str(real))
    for place in known:
        if real.is_relative_to(place.path) or place.identity in line:
            return Touched(place.path, real)
    above = (place.path for place in known if identity in place.line)
    return next((Touched(place, real, above=True) for place in above), None)


def is_inside(real: Path, places: Iterable[Path]) -> bool:
    return any(real.is_relative_to(place) for place in places)


def names(rule: Rule, request: PermissionRequest, touched: Iterable[Touched], cwd: Path) -> bool:
    """Whether the rule speaks of exactly this, without `*` or `?`. What lies above a place is not
    the place: no rule names that."""
    if request.kind == "shell":
        return rule.command is not None and plain(rule.command) == request.command
    path = None if rule.path is None or rule.wish != request.kind else plain(rule.path)
    if path is None:
        return False
    meant = Path(os.path.join(cwd, path))
    return all(not one.above and one.path == meant for one in touched)
