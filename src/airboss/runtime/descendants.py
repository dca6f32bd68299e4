"""What a process has started, however far down, noted while that can still be seen: whoever clears
its environment and leaves its parent behind bears no mark. Linux only; elsewhere nothing is found.
"""

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from airboss.runtime.supervisor import stat_of

# By number: its parent, and when it was started; the number may be another's later.
ProcessTable: TypeAlias = Mapping[int, tuple[int, int]]


def process_table() -> ProcessTable:
    """All processes of this machine. Blocking."""
    table: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError):  # it is over
                table[int(name)] = stat_of(int(name))[1:]
    return table


@dataclass
class Descendants:
    """Of one process, which is among them. They stay when it has ended."""

    noted: Mapping[int, int] = field(default_factory=dict[int, int])

    def begin(self, pid: int) -> None:
        """Blocking. The process is ours and was not buried yet, so its number is its own."""
        if sys.platform == "linux":
            with contextlib.suppress(OSError, ValueError):
                self.noted = {pid: stat_of(pid)[2]}

    def look(self, table: ProcessTable) -> None:
        """Adds what they have started since, and forgets those that ended."""
        found = {
            pid: started
            for pid, started in self.noted.items()
            if pid in table and table[pid][1] == started
        }
        below: dict[int, list[int]] = {}
        for pid, (parent, _) in table.items():
            below.setdefault(parent, []).append(pid)
        waiting = [*found]
        while waiting:
            for child in below.get(waiting.pop(), ()):
                if child not in found:
                    found[child] = table[child][1]
                    waiting.append(child)
        self.noted = found
