"""For how long a worker is believed to live: the times of a lease, without a clock of the wall.

A worker counts from the moment at which its last good beat was sent, by a clock that goes on while
the machine sleeps. Who watches it counts from the moment at which it saw the beat move, by its own
clock. So a worker always gives up long before anybody may take its place.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# Of the lease: by then all that a worker started has ended, if its beats stay out. That takes as
# long as its guard needs to find and to kill it.
_OWN_SHARE: Final = 0.6
_KILLING_SECONDS: Final = 0.15
# So many that a database may be away for half a lease right before a beat: the next one that is
# answered is still in time.
_BEATS_IN_A_LEASE: Final = 14
# Whose beat has not moved for so much of it is not heard, which people are told.
_QUIET_SHARE: Final = 0.4
# A beat that was not answered is sent again after so long.
_AGAIN_SECONDS: Final = 0.2
# A call that takes longer is given up, and its connection with it.
_CALL_SHARE: Final = 0.2


def awake_and_asleep() -> float:
    """Seconds since the machine was started, those in which it slept included."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


@dataclass(frozen=True)
class LeaseTimes:
    """All in seconds."""

    seconds: float

    @property
    def between_beats(self) -> float:
        return self.seconds / _BEATS_IN_A_LEASE

    @property
    def before_next_try(self) -> float:
        return min(_AGAIN_SECONDS, self.between_beats)

    @property
    def of_a_call(self) -> float:
        return self.seconds * _CALL_SHARE

    @property
    def quiet(self) -> float:
        """After so long without a move a worker counts as not heard."""
        return self.seconds * _QUIET_SHARE

    @property
    def own_limit(self) -> float:
        """After so long without a good beat a worker ends itself."""
        return self.seconds * _OWN_SHARE - _KILLING_SECONDS


@dataclass
class BeatNotes:
    """What a watcher remembers of the beats of others: each with the time at which it saw it first,
    by a clock of its own that nobody sets."""

    lease: float
    # Of those that have one of their own.
    leases: Mapping[str, float] = field(default_factory=dict[str, float])
    _seen: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])

    def overdue(self, beats: dict[str, int], now: float) -> dict[str, int]:
        """Those of `beats`, as they were read now, that have not moved for their lease."""
        self._seen = {worker: self._first_seen(worker, beat, now) for worker, beat in beats.items()}
        return {
            worker: beat
            for worker, (beat, since) in self._seen.items()
            if now - since >= self.lease_of(worker)
        }

    def lease_of(self, worker: str) -> float:
        return self.leases.get(worker, self.lease)

    def _first_seen(self, worker: str, beat: int, now: float) -> tuple[int, float]:
        known = self._seen.get(worker)
        return known if known is not None and known[0] == beat else (beat, now)

    def age(self, worker: str, beat: int, now: float) -> float | None:
        """Seconds since this beat was first seen; none where it never was."""
        seen = self._seen.get(worker)
        return None if seen is None else max(0.0, now - seen[1]) if seen[0] == beat else 0.0

    def moved_since(self, when: float) -> dict[str, bool]:
        """Of all that lived when they were last read: whether the beat of each moved since then."""
        return {worker: since >= when for worker, (_, since) in self._seen.items()}

    def forget(self) -> None:
        """A read failed: where this one could not read, others could not beat."""
        self._seen.clear()
