"""The files of an extension's folder, within bounds, and the one digest that stands for them."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

MOST_FILES: Final = 200
MOST_BYTES: Final = 5 * 1024 * 1024
# Python writes it beside what it imports, and runs it in place of that. It is passed over in the
# folder of an extension, and not copied either; in a copy there should be none.
BYTECODE: Final = "__pycache__"
_CAREFULLY: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_MEBIBYTES: Final = MOST_BYTES // 2**20

Stamp: TypeAlias = tuple[str, int, int, int, int]


class Unusable(Exception):
    """Why the folder cannot be an extension, in words for a person."""


@dataclass(frozen=True)
class Survey:
    """Which files there are, by their path in the folder, and what shows that one has changed."""

    stamps: tuple[Stamp, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(stamp[0] for stamp in self.stamps)

    @property
    def newest_ns(self) -> int:
        return max((stamp[4] for stamp in self.stamps), default=0)


@dataclass(frozen=True)
class Content:
    """Every file's bytes, by its path in the folder, in the order of the paths."""

    files: tuple[tuple[str, bytes], ...]

    @cached_property
    def digest(self) -> str:
        """Of each path and its bytes, with their lengths: no two contents are the same text."""
        whole = sha256()
        for path, content in self.files:
            name = path.encode()
            whole.update(b"%d:%d:" % (len(name), len(content)))
            whole.update(name)
            whole.update(content)
        return whole.hexdigest()


def survey(folder: Path, *, is_copy: bool = False) -> Survey:
    """Without reading a file. Blocking. Raises `Unusable`."""
    real = os.path.realpath(folder)
    found: list[Stamp] = []
    size = 0
    for path, said in _walk(real, "" if is_copy else BYTECODE):
        size += said.st_size
        found.append((path, said.st_ino, said.st_size, said.st_mtime_ns, said.st_ctime_ns))
        if len(found) > MOST_FILES:
            raise Unusable(f"The folder has more than {MOST_FILES} files.")
        if size > MOST_BYTES:
            raise Unusable(f"The folder has more than {_MEBIBYTES} MiB.")
    return Survey(tuple(sorted(found)))


def read(folder: Path, *, is_copy: bool = False) -> Content:
    """All of it, once: what is hashed is what is copied. Blocking. Raises `Unusable`."""
    left = MOST_BYTES
    found: list[tuple[str, bytes]] = []
    for path in survey(folder, is_copy=is_copy).files:
        content = _content(folder, path, left)
        left -= len(content)
        found.append((path, content))
    return Content(tuple(found))


def _walk(top: str, passed_over: str) -> Iterator[tuple[str, os.stat_result]]:
    """Each file below the folder. Folders count as files do, so that this ends."""
    waiting, folders = [""], 0
    while waiting:
        at = waiting.pop()
        try:
            with os.scandir(os.path.join(top, at)) as entries:
                for entry in entries:
                    path = f"{at}{entry.name}"
                    if entry.is_symlink():
                        yield _named(path), _linked(top, path)
                    elif entry.is_dir():
                        folders += entry.name != passed_over
                        if folders > MOST_FILES:
                            raise Unusable(f"The folder has more than {MOST_FILES} folders in it.")
                        if entry.name != passed_over:
                            waiting.append(f"{_named(path)}/")
                    else:
                        yield _named(path), _plain(path, entry.stat(follow_symlinks=False))
        except OSError as error:
            raise Unusable(f"{at or 'The folder'} cannot be read: {error.strerror}.") from None


def _named(path: str) -> str:
    """A name that can be shown. Others are refused: a person has to read what is trusted."""
    if not path.isprintable():
        shown = path.encode("utf-8", "backslashreplace").decode()
        raise Unusable(f"A file has a name that cannot be shown: {shown!r}.")
    return path


def _plain(path: str, said: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(said.st_mode):
        raise Unusable(f"{path} is not a file.")
    return said


def _linked(top: str, path: str) -> os.stat_result:
    link = os.path.join(top, path)
    target = os.path.realpath(link)
    if not target.startswith(f"{top}{os.sep}"):
        raise Unusable(f"{path} is a link that leads out of the folder.")
    try:
        said = os.stat(target)
    except OSError:
        raise Unusable(f"{path} is a link that leads nowhere.") from None
    if stat.S_ISDIR(said.st_mode):
        raise Unusable(f"{path} is a link to a folder. Only files may be linked.")
    return _plain(path, said)


def _content(folder: Path, path: str, left: int) -> bytes:
    top = os.path.realpath(folder)
    place = os.path.realpath(os.path.join(top, path))
    if not place.startswith(f"{top}{os.sep}"):  # it has become a link meanwhile
        raise Unusable(f"{path} is a link that leads out of the folder.")
    try:
        # Opening a pipe waits for its other end, unless one asks not to.
        descriptor = os.open(place, os.O_RDONLY | _CAREFULLY)
        with os.fdopen(descriptor, "rb") as opened:
            _plain(path, os.fstat(descriptor))
            content = opened.read(left + 1)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}.") from None
    if len(content) > left:
        raise Unusable(f"The folder has more than {_MEBIBYTES} MiB.")
    return content
