"""A file that people and programs change: read as one version, and replaced only by those who have
seen the last one. Paths are real ones, and no link on them is followed: one that is there now was
put there since the path was resolved."""

import os
import secrets
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from airboss.errors import Invalid

# What tells two states of a file apart: which one, how large, and when it was changed.
_Print: TypeAlias = tuple[int, int, int, int, int]

# To go through a folder one need not be able to list it.
_THROUGH: Final = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER: Final = _THROUGH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a pipe waits for its other end, unless one asks not to.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Those of this server one after the other.
_writing: Final = threading.Lock()


class FileNotUsable(Invalid):
    """It cannot be read or written, and why."""

    code = "file_not_usable"


class VersionChanged(Exception):
    """Another version is on the disk than the one that somebody has seen."""

    def __init__(self, found: "FileVersion | None") -> None:
        super().__init__("The file was changed elsewhere.")
        self.found = found


@dataclass(frozen=True)
class FileVersion:
    """A file at one moment. `modified_at` is in milliseconds."""

    content: bytes
    digest: str
    modified_at: int
    status: os.stat_result

    @property
    def print(self) -> _Print:
        return _print(self.status)


def read_version(path: Path, most_bytes: int) -> FileVersion | None:
    """None where there is no such file."""
    with _told(path, "read"), suppress(FileNotFoundError), _opened_folder(path.parent) as folder:
        return _read(folder, path, most_bytes)
    return None


def replace_version(
    path: Path,
    seen: str | None,
    most_bytes: int,
    content_for: Callable[[FileVersion | None], bytes],
) -> None:
    """All of it or nothing, on disk when this returns. `seen` is the digest of the version that the
    writer started from; VersionChanged where another one is there by now."""
    with _writing, _told(path, "written"), _opened_folder(path.parent) as folder:
        before = _read_if_there(folder, path, most_bytes)
        if (before.digest if before else None) != seen:
            raise VersionChanged(before)
        temporary = f".airboss-{secrets.token_hex(8)}.tmp"
        try:
            _write(folder, temporary, content_for(before), before)
            if before is None:
                _put_new(folder, temporary, path.name)
            else:
                _put_over(folder, temporary, path.name, before)
        except (FileExistsError, _OtherState):
            raise VersionChanged(_read_if_there(folder, path, most_bytes)) from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
        _sync(folder)


class _OtherState(Exception):
    """It was changed while the new version was written."""


def _write(folder: int, name: str, content: bytes, before: FileVersion | None) -> None:
    handle = os.open(name, _NEW, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        if before:
            with suppress(PermissionError):  # then it is ours from now on
                os.fchown(handle, before.status.st_uid, before.status.st_gid)
            os.fchmod(handle, stat.S_IMODE(before.status.st_mode))
        file.write(content)
        file.flush()
        os.fsync(handle)


def _put_new(folder: int, temporary: str, name: str) -> None:
    """Fails where somebody else has made the file meanwhile."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise _OtherState from None
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _put_over(folder: int, temporary: str, name: str, before: FileVersion) -> None:
    now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if _print(now) != before.print:
        raise _OtherState
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _sync(folder: int) -> None:
    with suppress(OSError):  # one may write in a folder that one cannot open to list it
        handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _read_if_there(folder: int, path: Path, most_bytes: int) -> FileVersion | None:
    with suppress(FileNotFoundError):
        return _read(folder, path, most_bytes)
    return None


def _read(folder: int, path: Path, most_bytes: int) -> FileVersion:
    handle = os.open(path.name, _FILE, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise FileNotUsable(f"{path} is not a file.")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(most_bytes + 1)
    finally:
        os.close(handle)
    if len(content) > most_bytes:
        raise FileNotUsable(f"{path} is larger than {most_bytes >> 20} MiB.")
    digest = sha256(content).hexdigest()
    return FileVersion(content, digest, status.st_mtime_ns // 1_000_000, status)


def _print(found: os.stat_result) -> _Print:
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return (found.st_dev, found.st_ino, found.st_size, *times)


@contextmanager
def _opened_folder(folder: Path) -> Generator[int]:
    """Step by step from the root, so that none of the steps leads elsewhere."""
    here = os.open(folder.anchor, _FOLDER)
    try:
        for name in folder.parts[1:]:
            there = os.open(name, _FOLDER, dir_fd=here)
            os.close(here)
            here = there
        yield here
    finally:
        os.close(here)


@contextmanager
def _told(path: Path, what: str) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise FileNotUsable(f"The folder {path.parent} does not exist.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileNotUsable(f"{path} cannot be {what}: {reason}.") from error
