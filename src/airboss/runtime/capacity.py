"""How many agents of jobs fit into this machine beside each other."""

from pathlib import Path
from typing import Final

import psutil

# What one more agent costs in the runtime, about; what its commands cost nobody can know.
AGENT_BYTES: Final = 15 * 1024 * 1024
# More at once only where somebody says so: each is a conversation that costs money.
MOST_AGENTS: Final = 16
# A container may have less than its machine: how much, and what it uses (cgroup v2, then v1).
_CONTAINER: Final = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def agents_that_fit(free: int) -> int:
    """Half of what is free is left to the commands that agents run."""
    return max(1, min(MOST_AGENTS, free // 2 // AGENT_BYTES))


def free_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """In bytes. It reads the disk, so it does not belong on the event loop."""
    free = int(psutil.virtual_memory().available)
    for limit, used in _CONTAINER:
        given, taken = _number(cgroup / limit), _number(cgroup / used)
        if given is not None and taken is not None:
            return min(free, max(0, given - taken))
    return free


def _number(file: Path) -> int | None:
    """Without a limit there is a word, or no file."""
    try:
        return int(file.read_text("ascii"))
    except (OSError, ValueError):
        return None
