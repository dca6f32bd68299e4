"""Looks after a cage's memory, processes and disk, and says when it has gone over one of them."""

import asyncio
import contextlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.group import CageGroup

Limit: TypeAlias = Literal["memory", "processes", "disk"]

LOOK_SECONDS: Final = 0.25
_LEAST_DISK_BYTES: Final = 1_000_000_000
# So many looks in a row, no process more can be started: it is a flood, and no busy moment.
_FULL_LOOKS: Final = 12
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass
class CageWatch:
    """`top` is the outermost process of the cage. Where there is no group, all below is summed."""

    terms: CageProfile
    top: int
    group: CageGroup | None
    # Where the cage writes.
    folders: tuple[Path, ...]
    least_disk: int = _LEAST_DISK_BYTES
    peak: int = 0
    _full: int = field(default=0, init=False)

    async def until_over(self) -> Limit:
        """The first limit that it has gone over."""
        while True:
            if over := await asyncio.to_thread(self.look):
                return over
            await asyncio.sleep(LOOK_SECONDS)

    def look(self) -> Limit | None:
        """Blocking: some reads of /proc or of the group."""
        if any(_free(folder) < self.least_disk for folder in self.folders):
            return "disk"
        return self._look_at_group(self.group) if self.group else self._look_at_processes()

    def _look_at_group(self, group: CageGroup) -> Limit | None:
        usage = group.usage()
        self.peak = max(self.peak, usage.memory, usage.peak)
        if usage.killed:
            return "memory"
        self._full = self._full + 1 if usage.tasks >= self.terms.processes else 0
        return "processes" if self._full >= _FULL_LOOKS else None

    def _look_at_processes(self) -> Limit | None:
        below = descendants(self.top)
        memory = sum(_own_memory(pid) for pid in below)
        self.peak = max(self.peak, memory)
        if memory > self.terms.memory_mb << 20:
            return "memory"
        return "processes" if len(below) > self.terms.processes else None


def in_words(limit: Limit, terms: CageProfile) -> str:
    match limit:
        case "memory":
            return f"The cage was ended: it used more than {terms.memory_mb:,} MB of memory."
        case "processes":
            return f"The cage was ended: it had more than {terms.processes:,} processes."
        case "disk":
            return "The cage was ended: less than 1 GB is free on the disk that it writes to."


def descendants(top: int) -> list[int]:
    """By asking each for its children: other processes of the machine cost nothing."""
    found, unseen = list[int](), [top]
    while unseen:
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
        return _LEAST_DISK_BYTES
