"""Seed 001's `live`: one reading position for each stream, shared by all callers, kept on disk."""

import contextlib
import itertools
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.model.events import Event, Recorded
from airboss.model.inbox_events import ItemSettled
from airboss.store.positions import Position, Positions

Callback = dict[str, Any]
Translate = Callable[[Event], Callback | None]

WAIT_SECONDS = 5.05
_SAVE_EVERY_SECONDS = 0.5
# Of so many streams, the ones asked for last, what was read ahead stays in memory.
_READ_AHEAD = 64


class ParallelCall(Exception):
    """Another caller waits on this id."""


class NeverUsed(Exception):
    """No such id, or one that was read to its end."""


@dataclass
class Desk:
    """What is kept of one stream while somebody reads it."""

    position: Position = field(default_factory=Position)
    saved: Position | None = None
    saved_at: float = 0.0
    ahead: deque[Recorded] = field(default_factory=deque[Recorded])
    taken: bool = False

    @property
    def read_to(self) -> int:
        return self.ahead[-1].seq if self.ahead else self.position.seq


@dataclass(frozen=True)
class Offer:
    """What comes next: a response, or the stream's end. It counts when it was given."""

    seq: int
    body: Callback | None


@dataclass
class Live:
    """Hands out each response once, in order."""

    log: EventLog
    positions: Positions
    translate: Translate
    _desks: dict[str, Desk] = field(default_factory=dict[str, Desk])

    @contextlib.asynccontextmanager
    async def reader(self, stream: str) -> AsyncGenerator["Reader"]:
        """One caller at a time. What it was offered and not given, the next one is offered."""
        desk = self._desks.pop(stream, None) or Desk()
        self._desks[stream] = desk  # the last one: this order says what was asked for last
        if desk.taken:
            raise ParallelCall
        desk.taken = True
        try:
            self._forget_what_is_ahead()
            if desk.saved is None:
                desk.position = desk.saved = await self.positions.load(stream)
            yield Reader(self, stream, desk)
        finally:
            desk.taken = False
            if desk.saved in (None, desk.position) and not desk.ahead:
                self._desks.pop(stream, None)

    def _forget_what_is_ahead(self) -> None:
        """Whoever comes back for it reads it again."""
        for desk in itertools.islice(reversed(self._desks.values()), _READ_AHEAD, _READ_AHEAD + 1):
            if not desk.taken:
                desk.ahead.clear()

    async def next(self, stream: str, desk: Desk) -> Offer | None:
        deadline = time.monotonic() + WAIT_SECONDS
        async with self.log.follow(stream, desk.read_to) as follower:
            while True:
                if follower.view is None:
                    raise NeverUsed
                # Asked before the read: whoever sees the end in the view has all events before it.
                is_open = follower.view.is_open
                if is_open:  # also one that had been read to its end, and was resumed
                    desk.position = replace(desk.position, drained=False)
                offer = self._offer(desk)
                if offer is not None:
                    return offer
                found = await follower.next(deadline - time.monotonic() if is_open else 0)
                desk.ahead.extend(found)
                if found:
                    continue
                if is_open:
                    return None
                if desk.position.drained:
                    raise NeverUsed
                return Offer(desk.position.seq, None)

    def _offer(self, desk: Desk) -> Offer | None:
        """The first event ahead that the seed knows; those it does not know are passed over."""
        while desk.ahead:
            recorded = desk.ahead[0]
            # Settled while the session was cut off and its end given: nobody reads it any more.
            is_late = desk.position.drained and isinstance(recorded.event, ItemSettled)
            body = None if is_late else self.translate(recorded.event)
            if body is not None:
                return Offer(recorded.seq, body)
            desk.ahead.popleft()
            desk.position = replace(desk.position, seq=recorded.seq)
        return None

    async def give(self, stream: str, desk: Desk, offer: Offer) -> None:
        if offer.body is not None:
            desk.ahead.popleft()
        desk.position = Position(offer.seq, drained=offer.body is None)
        if desk.position.drained or time.monotonic() - desk.saved_at > _SAVE_EVERY_SECONDS:
            await self._save(stream, desk)

    async def _save(self, stream: str, desk: Desk) -> None:
        """A disk that takes no more does not keep people from reading; it is tried again."""
        desk.saved_at, position = time.monotonic(), desk.position
        with contextlib.suppress(StoreUnavailable):
            await self.positions.save(stream, position)
            desk.saved = position

    async def stop(self) -> None:
        for stream, desk in list(self._desks.items()):
            if desk.saved not in (None, desk.position):
                await self._save(stream, desk)


@dataclass(frozen=True)
class Reader:
    """The one caller who reads a stream at the moment."""

    _live: Live
    _stream: str
    _desk: Desk

    async def next(self) -> Offer | None:
        """What comes next, or None when nothing came in time."""
        return await self._live.next(self._stream, self._desk)

    async def give(self, offer: Offer) -> None:
        """The caller is still there: the next call gets what comes after this."""
        await self._live.give(self._stream, self._desk, offer)
