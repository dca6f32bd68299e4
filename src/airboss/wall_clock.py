"""What time it is for events and ids: this machine's clock, put right by a database that several
machines share. Nothing is decided by it; beats and leases have clocks that nobody sets."""

import time
from dataclasses import dataclass
from typing import Final

# Less than this is the way to the database and back, and no clock that is wrong.
_OFF_MS: Final = 1_000


@dataclass
class _Clock:
    ahead_ms: int = 0


_clock: Final = _Clock()


def now_ms() -> int:
    return local_ms() - _clock.ahead_ms


def local_ms() -> int:
    """As this machine has it."""
    return time.time_ns() // 1_000_000


def put_right(ahead_ms: int) -> bool:
    """This machine's clock is so far ahead of the database's. Whether that is a second or more."""
    ahead_ms = ahead_ms if abs(ahead_ms) >= _OFF_MS else 0
    # A smaller difference is how long the beat took to get there.
    if abs(ahead_ms - _clock.ahead_ms) >= _OFF_MS:
        _clock.ahead_ms = ahead_ms
    return ahead_ms != 0
