"""Which processes a runtime is, kept in the data folder as long as it runs.

A runtime that shells cannot look into, our sweep cannot look into either: after a crash it is found
by its process id and the time at which that began.
"""

import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from airboss.runtime.supervisor import boot_id, command_line, stat_of

_SUFFIX = ".pids"


@dataclass(frozen=True)
class Pids:
    """A supervisor and its runtime, each with its start time."""

    boot: str
    supervisor: int
    supervisor_started: int
    runtime: int
    runtime_started: int

    def living(self) -> frozenset[int]:
        """Those of them that still run and are no others."""
        with contextlib.suppress(OSError):
            if self.boot != boot_id():
                return frozenset()
        both = (
            (self.supervisor, self.supervisor_started),
            (self.runtime, self.runtime_started),
        )
        return frozenset(pid for pid, started in both if _began_at(pid) == started)


def _began_at(pid: int) -> int | None:
    try:
        return stat_of(pid)[2]
    except (OSError, ValueError):
        return None


def note_in(folder: Path, life: str) -> Path:
    return folder / f"{life}{_SUFFIX}"


def read(note: Path) -> Pids | None:
    """None for what is not there or was not written by us."""
    try:
        boot, *numbers = note.read_text(encoding="ascii").split()
        one, began, other, then = map(int, numbers)
    except (OSError, ValueError):
        return None
    return Pids(boot, one, began, other, then)


def left_in(folder: Path) -> dict[Path, Pids | None]:
    """The notes of earlier lives, whose server did not end them. Our own children are not left."""
    notes = {note: read(note) for note in folder.glob(f"*{_SUFFIX}*")}
    return {note: pids for note, pids in notes.items() if not _is_ours(pids)}


def _is_ours(pids: Pids | None) -> bool:
    if pids is None or pids.supervisor not in pids.living():
        return False
    with contextlib.suppress(OSError, ValueError):
        return stat_of(pids.supervisor)[1] == os.getpid()
    return False


def _can_supervise() -> bool:
    return sys.platform == "linux" and bool(sys.executable)


def supervised(runtime: Path, note: Path) -> tuple[str, tuple[str, ...]] | None:
    """The program that runs `runtime`, and its first arguments; none where there is no such thing
    as an orphan's new parent."""
    if not _can_supervise():
        return None
    program, *arguments = command_line(str(note), str(runtime))
    return program, tuple(arguments)


def runtime_under(process: "subprocess.Popen[bytes]", note: Path) -> int:
    """The runtime's own process id; where no note could be written, by looking."""
    if not _can_supervise():
        return process.pid
    pids = read(note)
    if pids is not None and pids.supervisor == process.pid:
        return pids.runtime
    with contextlib.suppress(psutil.Error, IndexError):
        return psutil.Process(process.pid).children()[0].pid
    return process.pid
