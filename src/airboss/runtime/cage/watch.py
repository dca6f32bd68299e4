"""Looks after a cage's memory, processes and disk, and says when it has gone over one of them. How
much it uses, `usage` measures."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.autogroups import Autogroups
from airboss.runtime.cage.group import CageGroup
from airboss.runtime.cage.pins import Pins
from airboss.runtime.cage.usage import (
    FilesInMemory,
    available_memory,
    descendants,
    free_bytes,
    own_memory,
    shared_memory,
    written_by,
)
from airboss.runtime.process_threads import WATCHES, in_threads

# What has been replaced is no limit of a profile, but ends a cage as one does.
Limit: TypeAlias = Literal["memory", "processes", "disk", "replaced"]

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


@dataclass
class CageWatch:
    """`top` is the outermost process of the cage. Where there is no group, all below is summed."""

    terms: CageProfile
    top: int
    group: CageGroup | None
    # Where the cage writes.
    folders: tuple[Path, ...]
    # What is closed in its folder.
    pins: Pins | None = None
    # What holds back its sessions, where that is not the group.
    sessions: Autogroups | None = None
    peak: int = 0
    _full: int = field(default=0, init=False)
    _written: int | None = field(default=None, init=False)
    _memory: int | None = field(default=None, init=False)
    _files: FilesInMemory = field(default_factory=FilesInMemory, init=False)

    async def until_over(self) -> Limit:
        """The first limit that it has gone over."""
        while True:
            if over := await in_threads(WATCHES, self.look):
                return over
            await asyncio.sleep(LOOK_SECONDS)

    def ended_by(self) -> Limit | None:
        """Blocking, once it has ended by itself: the kernel may have done it, before anybody
        looked."""
        is_killed = self.group is not None and self.group.usage().killed > 0
        return "memory" if is_killed else None

    def look(self) -> Limit | None:
        """Blocking: some reads of /proc or of the group."""
        if self.sessions is not None:
            self.sessions.hold_back(self._below())
        if self.pins is not None and self.pins.has_changed:
            return "replaced"
        if self._fills_the_disk():
            return "disk"
        return self._look_at_group(self.group) if self.group else self._look_at_processes()

    def _fills_the_disk(self) -> bool:
        """Cages on one disk see the same of it: who writes is ended, and not the others."""
        free = min((free_bytes(one, LEAST_DISK_BYTES) for one in self.folders), default=None)
        if free is None:
            return False
        if free >= LEAST_DISK_BYTES * _NEARLY:
            return False
        before, self._written = self._written, written_by((self.top, *self._below()))
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
        most, own = self.terms.memory_mb << 20, sum(map(own_memory, below))
        memory = own + shared_memory(below, most - own, self._files)
        before, self._memory = self._memory, memory
        self.peak = max(self.peak, memory)
        if memory > most:
            return "memory"
        available = available_memory(_LEAST_MEMORY_BYTES)
        is_filling = before is not None and memory - before >= _FILLING_BYTES
        return "memory" if is_filling and available < _LEAST_MEMORY_BYTES else None


def in_words(limit: Limit, terms: CageProfile) -> str:
    match limit:
        case "memory":
            return f"The cage was ended: it used more than {terms.memory_mb:,} MB of memory."
        case "processes":
            return f"The cage was ended: it had more than {terms.processes:,} processes."
        case "disk":
            return (
                "The cage was ended: less than 1 GB or 20,000 files are free on the disk that it "
                "writes to."
            )
        case "replaced":
            return (
                "The cage was ended: somebody outside replaced what is closed in its folder (git's "
                "configuration or hooks, or a part of Airboss), and what is there now could be "
                "written from inside for a moment. Read it before you use git there."
            )
