"""The kernel's bound on the processes of a cage whose server is root and has no control group.

No limit of resources binds root. But since Linux 6.14 every namespace of processes has a highest
number of its own: when all numbers below it are taken, nothing more is started in there. It is set
from outside, before anything of the agent's runs.

`python pid_bound.py PID HIGHEST` sets it: only a process in the namespace can, and one enters it
with its children only.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys

_FIRST = (6, 14)
# The kernel gives these only once: counting on from its highest number it begins behind them.
_RESERVED = 300
_NEW_PROCESSES = 0x20000000
_ADMINISTRATOR = 1 << 21
_FILE = "/proc/sys/kernel/pid_max"
_SECONDS = 10


def can_bound() -> bool:
    """Blocking. Whether this kernel has it, and lets us."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    if found is None or tuple(map(int, found.groups())) < _FIRST:
        return False
    return (
        os.geteuid() == 0 and bool(_capabilities() & _ADMINISTRATOR) and os.access(_FILE, os.W_OK)
    )


def bound_processes(pid: int, most: int) -> None:
    """Blocking. From now on there are no more than `most` processes and threads in the namespace of
    `pid`, beside its first ones."""
    command = [sys.executable, "-I", "-S", __file__, str(pid), str(_RESERVED + most)]
    said = subprocess.run(  # noqa: S603 - this file, with numbers
        command, capture_output=True, text=True, timeout=_SECONDS, check=False, env={}
    )
    if said.returncode:
        raise OSError(0, f"its processes cannot be bound: {said.stderr.strip()[-200:]}")


def _capabilities() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        found = re.search(r"CapEff:\s*(\w+)", status.read())
    return int(found[1], 16) if found else 0


def _enter(pid: int) -> None:
    """For the children that come. Never our own namespace: its highest number is the machine's."""
    place = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY)
    if os.fstat(place).st_ino == os.stat("/proc/self/ns/pid").st_ino:
        sys.exit("it has no namespace of its own")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(place, _NEW_PROCESSES) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))


def main() -> None:
    _enter(int(sys.argv[1]))
    child = os.fork()
    if child == 0:
        try:
            with open(_FILE, "w", encoding="ascii") as highest:
                highest.write(sys.argv[2])
        except OSError as error:
            os.write(2, (error.strerror or str(error)).encode())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
