"""Looks after a cage's memory, processes and disk, and says when it has gone over one of them."""

import asyncio
import contextlib
import itertools
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.group import CageGroup

Limit: TypeAlias = Literal["memory", "processes", "disk"]

LOOK_SECONDS: Final = 0.25
LEAST_DISK_BYTES: Final = 1_000_000_000
# With less than that nobody is asked who has taken it: space can be had without writing.
_NO_DISK_BYTES: Final = LEAST_DISK_BYTES // 2
# Who writes so much from one look to the next is filling the disk.
_FILLING_BYTES: Final = 1 << 20
# So much above the least, it is looked at who writes.
_NEARLY: Final = 4
# So many looks in a row, no process more can be started: it is a flood, and no busy moment.
_FULL_LOOKS: Final = 12
# With less than that on the machine, who takes more is ended, whatever its own bound is.
_LEAST_MEMORY_BYTES: Final = 256 << 20
_IN_MEMORY: Final = ("/memfd:", "/dev/shm/", "/dev/zero", "/SYSV")  # noqa: S108 - to compare
_MOST_DESCRIPTORS: Final = 1024
_BLOCK: Final = 512
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass
class CageWatch:
    """`top` is the outermost process of the cage. Where there is no group, all below is summed."""

    terms: CageProfile
    top: int
    group: CageGroup | None
    # Where the cage writes.
    folders: tuple[Path, ...]
    peak: int = 0
    _full: int = field(default=0, init=False)
    _written: int | None = field(default=None, init=False)
    _memory: int | None = field(default=None, init=False)

    async def until_over(self) -> Limit:
        """The first limit that it has gone over."""
        while True:
            if over := await asyncio.to_thread(self.look):
                return over
            await asyncio.sleep(LOOK_SECONDS)

    def ended_by(self) -> Limit | None:
        """Blocking, once it has ended by itself: the kernel may have done it, before anybody
        looked."""
        is_killed = self.group is not None and self.group.usage().killed > 0
        return "memory" if is_killed else None

    def look(self) -> Limit | None:
        """Blocking: some reads of /proc or of the group."""
        if self._fills_the_disk():
            return "disk"
        return self._look_at_group(self.group) if self.group else self._look_at_processes()

    def _fills_the_disk(self) -> bool:
        """Cages on one disk see the same of it: who writes is ended, and not the others."""
        free = min(map(_free, self.folders), default=LEAST_DISK_BYTES)
        if free >= LEAST_DISK_BYTES * _NEARLY:
            return False
        before, self._written = self._written, _written_by((self.top, *self._below()))
        if free < _NO_DISK_BYTES:
            return True
        is_filling = before is not None and self._written - before >= _FILLING_BYTES
        return is_filling and free < LEAST_DISK_BYTES

    def _below(self) -> list[int]:
        return descendants(self.top, self.terms.processes + 1)

    def _look_at_group(self, group: CageGroup) -> Limit | None:
        usage = group.usage()
        self.peak = max(self.peak, usage.memory, usage.peak)
        if usage.killed:
            return "memory"
        self._full = self._full + 1 if usage.tasks >= self.terms.processes else 0
        return "processes" if self._full >= _FULL_LOOKS else None

    def _look_at_processes(self) -> Limit | None:
        below = self._below()
        if len(below) > self.terms.processes:
            return "processes"
        most, own = self.terms.memory_mb << 20, sum(map(_own_memory, below))
        memory = own + shared_memory(below, most - own)
        before, self._memory = self._memory, memory
        self.peak = max(self.peak, memory)
        if memory > most:
            return "memory"
        available = available_memory()
        is_filling = before is not None and memory - before >= _FILLING_BYTES
        return "memory" if is_filling and available < _LEAST_MEMORY_BYTES else None


def in_words(limit: Limit, terms: CageProfile) -> str:
    match limit:
        case "memory":
            return f"The cage was ended: it used more than {terms.memory_mb:,} MB of memory."
        case "processes":
            return f"The cage was ended: it had more than {terms.processes:,} processes."
        case "disk":
            return "The cage was ended: less than 1 GB is free on the disk that it writes to."


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


def _own_memory(pid: int) -> int:
    """What it shares with nobody, as far as everybody may know."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        _, resident, shared, *_ = _read(f"/proc/{pid}/statm").split()
        return (int(resident) - int(shared)) * _PAGE
    return 0


def shared_memory(pids: Iterable[int], most: int) -> int:
    """What has no file on a disk: what is mapped, or what descriptors lead to, whichever is more.
    Only above `most` it is looked at closely who has it in common: that takes its time."""
    pids = list(pids)
    mapped = sum(_said_of(f"/proc/{pid}/status", "RssShmem") for pid in pids)
    if mapped > most:
        mapped = sum(_share_of(pid) for pid in pids)
    return max(mapped, _files_in_memory(pids))


def _share_of(pid: int) -> int:
    """Of whom nobody may look at, all that is mapped."""
    mapped = _said_of(f"/proc/{pid}/status", "RssShmem")
    return _said_of(f"/proc/{pid}/smaps_rollup", "Pss_Shmem", mapped)


def _files_in_memory(pids: Iterable[int]) -> int:
    found = dict[tuple[int, int], int]()
    for pid in pids:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as numbers:
            for number in itertools.islice(numbers, _MOST_DESCRIPTORS):
                with contextlib.suppress(OSError):
                    if os.readlink(number.path).startswith(_IN_MEMORY):
                        said = os.stat(number.path)
                        found[said.st_dev, said.st_ino] = said.st_blocks * _BLOCK
    return sum(found.values())


def _said_of(path: str, key: str, otherwise: int = 0) -> int:
    """In bytes."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _read(path).splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) << 10
    return otherwise


def available_memory() -> int:
    """Of the machine."""
    return _said_of("/proc/meminfo", "MemAvailable", _LEAST_MEMORY_BYTES)


def _written_by(pids: Iterable[int]) -> int:
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


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return LEAST_DISK_BYTES
