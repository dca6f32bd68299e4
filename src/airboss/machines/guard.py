"""Ends what a worker's agents left when the worker is dead or silent. Linux only.

A program of its own, beside the worker: it does not stop when the worker is stopped. A good beat is
a line in its input. When none came for too long, it kills all that bears the mark of the worker's
data folder; at the end of its input it does the same, tells the database by one command, and ends.

It is there for as long as the worker: so it imports nothing of ours but the supervisor, and no
module that brings others along.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable
    from typing import NoReturn

    from airboss.runtime import supervisor
else:
    import _signal as signal

    if __name__ == "guard":  # the program itself, which finds nothing else of ours
        import supervisor
    else:
        from airboss.runtime import supervisor

# What the worker says before an end that was asked for.
BYE = b"bye"
_MARK = b"AIRBOSS_OWNER="
_NOTES = ".pids"
_LOOK_SECONDS = 0.25
_ROUNDS = 40
_ROUND_SECONDS = 0.05
# What began later belongs to the next worker on the same folder: none has an agent so soon.
_LATE_SECONDS = 0.3
_TELL_AGAIN_SECONDS = 0.5


def main() -> NoReturn:
    """Its arguments: the mark, the folder of the runtimes' notes, how long silence may last, how
    long to try to tell, and the command that tells."""
    mark, notes, silence, patience = sys.argv[1:5]
    supervisor.prctl(supervisor.PR_SET_DUMPABLE, 0)
    for heard in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(heard, signal.SIG_IGN)
    guarded = Guarded(_MARK + mark.encode(), notes)
    if not _listen(guarded, float(silence)):
        guarded.end_all(_now() + _LATE_SECONDS)
        _tell(sys.argv[5:], float(patience))
    os._exit(0)


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _listen(guarded: Guarded, silence: float) -> bool:
    """Until the input ends; whether that was asked for."""
    import select

    until, said = _now() + silence, b""
    while True:
        left = until - _now()
        # Looked at often: this wait does not count the time in which the machine sleeps.
        ready, _, _ = select.select([0], [], [], max(0.0, min(left, _LOOK_SECONDS)))
        if not ready:
            # Silence is what is left when all was heard: this process may have been held up itself.
            if until <= _now():
                guarded.end_all(None)
                until = _now() + _LOOK_SECONDS
            continue
        piece = os.read(0, 4096)
        if not piece:
            return False
        *lines, said = (said + piece).split(b"\n")
        for line in lines:
            if line == BYE:
                return True
            until = float(line) + silence


class Guarded:
    """All processes of one worker's agents."""

    def __init__(self, mark: bytes, notes: str) -> None:
        self._mark = mark
        self._notes = notes

    def end_all(self, began_before: float | None) -> None:
        """Kill until a look finds none: one that is being killed may just have started another."""
        for _ in range(_ROUNDS):
            found = self._found(began_before)
            if not found:
                return
            for pid in found:
                _kill(pid)
            time.sleep(_ROUND_SECONDS)

    def _found(self, began_before: float | None) -> set[int]:
        parents = _processes()
        # First the runtimes, with all below them: who has no mark is found there only.
        found = {pid for pid in self._noted() if pid in parents}
        found.update(pid for pid in parents if self._is_marked(pid))
        _add_below(found, parents)
        found.discard(os.getpid())
        if began_before is None:
            return found
        ticks = began_before * os.sysconf("SC_CLK_TCK")
        return {pid for pid in found if parents[pid][1] <= ticks}

    def _is_marked(self, pid: int) -> bool:
        try:
            environ = supervisor.environ_of(pid)
        except OSError:
            return False
        return self._mark in environ and self._mark in supervisor.variables_in(environ)

    def _noted(self) -> Iterable[int]:
        """A supervisor and its runtime, each with its start time, in one note for each life."""
        boot = supervisor.boot_id()
        try:
            names = [name for name in os.listdir(self._notes) if _NOTES in name]
        except OSError:
            return
        for name in names:
            try:
                with open(os.path.join(self._notes, name), encoding="ascii") as note:
                    said, *numbers = note.read().split()
                pairs = [int(number) for number in numbers]
            except (OSError, ValueError):
                continue
            for pid, began in zip(pairs[::2], pairs[1::2], strict=False):
                if said == boot and _began(pid) == began:
                    yield pid


def _processes() -> dict[int, tuple[int, int]]:
    """All that live: the parent and the start time of each."""
    found: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                state, parent, began = supervisor.stat_of(int(name))
            except (OSError, ValueError):
                continue
            if state not in "ZX":
                found[int(name)] = (parent, began)
    return found


def _add_below(found: set[int], parents: dict[int, tuple[int, int]]) -> None:
    grew = bool(found)
    while grew:
        below = {pid for pid, (parent, _) in parents.items() if parent in found} - found
        found |= below
        grew = bool(below)


def _began(pid: int) -> int | None:
    try:
        return supervisor.stat_of(pid)[2]
    except (OSError, ValueError):
        return None


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return


def _tell(command: list[str], patience: float) -> None:
    """The worker is lost: a crash is taken over in seconds, and nobody waits for its lease."""
    until = _now() + patience
    while command:
        pid = os.fork()
        if pid == 0:
            try:
                nothing = os.open(os.devnull, os.O_RDWR)
                for descriptor in (0, 1, 2):
                    os.dup2(nothing, descriptor)
                for heard in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                    signal.signal(heard, signal.SIG_DFL)
                os.execv(command[0], command)  # noqa: S606 - our own command
            finally:
                os._exit(127)
        _, status = os.waitpid(pid, 0)
        if status == 0 or _now() > until:
            return
        time.sleep(_TELL_AGAIN_SECONDS)
