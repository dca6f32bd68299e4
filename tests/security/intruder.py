"""What an agent's shell command can try on other processes: `python intruder.py OUT PID…`.

Writes down, as JSON, what of these processes it could open, and what it read of any environment.
"""

import contextlib
import json
import os
import sys
from pathlib import Path


def opened(path: str, flags: int = os.O_RDONLY) -> bool:
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def tried(pid: int) -> list[str]:
    """The ways into one process that are open."""
    files = [name for name in ("environ", "maps", "mem", "auxv") if opened(f"/proc/{pid}/{name}")]
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            flags = (os.O_RDONLY, os.O_WRONLY)
            if any(opened(f"/proc/{pid}/fd/{number}", flag) for flag in flags):
                files.append(f"fd/{number}")
    with contextlib.suppress(OSError):
        os.readlink(f"/proc/{pid}/cwd")
        files.append("cwd")
    return files


def environments() -> str:
    """Of all processes of the machine, as far as they show it."""
    told = b""
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            told += place.read_bytes()
    return told.decode(errors="replace")


if __name__ == "__main__":
    out, *pids = sys.argv[1:]
    found = {pid: tried(int(pid)) for pid in pids}
    found["ourselves"] = tried(os.getppid())
    Path(out).write_text(json.dumps({"open": found, "environments": environments()}), "utf-8")
