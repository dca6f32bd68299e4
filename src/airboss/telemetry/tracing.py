"""Follows the log and sends what ends as spans; and takes the runtimes' own spans on the way."""

import asyncio
import contextlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from airboss.background import Background
from airboss.errors import StoreUnavailable
from airboss.log.changes import ChangedStreams
from airboss.log.log import EventLog
from airboss.model.events import Recorded
from airboss.model.redaction import Redactor
from airboss.telemetry.door import SpanDoor
from airboss.telemetry.sender import SpanSender
from airboss.telemetry.story import BEGINNINGS, EndedSpan, StreamStory, kinds_of
from airboss.telemetry_settings import Telemetry

if TYPE_CHECKING:
    from airboss.telemetry.spans import SpanMaker

# What happens together is sent together.
_BATCH_SECONDS: Final = 0.5
_PAGE: Final = 200
# Streams that are known; of another, its beginning is read again.
_MOST_STREAMS: Final = 2000
_LAST_SECONDS: Final = 2.0


@dataclass
class Tracing:
    """The traces of one server. `door` is where its runtimes send theirs."""

    telemetry: Telemetry
    log: EventLog
    maker: "SpanMaker"
    sender: SpanSender
    door: SpanDoor
    # What ended before was told by an earlier server, or by nobody.
    since: int
    _stories: OrderedDict[str, StreamStory] = field(default_factory=OrderedDict[str, StreamStory])
    _changes: ChangedStreams | None = None
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _background: Background = field(default_factory=lambda: Background("telemetry"))

    @classmethod
    async def opened(
        cls,
        telemetry: Telemetry,
        headers: dict[str, str],
        log: EventLog,
        redactor: Redactor,
        version: str,
        now: int,
    ) -> Self:
        # A tenth of a second and some megabytes, for those alone who want traces.
        maker = await asyncio.to_thread(_maker, version)
        sender = SpanSender(telemetry, headers)
        door = SpanDoor(sender.put, redactor.text, telemetry.content)
        await door.open()
        sender.start()
        return cls(telemetry, log, maker, sender, door, now)

    def start(self) -> None:
        self._background.start(self._follow(), "follower")

    async def close(self) -> None:
        """Behind the end of all that is traced; the last spans have a moment to get away."""
        self._over.set()
        if self._changes is not None:
            self._changes.end()
        await self._background.close(seconds=_LAST_SECONDS)
        await self.door.close()
        await self.sender.close(_LAST_SECONDS)

    async def _follow(self) -> None:
        with self.log.changes(for_a_page=False, only_here=True) as self._changes:
            while not self._changes.is_over:
                ended: list[EndedSpan] = []
                for name in await self._changes.next():
                    ended += await self._ended_in(name)
                if ended:
                    self.sender.put(self.maker.encoded(ended))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_BATCH_SECONDS):
                        await self._over.wait()

    async def _ended_in(self, stream: str) -> list[EndedSpan]:
        try:
            story = self._stories.pop(stream, None) or await self._begun(stream)
            ended = await self._read(story, kinds_of(content=self.telemetry.content))
        except StoreUnavailable:
            return []  # the disk's trouble is told elsewhere
        self._stories[stream] = story
        while len(self._stories) > _MOST_STREAMS:
            self._stories.popitem(last=False)
        return ended

    async def _begun(self, stream: str) -> StreamStory:
        """What an earlier server said, as far as a span may still be open."""
        story = StreamStory(stream, self.telemetry.content)
        while page := await self._page(story, BEGINNINGS):
            for recorded in page:
                if recorded.at >= self.since:
                    return story
                story.hear(recorded)
        return story

    async def _read(self, story: StreamStory, kinds: tuple[str, ...]) -> list[EndedSpan]:
        ended: list[EndedSpan] = []
        while page := await self._page(story, kinds):
            told = [(recorded, story.hear(recorded)) for recorded in page]
            ended += [span for recorded, span in told if span and recorded.at >= self.since]
        return ended

    async def _page(self, story: StreamStory, kinds: tuple[str, ...]) -> list[Recorded]:
        return await self.log.transcript(story.stream, story.seq, _PAGE, kinds)


def _maker(version: str) -> "SpanMaker":
    from airboss.telemetry.spans import SpanMaker

    return SpanMaker(version)
