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
class ReadStream:
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
    _streams: dict[str, ReadStream] = field(default_factory=dict[str, ReadStream])

    @contextlib.asynccontextmanager
    async def reader(self, stream: str) -> AsyncGenerator["Reader"]:
        """One caller at a time. What it was offered and not given, the next one is offered."""
        kept = self._streams.pop(stream, None) or ReadStream()
        self._streams[stream] = kept  # the last one: this order says what was asked for last
        if kept.taken:
            raise ParallelCall
        kept.taken = True
        try:
            self._forget_what_is_ahead()
            if kept.saved is None:
                kept.position = kept.saved = await self.positions.load(stream)
            yield Reader(self, stream, kept)
        finally:
            kept.taken = False
            if kept.saved in (None, kept.position) and not kept.ahead:
                self._streams.pop(stream, None)

    def _forget_what_is_ahead(self) -> None:
        """Whoever comes back for it reads it again."""
        for kept in itertools.islice(
            reversed(self._streams.values()), _READ_AHEAD, _READ_AHEAD + 1
        ):
            if not kept.taken:
                kept.ahead.clear()

    async def next(self, stream: str, kept: ReadStream) -> Offer | None:
        deadline = time.monotonic() + WAIT_SECONDS
        async with self.log.follow(stream, kept.read_to) as follower:
            while True:
                if follower.view is None:
                    raise NeverUsed
                # Asked before the read: whoever sees the end in the view has all events before it.
                is_open = follower.view.is_open
                if is_open:  # also one that had been read to its end, and was resumed
                    kept.position = replace(kept.position, drained=False)
                offer = self._offer(kept)
                if offer is not None:
                    return offer
                found = await follower.next(deadline - time.monotonic() if is_open else 0)
                kept.ahead.extend(found)
                if found:
                    continue
                if is_open:
                    return None
                if kept.position.drained:
                    raise NeverUsed
                return Offer(kept.position.seq, None)

    def _offer(self, kept: ReadStream) -> Offer | None:
        """The first event ahead that the seed knows; those it does not know are passed over."""
        while kept.ahead:
            recorded = kept.ahead[0]
            # Settled while the session was cut off and its end given: nobody reads it any more.
            is_late = kept.position.drained and isinstance(recorded.event, ItemSettled)
            body = None if is_late else self.translate(recorded.event)
            if body is not None:
                return Offer(recorded.seq, body)
            kept.ahead.popleft()
            kept.position = replace(kept.position, seq=recorded.seq)
        return None

    async def give(self, stream: str, kept: ReadStream, offer: Offer) -> None:
        if offer.body is not None:
            kept.ahead.popleft()
        kept.position = Position(offer.seq, drained=offer.body is None)
        if kept.position.drained or time.monotonic() - kept.saved_at > _SAVE_EVERY_SECONDS:
            await self._save(stream, kept)

    async def _save(self, stream: str, kept: ReadStream) -> None:
        """A disk that takes no more does not keep people from reading; it is tried again."""
        kept.saved_at, position = time.monotonic(), kept.position
        with contextlib.suppress(StoreUnavailable):
            await self.positions.save(stream, position)
            kept.saved = position

    async def stop(self) -> None:
        for stream, kept in list(self._streams.items()):
            if kept.saved not in (None, kept.position):
                await self._save(stream, kept)


@dataclass(frozen=True)
class Reader:
    """The one caller who reads a stream at the moment."""

    _live: Live
    _stream: str
    _kept: ReadStream

    async def next(self) -> Offer | None:
        """What comes next, or None when nothing came in time."""
        return await self._live.next(self._stream, self._kept)

    async def give(self, offer: Offer) -> None:
        """The caller is still there: the next call gets what comes after this."""
        await self._live.give(self._stream, self._kept, offer)
