"""Seed 001's `live`: one reading position for each stream, shared by all callers, kept on disk."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from airboss.log.log import EventLog
from airboss.model.events import Event, Recorded
from airboss.model.views import OPEN_STATES
from airboss.store.positions import Position, Positions

Callback = dict[str, Any]
Translate = Callable[[Event], Callback | None]

WAIT_SECONDS = 5.05
_SAVE_EVERY_SECONDS = 0.5


class ParallelCall(Exception):
    """Another caller waits on this id."""


class StreamEnded(Exception):
    """All was given, and nothing will follow. Told once."""


class NeverUsed(Exception):
    """No such id, or one that was read to its end."""


@dataclass
class Desk:
    """What is kept of one stream while somebody reads it."""

    position: Position
    ahead: deque[Recorded] = field(default_factory=deque[Recorded])
    taken: bool = False
    saved_at: float = 0.0


@dataclass
class Offer:
    """One response, not yet given: it counts as given when `Live.give` is called."""

    desk: Desk
    seq: int
    body: Callback


@dataclass
class Live:
    """Hands out each response once, in order."""

    log: EventLog
    positions: Positions
    translate: Translate
    _desks: dict[str, Desk] = field(default_factory=dict[str, Desk])

    async def take(self, stream: str) -> Offer | None:
        """The next response, or None when there was none in time."""
        desk = self._desks.get(stream)
        if desk is not None and desk.taken:
            raise ParallelCall
        if desk is None:
            desk = self._desks.setdefault(stream, Desk(Position()))
            desk.taken = True
            desk.position = await self.positions.load(stream)
        desk.taken = True
        try:
            return await self._next(stream, desk)
        finally:
            desk.taken = False

    async def _next(self, stream: str, desk: Desk) -> Offer | None:
        if desk.position.drained or await self.log.view(stream) is None:
            self._desks.pop(stream, None)
            raise NeverUsed
        deadline = time.monotonic() + WAIT_SECONDS
        async with self.log.follow(stream, self._read_to(desk)) as follower:
            while True:
                offer = self._offer(desk)
                if offer is not None:
                    return offer
                # Asked before the read: whoever sees the end in the view has all events before it.
                ended = follower.view is not None and follower.view.state not in OPEN_STATES
                found = await follower.next(0 if ended else deadline - time.monotonic())
                desk.ahead.extend(found)
                if not found and ended:
                    await self._drain(stream, desk)
                if not found:
                    return None

    def _read_to(self, desk: Desk) -> int:
        return desk.ahead[-1].seq if desk.ahead else desk.position.seq

    def _offer(self, desk: Desk) -> Offer | None:
        """The first event ahead that the seed knows; those it does not know are passed over."""
        while desk.ahead:
            recorded = desk.ahead[0]
            body = self.translate(recorded.event)
            if body is not None:
                return Offer(desk, recorded.seq, body)
            desk.ahead.popleft()
            desk.position = Position(recorded.seq)
        return None

    async def give(self, stream: str, offer: Offer) -> None:
        """The caller is still there: the next call gets the next response."""
        desk = offer.desk
        if desk.ahead and desk.ahead[0].seq == offer.seq:
            desk.ahead.popleft()
        desk.position = Position(offer.seq)
        if time.monotonic() - desk.saved_at > _SAVE_EVERY_SECONDS:
            desk.saved_at = time.monotonic()
            await self.positions.save(stream, desk.position)

    async def _drain(self, stream: str, desk: Desk) -> None:
        desk.position = replace(desk.position, drained=True)
        await self.positions.save(stream, desk.position)
        self._desks.pop(stream, None)
        raise StreamEnded

    async def reopen(self, stream: str) -> None:
        """A resumed session speaks again, also to those who had read it to its end."""
        desk = self._desks.get(stream) or Desk(await self.positions.load(stream))
        desk.position = replace(desk.position, drained=False)
        self._desks[stream] = desk
        await self.positions.save(stream, desk.position)

    async def stop(self) -> None:
        for stream, desk in self._desks.items():
            await self.positions.save(stream, desk.position)
