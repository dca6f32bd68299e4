"""Ways out of a cage, each a function that returns something true only where it got through.

The standard library only: they run inside and outside. `attempts.py` runs them.
"""

from __future__ import annotations

import ctypes
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

IS_X86: Final = os.uname().machine == "x86_64"
LIBC: Final = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Scene:
    """What lies outside, prepared by the test. `word` is what nobody inside may learn."""

    word: str
    machine: str
    work: str
    home: str
    data: str
    outside: str
    temporary: str
    victim: int
    port: int
    port_six: int
    datagrams: int
    stream_socket: str
    datagram_socket: str
    abstract: str
    queue: int
    terminal: str

    @property
    def key(self) -> Path:
        return Path(self.home, ".ssh", "id")


@dataclass(frozen=True)
class Attempt:
    """`control` says who gets through without a cage: anyone, root, or why nobody does here."""

    name: str
    kind: str
    act: Callable[[Scene], object]
    control: str
    # Why a narrow cage lets it through; empty where it holds.
    narrow: str


ATTEMPTS: dict[str, Attempt] = {}


def attempt(
    kind: str, control: str = "anyone", narrow: str = ""
) -> Callable[[Callable[[Scene], object]], Callable[[Scene], object]]:
    def known(act: Callable[[Scene], object]) -> Callable[[Scene], object]:
        name = act.__name__.replace("_", " ")
        ATTEMPTS[name] = Attempt(name, kind, act, control, narrow)
        return act

    return known


def call(number_x86: int, number_arm: int, *arguments: Any) -> int:
    """A system call by its number; raises what the kernel says."""
    number = number_x86 if IS_X86 else number_arm
    whole = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    said = LIBC.syscall(number, *whole)
    if said < 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses")
    return said


def reaches_the_kernel(number_x86: int, number_arm: int, *arguments: Any) -> bool:
    """Whether a call with nonsense in it is refused for that, and not because it is forbidden."""
    try:
        call(number_x86, number_arm, *arguments)
    except OSError as error:
        return error.errno not in {1, 13, 38}
    return True


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def sleeping() -> int:
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(0)
    return pid


def first_disk() -> tuple[int, int]:
    for line in Path("/proc/partitions").read_text("utf-8").splitlines()[2:]:
        major, minor, *_ = line.split()
        return int(major), int(minor)
    return 7, 0
