"""Processes with secrets in them are closed to others of the same user: to agents' shells.

What a variable held when a process began stays in `/proc/PID/environ`, whatever is done later. A
process that may not be dumped shows that to root only, and so its memory and its open files.
"""

import os
import sys
from pathlib import Path

from airboss.runtime.supervisor import PR_SET_DUMPABLE, prctl

_SWITCH = Path("/proc/sys/fs/suid_dumpable")
# How long its environment is, a process says itself.
_ENOUGH_BYTES = 64
_AS_ROOT = (
    "Airboss runs as root: agents can read the memory and the environment of the server and of the "
    "agent runtime, with every token and key in them."
)


def hide_process() -> bool:
    """Close this process, as early as it can be done. Its children are open again, unless they do
    the same: what they are given should hold no secret."""
    return sys.platform == "linux" and prctl(PR_SET_DUMPABLE, 0)


def why_open(runtime: int | None = None) -> str | None:
    """Why agents could look into our processes all the same; none where they cannot. `runtime` is
    one that runs, to be tried."""
    if sys.platform != "linux":
        return "On this system, agents can read the memory of processes of the same user."
    if os.geteuid() == 0:
        return _AS_ROOT
    if _read(_SWITCH) == b"1\n":
        return f"This system lets every process be dumped ({_SWITCH} is 1)."
    if runtime is not None and _read(Path(f"/proc/{runtime}/environ")) is not None:
        return "The agent runtime could not be protected: agents can read its memory."
    return None


def remedy(why: str) -> str:
    """What to do about it."""
    if why is _AS_ROOT:
        return "Run `airboss serve` as an ordinary user, preferably a separate one."
    if str(_SWITCH) in why:
        return "Set it to 2: sysctl fs.suid_dumpable=2"
    return "Run `airboss serve` on Linux with the runtime that `airboss setup` installs."


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_ENOUGH_BYTES)
    except OSError:
        return None
