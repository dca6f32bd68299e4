"""Who says something in a stream. What is committed is on disk; what is only said gets there soon.

What belongs together is one call, in one stream or in several: it is on disk together, or not at
all. Where it comes from an origin it is said once, however often the work is done again.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from airboss.errors import StoreUnavailable
from airboss.log.flusher import Flusher, Pace, deadline
from airboss.log.portion import Group
from airboss.log.rows import OpenBlock
from airboss.log.said_for import origin_in
from airboss.log.stream import LiveStream
from airboss.model.events import BlockDelta, Event, Recorded
from airboss.model.views import View
from airboss.wall_clock import now_ms as now_ms


@dataclass(frozen=True)
class Writer:
    """The one voice of a stream."""

    flusher: Flusher
    stream: LiveStream
    left_open: tuple[OpenBlock, ...] = ()

    async def commit(self, *events: Event, origin: str | None = None) -> Recorded:
        """All of it on disk, or StoreUnavailable and nothing of it was said. Answers the last of
        it, whose origin this is: as it was said first."""
        if origin is not None and (found := self.stream.said_from(origin)):
            await self.flusher.settle(self.stream)
            return found
        *others, last = events
        lines = [*(self.line(event) for event in others), self.line(last, origin)]
        return (await commit(*lines))[-1]

    def begin_commit(self, event: Event, origin: str) -> "asyncio.Future[None]":
        """The same of what nobody has said from this origin, for who goes on meanwhile: it has its
        place in the stream now, and is on disk when the answer comes. That is with what is
        committed next, or within a batch; who commits nothing next says `hurry`."""
        self.flusher.must_run()
        return _begin_commit([self.line(event, origin)], now_ms(), "later")[2]

    def hurry(self) -> None:
        """What was said here is written now."""
        self.flusher.touch(self.stream, "now")

    def say(self, *events: Event, urgent: bool = True) -> None:
        """Without waiting: in order, on disk within a batch, deltas shown at once. What is not
        urgent begins no write: who commits next would have to wait for that one first. After the
        log's end nobody hears it: it is as if the process had died before."""
        for event in events:
            is_delta = isinstance(event, BlockDelta)
            if self.is_over or (is_delta and not event.text):
                continue
            self.flusher.deltas += is_delta
            self.stream.say(Recorded.of(0, now_ms(), event), event)
            self.flusher.touch(self.stream, "delta" if is_delta else "soon" if urgent else "later")

    def say_from(self, origin: str, event: Event) -> None:
        """Once, however often it is said from there."""
        say(self.line(event, origin))

    def line(self, event: Event, origin: str | None = None) -> "LogLine":
        """To be committed, or said, together with lines of other streams."""
        return LogLine(self, event, origin)

    def said_from(self, origin: str) -> Event | None:
        found = self.stream.said_from(origin)
        return found and found.event

    @property
    def is_over(self) -> bool:
        """Nobody hears what is said here any more."""
        return self.flusher.is_stopped or self.stream.taken is not None

    @property
    def view(self) -> View | None:
        return self.stream.view

    @property
    def has_journal(self) -> bool:
        """Whether what was said outlives this process before it is in the database."""
        return self.stream.has_journal

    async def settle(self) -> None:
        """Until all that was said is on disk, and in the view."""
        await self.flusher.settle(self.stream)

    def release(self) -> None:
        """Nothing more will be said for now. Twice is harmless, and so is a last word after it."""
        self.stream.rest()


@dataclass(frozen=True)
class LogLine:
    """An event for a stream. What is worked on again after a crash says it again from the same
    origin: the first time counts."""

    writer: Writer
    event: Event
    origin: str | None = None
    # When it was said, where that was earlier: of a copy.
    at: int | None = None

    @property
    def said_first(self) -> Recorded | None:
        return None if self.origin is None else self.writer.stream.said_from(self.origin)


async def commit(*lines: LogLine, at: int | None = None) -> list[Recorded]:
    """All of it on disk together, or StoreUnavailable and nothing of it was said. Answers each as
    it was said first. `at` is now, for who tells the time in an event as well."""
    flusher = lines[0].writer.flusher
    flusher.must_run()
    said, fresh, done = _begin_commit(lines, at or now_ms(), "now")
    if fresh:
        await done
    for line in lines:  # one that was said before may still be on its way
        if line.origin is not None and line.writer.stream not in fresh:
            await flusher.settle(line.writer.stream)
    return said


def _begin_commit(
    lines: Sequence[LogLine], at: int, pace: Pace
) -> "tuple[list[Recorded], list[LiveStream], asyncio.Future[None]]":
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    said, fresh = _say_together(lines, done, at)
    _touch(lines[0].writer.flusher, fresh, pace)
    return said, fresh, done


def say(*lines: LogLine) -> list[Recorded]:
    """On disk together, at the latest with what is committed next. After the log's end nobody hears
    it, as with `Writer.say`."""
    flusher = lines[0].writer.flusher
    if any(line.writer.is_over for line in lines):
        return [line.said_first or Recorded.of(0, now_ms(), line.event) for line in lines]
    said, fresh = _say_together(lines, None, now_ms())
    _touch(flusher, fresh, "later")
    return said


def _touch(flusher: Flusher, streams: Sequence[LiveStream], pace: Pace) -> None:
    for stream in streams:
        flusher.touch(stream, pace)


def _origin(line: LogLine) -> str | None:
    return line.origin or origin_in(line.writer.stream.name)


def _say_together(
    lines: Sequence[LogLine], done: "asyncio.Future[None] | None", at: int
) -> tuple[list[Recorded], list[LiveStream]]:
    # What cannot be put into words fails here, before anything of it was said.
    drafts = [Recorded.of(0, line.at or at, line.event) for line in lines]
    fresh = {
        id(line.writer.stream): line.writer.stream for line in lines if line.said_first is None
    }
    streams = list(fresh.values())
    for stream in streams:
        if stream.taken is not None:
            raise StoreUnavailable(str(stream.taken))
    until = None if done is None else deadline()
    group = Group(tuple(streams), done, until) if done or len(lines) > 1 else None
    said: list[Recorded] = []
    for line, draft in zip(lines, drafts, strict=True):
        stream, found = line.writer.stream, line.said_first
        said.append(found or stream.say(draft, line.event, group, _origin(line)))
    return said, streams
