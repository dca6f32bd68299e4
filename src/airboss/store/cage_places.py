"""Whose each cage is, and how what it left is deleted: without following a link in it.

    cages/KEY/owner   the session or the task run that it is for
    cages/KEY/...     what agents wrote, among others

An agent may have made links, folders that nobody may read, and trees as deep as it liked.
"""

import contextlib
import itertools
import os
from collections.abc import Collection, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.errors import StoreUnavailable

# Of a command that is tried: the process follows.
TRIED: Final = "try-"
_CAGES: Final = "cages"
_OWNER: Final = "owner"
_STATES: Final = ("state", "session-state")
_LONGEST: Final = 200
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HANDLE: Final = getattr(os, "O_PATH", 0) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class CagePlaces:
    """Those of one data folder."""

    folder: Path

    @property
    def _cages(self) -> Path:
        return self.folder / _CAGES

    def owners(self) -> dict[str, str]:
        """By key. Of one that does not say whose it is, nobody knows whether it is needed."""
        try:
            keys = os.listdir(self._cages)
        except OSError:
            return {}
        said = {key: _read(self._cages / key / _OWNER) for key in keys}
        return {key: owner for key, owner in said.items() if owner}

    def forget(self, owners: Collection[str], sessions: Collection[str]) -> None:
        """The cages of these owners; and of those that stay, what the runtime keeps of sessions."""
        for key, owner in self.owners().items():
            if owner in owners:
                self.remove(key)
                continue
            for session in sessions:
                remove_below(self._cages / key, *_STATES, session)

    def remove(self, key: str) -> None:
        remove_below(self._cages, key)

    def left_over(self) -> tuple[str, ...]:
        """What somebody began to delete, and commands that were tried and ended in between."""
        try:
            keys = os.listdir(self._cages)
        except OSError:
            return ()
        return tuple(key for key in keys if "." in key or _is_of_the_dead(key))


def _is_of_the_dead(key: str) -> bool:
    pid = key.removeprefix(TRIED)
    return pid != key and pid.isdecimal() and not os.path.exists(f"/proc/{pid}")


def note_owner(cage: Path, owner: str) -> None:
    (cage / _OWNER).write_text(owner, encoding="utf-8")


def _read(file: Path) -> str:
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(number, _LONGEST).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    finally:
        os.close(number)


@contextlib.contextmanager
def entered(top: Path, *steps: str) -> Generator[int]:
    """The folder that these steps lead to from `top`, none of which is a link."""
    with contextlib.ExitStack() as opened:
        place = os.open(top, _FOLDER)
        opened.callback(os.close, place)
        for step in steps:
            place = os.open(step, _FOLDER, dir_fd=place)
            opened.callback(os.close, place)
        yield place


def remove_below(top: Path, *steps: str) -> None:
    """What these steps lead to, with all that is in it. What is not there, or behind a link, is
    removed already."""
    try:
        with entered(top, *steps[:-1]) as place:
            _remove(steps[-1], place)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StoreUnavailable(
            f"The files in {top.joinpath(*steps)} cannot be deleted: {error.strerror or error}. "
            "Fix the permissions of the data folder, then try again."
        ) from error


def _remove(name: str, place: int) -> None:
    """A folder in a folder is moved up beside the first one before it is emptied: so no tree is
    too deep."""
    left, numbers = [name], itertools.count()
    while left:
        one = left.pop()
        folder = _opened(one, place)
        if folder is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(one, dir_fd=place)
            continue
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        above = f"{name}.{os.getpid()}.{next(numbers)}"
                        _make_ours(entry.name, folder)
                        os.rename(entry.name, above, src_dir_fd=folder, dst_dir_fd=place)
                        left.append(above)
                    else:
                        os.unlink(entry.name, dir_fd=folder)
        finally:
            os.close(folder)
        os.rmdir(one, dir_fd=place)


def _opened(name: str, place: int) -> int | None:
    """None for what is no folder, or a link to one."""
    try:
        _make_ours(name, place)
        return os.open(name, _FOLDER, dir_fd=place)
    except (NotADirectoryError, FileNotFoundError):
        return None


def _make_ours(name: str, place: int) -> None:
    """A folder that its owner may not read or change cannot be emptied, nor moved."""
    number = os.open(name, _HANDLE, dir_fd=place)
    try:
        if _HANDLE & getattr(os, "O_PATH", 0):
            os.chmod(f"/proc/self/fd/{number}", 0o700)
    finally:
        os.close(number)
