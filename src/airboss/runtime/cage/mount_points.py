"""The way to a mount in folders that agents wrote: folders, each in the one before.

Whoever builds the next cage would follow a link on it, to make folders where that leads.
"""

import contextlib
import os
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HANDLE: Final = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC


def clear_way(folder: Path, place: Path, source: Path) -> None:
    """Blocking. To `place`, below `folder`, where `source` will be mounted. What stands in the way
    is removed, and what is missing made."""
    with contextlib.ExitStack() as opened:
        here = os.open(folder, _FOLDER)
        opened.callback(os.close, here)
        *steps, last = place.parts
        for step in steps:
            here = _entered(step, here)
            opened.callback(os.close, here)
        if source.is_dir():
            os.close(_entered(last, here))
        else:
            _make_file(last, here)


def _entered(step: str, place: int) -> int:
    with contextlib.suppress(FileExistsError):
        os.mkdir(step, 0o700, dir_fd=place)
    try:
        return os.open(step, _FOLDER, dir_fd=place)
    except PermissionError:
        _make_ours(step, place)
    except OSError:  # no folder, or a link to one
        os.unlink(step, dir_fd=place)
        os.mkdir(step, 0o700, dir_fd=place)
    return os.open(step, _FOLDER, dir_fd=place)


def _make_ours(step: str, place: int) -> None:
    """A folder that its owner may not enter."""
    handle = os.open(step, _HANDLE, dir_fd=place)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)
    finally:
        os.close(handle)


def _make_file(name: str, place: int) -> None:
    """Anew: who had it inside has nothing of the one that is covered."""
    with contextlib.suppress(FileNotFoundError, IsADirectoryError, PermissionError):
        os.unlink(name, dir_fd=place)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=place))
