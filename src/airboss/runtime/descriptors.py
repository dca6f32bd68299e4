"""How many files and connections this process may hold: as many as the system lets it."""

import contextlib
import sys
from dataclasses import dataclass
from typing import Final

if sys.platform != "win32":
    import resource

# Where the system knows no bound, or one that no server needs.
_ENOUGH: Final = 65_536
_UNKNOWN: Final = 512


@dataclass
class _Before:
    """The soft limit that we were started with, once it was raised."""

    soft: int | None = None


_BEFORE: Final = _Before()


def raise_descriptor_limit() -> int:
    """Raises our soft limit up to the hard one; answers what holds now."""
    if sys.platform == "win32":
        return _UNKNOWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # macOS refuses more than its kernel has, whatever the hard limit says.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            _BEFORE.soft = soft
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _ENOUGH if soft == resource.RLIM_INFINITY else soft


def give_back_descriptor_limit(pid: int) -> None:
    """A child has the soft limit that we began with: some programs close every number up to it, and
    some count on less than 1,024. Linux only; elsewhere it keeps ours."""
    if sys.platform == "linux" and _BEFORE.soft is not None:
        with contextlib.suppress(OSError, ValueError):  # it has ended
            _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (_BEFORE.soft, hard))
