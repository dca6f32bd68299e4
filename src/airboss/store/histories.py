"""What the runtime keeps of a session, taken from one folder of its sessions to another.

One of both is in a cage, where an agent may put links and files that are long and empty: no link
is followed, and what is taken along is bounded.
"""

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path
from typing import Final

from airboss.errors import StoreUnavailable
from airboss.model.ids import is_runtime_session_name
from airboss.store.cage_places import entered, remove_below

_SESSIONS: Final = "session-state"
_PRIVATE: Final = 0o700
_MOST_BYTES: Final = 1 << 30
_MOST_FILES: Final = 50_000
_PIECE: Final = 1 << 20


def move_history(source: Path, target: Path, session: str) -> None:
    """All files of one session. Where that fails, the other place is as it was."""
    if source == target:
        return
    if not is_runtime_session_name(session):
        raise StoreUnavailable("The runtime has no such session.")
    end, is_ours = target / _SESSIONS / session, False
    try:
        with entered(source, _SESSIONS) as sessions:
            _must_be_folder(session, sessions)
            # What is there already is of another session, whatever the runtime calls this one.
            end.mkdir(mode=_PRIVATE, parents=True)
            is_ours = True
            _copy(session, sessions, end)
    except OSError as error:
        if is_ours:
            shutil.rmtree(end, ignore_errors=True)
        said = f"The history of the session could not be copied: {error.strerror}."
        raise StoreUnavailable(said) from error
    with contextlib.suppress(StoreUnavailable):  # what stays is nobody's
        remove_below(source, _SESSIONS, session)


def _must_be_folder(session: str, sessions: int) -> None:
    found = os.stat(session, dir_fd=sessions, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode):
        raise FileNotFoundError(errno.ENOENT, "it is no folder")


def _copy(session: str, sessions: int, end: Path) -> None:
    """A link in the place of a folder is not entered, even if it comes to be there meanwhile."""
    bytes_left, files_left = _MOST_BYTES, _MOST_FILES
    for place, folders, files, opened in os.fwalk(session, dir_fd=sessions):
        files_left -= len(files) + len(folders)
        if files_left < 0:
            raise OSError(errno.EFBIG, f"it has more than {_MOST_FILES:,} files")
        here = end / Path(place).relative_to(session)
        if here != end:
            here.mkdir(mode=_PRIVATE)
        folders[:] = [name for name in folders if not _is_link(name, opened)]
        for name in files:
            bytes_left -= _copy_file(name, opened, here / name, bytes_left)


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _copy_file(name: str, folder: int, target: Path, most: int) -> int:
    """How much that was. The agent may still write."""
    try:
        found = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:  # a link, or a socket
        return 0
    with os.fdopen(found, "rb") as file:
        said = os.fstat(found)
        if not stat.S_ISREG(said.st_mode):
            return 0
        left = most if said.st_size <= most else -1
        with target.open("xb") as copy:
            while left >= 0 and (piece := file.read(min(_PIECE, left + 1))):
                left -= copy.write(piece)
    if left < 0:
        raise OSError(errno.EFBIG, f"it has more than {_MOST_BYTES >> 30} GiB")
    return most - left
