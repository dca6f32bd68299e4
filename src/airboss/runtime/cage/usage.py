"""What processes use, as the kernel tells it of each: for cages that no control group counts. What
is too much, it does not know."""

import contextlib
import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_IN_MEMORY: Final = ("/memfd:", "/dev/shm/", "/dev/zero", "/SYSV")  # noqa: S108 - to compare
# Of one process.
_MOST_DESCRIPTORS: Final = 1024
# Of all together; with one more process it may be more.
_MOST_IN_A_LOOK: Final = 8192
_BLOCK: Final = 512
# What a file takes that is empty: so much less of a disk is free for all others.
FILE_BYTES: Final = 50_000
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def descendants(top: int, most: int) -> list[int]:
    """By asking each for its children: other processes of the machine cost nothing, and of a flood
    no more are counted than need be."""
    found, unseen = list[int](), [top]
    while unseen and len(found) < most:
        pid = unseen.pop()
        for child in _children(pid):
            found.append(child)
            unseen.append(child)
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            children += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return children


def own_memory(pid: int) -> int:
    """What it shares with nobody, as far as everybody may know."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        _, resident, shared, *_ = _read(f"/proc/{pid}/statm").split()
        return (int(resident) - int(shared)) * _PAGE
    return 0


@dataclass
class FilesInMemory:
    """What descriptors lead to that has no file on a disk. With many descriptors it takes several
    looks until all were seen: each is as short as the others."""

    _unseen: list[int] = field(default_factory=list[int])
    _found: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    _before: int = 0

    def look(self, pids: Sequence[int]) -> int:
        """In bytes: of the last time that all were seen, or so far, whichever is more."""
        if not self._unseen:
            self._unseen, self._found = [*pids], {}
        there, left = {*pids}, _MOST_IN_A_LOOK
        while self._unseen and left > 0:
            pid = self._unseen.pop()
            left -= 1 + (self._look_at(pid) if pid in there else 0)
        found = sum(self._found.values())
        if not self._unseen:
            self._before = found
        return max(found, self._before)

    def _look_at(self, pid: int) -> int:
        """How many descriptors it has."""
        try:
            folder = os.open(f"/proc/{pid}/fd", os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return 0
        count = 0
        try:
            with contextlib.suppress(OSError), os.scandir(folder) as numbers:
                for number in itertools.islice(numbers, _MOST_DESCRIPTORS):
                    count += 1
                    with contextlib.suppress(OSError):
                        if os.readlink(number.name, dir_fd=folder).startswith(_IN_MEMORY):
                            self._count(os.stat(number.name, dir_fd=folder))
        finally:
            os.close(folder)
        return count

    def _count(self, file: os.stat_result) -> None:
        if file.st_blocks:
            self._found[file.st_dev, file.st_ino] = file.st_blocks * _BLOCK


def shared_memory(pids: Iterable[int], most: int, files: FilesInMemory) -> int:
    """What has no file on a disk: what is mapped, or what descriptors lead to, whichever is more.
    Only above `most` it is looked at closely who has it in common: that takes its time."""
    pids = list(pids)
    mapped = sum(_said_of(f"/proc/{pid}/status", "RssShmem") for pid in pids)
    if mapped > most:
        mapped = sum(_share_of(pid) for pid in pids)
    return max(mapped, files.look(pids))


def _share_of(pid: int) -> int:
    """Of whom nobody may look at, all that is mapped."""
    mapped = _said_of(f"/proc/{pid}/status", "RssShmem")
    return _said_of(f"/proc/{pid}/smaps_rollup", "Pss_Shmem", mapped)


def _said_of(path: str, key: str, otherwise: int = 0) -> int:
    """In bytes."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _read(path).splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) << 10
    return otherwise


def available_memory(otherwise: int) -> int:
    """Of the machine; where that does not say it, `otherwise`."""
    return _said_of("/proc/meminfo", "MemAvailable", otherwise)


def written_by(pids: Iterable[int]) -> int:
    """With what their children wrote that have ended. One of both counts has what went through a
    mapping, the other what went to a disk in memory; of whom nobody may look at, nothing."""
    written = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, KeyError):
            said = dict(line.split(": ") for line in _read(f"/proc/{pid}/io").splitlines())
            written += int(said["write_bytes"]) + int(said["wchar"])
    return written


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16).decode("ascii", "replace")
    finally:
        os.close(descriptor)


def free_bytes(folder: Path, otherwise: int) -> int:
    """Of the disk that it is on, in bytes or in files, whichever is less; of a folder that is not
    there, `otherwise`."""
    try:
        said = os.statvfs(folder)
    except OSError:
        return otherwise
    free = said.f_bavail * said.f_frsize
    # Not every file system has a number of files.
    return min(free, said.f_favail * FILE_BYTES) if said.f_files else free
