"""Beats for this worker, watches the beats of others, and ends this process when its own stay out.

Two threads: one talks to the database and may be held up by it, the other looks at the clock. So
neither a busy event loop nor a line that swallows everything keeps a worker alive that is not.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from airboss.errors import StoreUnavailable
from airboss.machines.lease import BeatNotes, LeaseTimes, awake_and_asleep
from airboss.store.postgres_workers import WorkerLine
from airboss.wall_clock import put_right

# What a supervisor such as systemd sees: the worker's place was, or would be, taken.
LOST: Final = 70
_LOOKS_IN_A_BEAT: Final = 4
_LAST_WORDS_SECONDS: Final = 0.2

_log = logging.getLogger(__name__)


def end_as_lost(reason: str) -> None:
    """At once: nothing that is still to be said counts. The guard ends the agents."""
    # Whoever reads our log may have stopped reading: it is not waited for.
    threading.Timer(_LAST_WORDS_SECONDS, os._exit, (LOST,)).start()
    _log.critical("This worker ends itself: %s Its runs go on elsewhere.", reason)
    os._exit(LOST)


@dataclass
class Heart:
    """Begins with a worker that was registered a moment ago, at `sent_at`."""

    line: WorkerLine
    times: LeaseTimes
    sent_at: float
    # Told when each good beat was sent.
    feed: Callable[[float], None] = lambda _: None
    on_lost: Callable[[str], None] = end_as_lost
    # Told of each worker that was found lost, from the thread that found it.
    on_reaped: Callable[[str], None] = lambda _: None
    # Whether the clock of this machine is off by more than a second.
    is_off: bool = False
    _ending: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list[threading.Thread])
    _is_over: bool = False
    # Of the beats of others. Written by the thread that beats, and read by whoever asks.
    notes: BeatNotes = field(init=False)

    def __post_init__(self) -> None:
        self.notes = BeatNotes(self.times.seconds)

    def start(self) -> None:
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for name, work in (("heart", self._beat_on), ("heart-clock", self._watch_the_clock))
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """The worker leaves in order."""
        self._ending.set()
        for thread in self._threads:
            thread.join(self.times.of_a_call)
        self.line.close()

    @property
    def silent_for(self) -> float:
        """Seconds since the last good beat was sent."""
        return awake_and_asleep() - self.sent_at

    def _beat_on(self) -> None:
        wait = self.times.between_beats
        while not self._ending.wait(wait):
            wait = self.times.between_beats if self.beat() else self.times.before_next_try

    def beat(self) -> bool:
        """Whether it was good."""
        sent = awake_and_asleep()
        try:
            others = self.line.beat(self.times.of_a_call)
        except StoreUnavailable as error:
            self.notes.forget()
            _log.debug("A beat was not answered: %s", error)
            return False
        if others is None:
            self._lost("the database counts it as lost.")
            return False
        self.sent_at = max(self.sent_at, sent)
        self.feed(sent)
        self._look_at_offset()
        self.notes.leases = self.line.leases
        self._reap(self.notes.overdue(dict(others), time.monotonic()))
        return True

    def _look_at_offset(self) -> None:
        """Nothing is decided by the clock of the wall, but people read it: told once each time."""
        is_off = put_right(self.line.offset_ms)
        if is_off and not self.is_off:
            _log.warning(
                "The clock of this machine is %+.1f s off the database's. The times that it tells "
                "are put right by as much. Set it, or let NTP do so.",
                self.line.offset_ms / 1000,
            )
        elif self.is_off and not is_off:
            _log.info("The clock of this machine is right again.")
        self.is_off = is_off

    def _reap(self, overdue: Mapping[str, int]) -> None:
        for worker, beat in overdue.items():
            try:
                if self.line.mark_lost(worker, beat, self.times.of_a_call):
                    _log.warning("Worker %s is lost: no beat for a lease.", worker)
                    self.on_reaped(worker)
            except StoreUnavailable as error:
                _log.debug("Worker %s could not be marked as lost: %s", worker, error)

    def _watch_the_clock(self) -> None:
        wait = 0.0
        while not self._ending.wait(wait):
            left = self.times.own_limit - self.silent_for
            # This wait does not count the time in which the machine sleeps.
            wait = max(0.01, min(left, self.times.between_beats / _LOOKS_IN_A_BEAT))
            if self.silent_for >= self.times.own_limit:
                self._lost(f"its last beat is {self.silent_for:.1f} s old.")

    def _lost(self, reason: str) -> None:
        if not self._is_over and not self._ending.is_set():
            self._is_over = True
            self.on_lost(reason)
