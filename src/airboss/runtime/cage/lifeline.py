"""What ends a cage with us: the kernel ends each of its outer processes with the one before.

It does so only for who has asked in time. So it is looked at once whether all of them were there,
and the first process inside, with which all others end, can be ended by a handle of our own.
"""

import contextlib
import os
import signal
from typing import Final

from airboss.errors import CageUnavailable
from airboss.runtime.supervisor import stat_of

_MOST_STEPS: Final = 16
_CUT: Final = "Something ended the outer process of the cage while it was opened. Try again."


class Lifeline:
    """Of one cage. The warden is known by its number here; with namespaces its parent is the first
    process inside."""

    def __init__(self, warden: int, *, has_first: bool) -> None:
        """Blocking, while the warden waits. Raises `CageUnavailable`."""
        parent = _parent(warden) if has_first else None
        self._first = None if parent is None else _handle(parent)
        if not _is_below_us(warden):
            self.end()
            raise CageUnavailable(_CUT)

    def end(self) -> None:
        """The cage, if it has not ended by now."""
        first, self._first = self._first, None
        if first is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(first, signal.SIGKILL)
            os.close(first)


def _handle(pid: int) -> int | None:
    """None before Linux 5.3."""
    with contextlib.suppress(OSError, AttributeError):
        return os.pidfd_open(pid)
    return None


def _is_below_us(pid: int) -> bool:
    for _ in range(_MOST_STEPS):
        if pid == os.getpid():
            return True
        parent = _parent(pid)
        if parent is None:
            return _lives(pid)
        pid = parent
    return False


def _parent(pid: int) -> int | None:
    """None where nobody may see it (hidepid), or it is gone."""
    try:
        return stat_of(pid)[1]
    except OSError:
        return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid > 1
