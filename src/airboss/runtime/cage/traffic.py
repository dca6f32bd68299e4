"""What goes out of one cage, counted and told: clients open many connections at once, and a program
may try the same in vain for hours. What belongs together is told once, with a count."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from airboss.model.cage_events import (
    OTHER_HOSTS,
    EgressClosed,
    EgressEvent,
    EgressOpened,
    EgressRefused,
)

# A host counts as left when nothing was connected to it for so long.
_PAUSE_SECONDS: Final = 2.0
# The same refusal is told again after so long, with how often it happened meanwhile.
_REPEAT_SECONDS: Final = 60.0
# In that time so many different ones are told by name.
_MOST_REFUSALS: Final = 50

Hear: TypeAlias = Callable[[EgressEvent], None]
Place: TypeAlias = tuple[str, int]
Refusal: TypeAlias = tuple[str, int | None, str]


@dataclass
class HostCount:
    """All connections to a host since it was last left."""

    place: Place
    began: float
    ended: float
    open: int = 0
    connections: int = 0
    sent: int = 0
    received: int = 0
    leaving: asyncio.TimerHandle | None = None


@dataclass
class Traffic:
    """`hear` is told at once where something is new, and later where it is a count."""

    hear: Hear
    pause_seconds: float = _PAUSE_SECONDS
    repeat_seconds: float = _REPEAT_SECONDS
    _hosts: dict[Place, HostCount] = field(default_factory=dict[Place, HostCount])
    _refused: dict[Refusal, int] = field(default_factory=dict[Refusal, int])
    _timers: dict[Refusal, asyncio.TimerHandle] = field(
        default_factory=dict[Refusal, asyncio.TimerHandle]
    )

    def begin(self, host: str, port: int, address: str, by: str) -> HostCount:
        now = asyncio.get_running_loop().time()
        count = self._hosts.get((host, port))
        if count is None:
            count = self._hosts[host, port] = HostCount((host, port), now, now)
            self.hear(EgressOpened(host=host, port=port, address=address, by=by))
        if count.leaving is not None:
            count.leaving.cancel()
            count.leaving = None
        count.open += 1
        count.connections += 1
        return count

    def end(self, count: HostCount) -> None:
        loop = asyncio.get_running_loop()
        count.open -= 1
        count.ended = loop.time()
        if count.open == 0:
            count.leaving = loop.call_later(self.pause_seconds, self._leave, count)

    def _leave(self, count: HostCount) -> None:
        if self._hosts.get(count.place) is not count:
            return
        del self._hosts[count.place]
        host, port = count.place
        self.hear(
            EgressClosed(
                host=host,
                port=port,
                connections=count.connections,
                sent=count.sent,
                received=count.received,
                seconds=round(count.ended - count.began, 3),
            )
        )

    def refuse(self, host: str, port: int | None, why: str) -> None:
        refusal = (host, port, why)
        if refusal not in self._refused and len(self._refused) >= _MOST_REFUSALS:
            refusal = (OTHER_HOSTS, None, "More hosts than are told one by one.")
        if refusal in self._refused:
            self._refused[refusal] += 1
            return
        self._tell_refused(refusal, 1)

    def _tell_refused(self, refusal: Refusal, count: int) -> None:
        host, port, why = refusal
        self.hear(EgressRefused(host=host, port=port, why=why, count=count))
        self._refused[refusal] = 0
        loop = asyncio.get_running_loop()
        self._timers[refusal] = loop.call_later(self.repeat_seconds, self._repeat, refusal)

    def _repeat(self, refusal: Refusal) -> None:
        del self._timers[refusal]
        count = self._refused.pop(refusal)
        if count:
            self._tell_refused(refusal, count)

    def close(self) -> None:
        """All that is counted is told."""
        timers, self._timers = self._timers, {}
        for timer in timers.values():
            timer.cancel()
        refused, self._refused = self._refused, {}
        for (host, port, why), count in refused.items():
            if count:
                self.hear(EgressRefused(host=host, port=port, why=why, count=count))
        for count in list(self._hosts.values()):
            if count.leaving is not None:
                count.leaving.cancel()
            if count.open:
                count.ended = asyncio.get_running_loop().time()
            self._leave(count)
