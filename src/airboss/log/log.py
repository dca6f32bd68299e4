"""The event log: append, read, follow. Write, then wake; only deltas are shown before that."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from pydantic import ValidationError
from sqlalchemy import Connection

from airboss.background import Background
from airboss.errors import StoreUnavailable
from airboss.log import compact, newest, rows, transcript
from airboss.log.changes import UNLISTED, ChangedStreams
from airboss.log.flusher import Flusher
from airboss.log.journal import Journal, Note
from airboss.log.rows import Batch, OpenBlock, Row
from airboss.log.stream import LiveStream
from airboss.log.writer import LogLine, Writer, commit, say
from airboss.model.events import EVENT, BlockDelta, Recorded
from airboss.model.views import SessionView, View
from airboss.store import bindings
from airboss.store.database import Database

# A new server begins so far behind what the store has: the last one may have shown deltas that a
# loss of power took, and a number that was shown is never used again.
RESERVE = 10_000
PAGE = 500
# What a follower is given at a time: many who follow something long hold a part of it each.
PAGE_CHARACTERS = 128 * 1024

# Deletes what lies beside the database for these streams, and by what the runtime calls them.
ForgetFiles = Callable[[Sequence[str], Sequence[str]], None]


class EventLog:
    """All streams of this server. Made once, opened before anything is said."""

    def __init__(
        self, database: Database, journal: Journal, forget_files: ForgetFiles | None = None
    ) -> None:
        self._database = database
        self._forget_files = forget_files
        self._journal = journal
        self._flusher = Flusher(database, journal, self._changed)
        # A stream is in memory once, as long as a writer, a follower or the flusher holds it: two
        # of one name would give a number twice.
        self._streams: WeakValueDictionary[str, LiveStream] = WeakValueDictionary()
        self._listeners: set[ChangedStreams] = set()
        # Grows with every change that a list may show. A later server begins with a larger one.
        self.lists_version = time.time_ns() // 1000
        self._loading = asyncio.Lock()
        self._closing = False

    @property
    def trouble(self) -> StoreUnavailable | None:
        """Why something cannot be written at the moment, if so."""
        return self._flusher.trouble

    async def look_again(self) -> StoreUnavailable | None:
        """Trouble ends with the next write; where nobody writes, whoever asks finds out."""
        if self.trouble and not self._flusher.is_stopped:
            try:
                await self._database.write(rows.try_to_write)
            except StoreUnavailable as error:
                return error
            self._flusher.trouble = None
        return self.trouble

    @property
    def counts(self) -> dict[str, int]:
        flusher = self._flusher
        return {"events": flusher.events, "deltas": flusher.deltas, "flushes": flusher.flushes}

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator["EventLog"]:
        await self._take_over(await asyncio.to_thread(self._journal.open))
        await asyncio.to_thread(self._journal.start)
        async with Background("log") as background:
            flushing = background.start(self._flusher.run(), "flusher")
            try:
                yield self
            finally:
                self.end_followers()
                self._flusher.stop()
                await flushing
                await asyncio.to_thread(self._journal.close)

    def end_followers(self) -> None:
        """Every follower comes to its end: the server is stopping. Writers go on until it has."""
        self._closing = True
        for stream in list(self._streams.values()):
            stream.grown.set()
        for listener in self._listeners:
            listener.end()

    @property
    def is_closing(self) -> bool:
        return self._closing

    async def _take_over(self, notes: list[Note]) -> None:
        """Deltas that an earlier server had shown and not yet written."""
        heads: dict[str, int] = {}
        for name in {note.stream for note in notes}:
            heads[name] = await self._database.read(lambda c, name=name: rows.head(c, name))
        fresh = [row for note in notes if note.seq > heads[note.stream] for row in _rows(note)]
        if fresh:
            await self._database.write(lambda c: rows.write(c, Batch(fresh)))

    async def _stream(self, name: str) -> LiveStream:
        async with self._loading:
            stream = self._streams.get(name)
            if stream is None:
                head, view = await self._database.read(
                    lambda c: (rows.head(c, name), rows.view(c, name))
                )
                stream = self._streams[name] = LiveStream(name, head, view, self._note)
            return stream

    def _note(self, name: str, recorded: Recorded) -> bool:
        return self._journal.add(name, recorded.seq, recorded.at, recorded.body)

    async def writer(self, name: str) -> Writer:
        """The one who may say something in this stream. Who asks sees to it that there is one."""
        stream = await self._stream(name)
        await self._flusher.settle(stream)  # the writer before may have left a moment ago
        blocks: list[OpenBlock] = []
        if stream.head:
            blocks, origins = await self._database.read(
                lambda c: (rows.open_blocks(c, name), rows.said_once(c, name))
            )
            stream.remember(origins)
            if isinstance(stream.view, SessionView):  # nobody else says deltas
                stream.skip(RESERVE)
        for block in blocks:
            stream.reopen(block)
        return Writer(self._flusher, stream, tuple(blocks))

    def new_writer(self, name: str) -> Writer:
        """Of a stream whose name is new: there is nothing to read before something is said."""
        stream = self._streams[name] = LiveStream(name, 0, None, self._note)
        return Writer(self._flusher, stream)

    async def commit(self, *lines: LogLine) -> list[Recorded]:
        """What belongs together across streams: on disk together, or StoreUnavailable and nothing
        of it was said. Answers each as it was said first."""
        return await commit(*lines)

    def say(self, *lines: LogLine) -> list[Recorded]:
        """The same without waiting: on disk together, with what is committed next at the latest."""
        return say(*lines)

    async def forget(self, names: Sequence[str]) -> None:
        """For good. Who asks sees to it that nobody writes in these streams any more."""
        if self._forget_files:  # first: what a crash leaves of it is seen, and deleted again
            others = await self._database.read(lambda c: bindings.runtime_names(c, names))
            await asyncio.to_thread(self._forget_files, names, others)
        await self._database.write(lambda c: _forget(c, names))
        for name in names:
            if stream := self._streams.pop(name, None):
                stream.forget()
            self._changed(name)

    def announce(self, name: str) -> None:
        """Something beside the streams is another than before, and lists show it."""
        self._changed(name)

    @property
    def is_heard(self) -> bool:
        """Whether somebody looks at all streams, as pages do."""
        return any(listener.for_a_page for listener in self._listeners)

    def _changed(self, name: str) -> None:
        self.lists_version += name not in UNLISTED
        for listener in self._listeners:
            listener.add(name)

    @contextlib.contextmanager
    def changes(self, *, for_a_page: bool = True) -> Generator[ChangedStreams]:
        """Every stream that is told more than deltas from now on, or forgotten."""
        listener = ChangedStreams(for_a_page=for_a_page)
        self._listeners.add(listener)
        if self._closing:
            listener.end()
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def view(self, name: str) -> View | None:
        """What the stream's events fold into, as of the view's own seq."""
        stream = self._streams.get(name)
        if stream is not None:
            return stream.view
        return await self._database.read(lambda c: rows.view(c, name))

    async def head(self, name: str) -> int:
        """The seq of the last event that was said."""
        return (await self._stream(name)).head

    async def last_view(self, name: str) -> View | None:
        """Behind all that was said a moment ago."""
        if stream := self._streams.get(name):
            await self._flusher.settle(stream)
        return await self.view(name)

    async def after(
        self, name: str, seq: int, limit: int = PAGE, characters: int | None = None
    ) -> list[Recorded]:
        """One page behind `seq`: from memory where the reader is nearly up to date."""
        stream = self._streams.get(name)
        recent = stream.after(seq) if stream else None
        if recent is not None:
            return recent[:limit]
        return await self._database.read(lambda c: rows.page(c, name, seq, limit, characters))

    async def compact(
        self, name: str, seq: int, limit: int, characters: int | None = None
    ) -> tuple[list[Recorded], bool]:
        """A page of what the store has behind `seq`, for somebody who comes late: without the
        deltas of blocks that have ended. And whether there may be more."""
        return await self._database.read(lambda c: compact.page(c, name, seq, limit, characters))

    async def last(self, name: str, count: int) -> list[Recorded]:
        """The last so many events that the store has, without the deltas of ended blocks."""
        return await self._database.read(lambda c: compact.last(c, name, count))

    async def transcript(
        self,
        name: str,
        after: int,
        limit: int = PAGE,
        kinds: Sequence[str] = (),
        until: int | None = None,
        without: Sequence[str] = (),
    ) -> list[Recorded]:
        """One page without deltas and other kinds, or of these kinds only: as it is on disk."""
        read = transcript.page
        return await self._database.read(
            lambda c: read(c, name, after, limit, kinds, until, without)
        )

    async def among(
        self, names: Sequence[str], kinds: Sequence[str], limit: int
    ) -> list[tuple[str, Recorded]]:
        """Events of these kinds in several streams, with the stream of each: as it is on disk."""
        return await self._database.read(lambda c: transcript.among(c, names, kinds, limit))

    async def newest(self, name: str, before: int | None, limit: int) -> list[Recorded]:
        """The last events on disk, newest first; those before a seq."""
        return await self._database.read(lambda c: newest.page(c, name, before, limit))

    async def count_older(self, name: str, at: int) -> int:
        return await self._database.read(lambda c: newest.count_older(c, name, at))

    async def forget_older(self, name: str, at: int) -> None:
        """The events before this time, for good; but the last."""
        await self._database.write(lambda c: newest.forget_older(c, name, at))

    @contextlib.asynccontextmanager
    async def follow(self, name: str, after: int) -> AsyncGenerator["Follower"]:
        yield Follower(self, await self._stream(name), after)

    async def next_of(
        self, stream: LiveStream, after: int, wait: float, limit: int = PAGE
    ) -> list[Recorded]:
        deadline = time.monotonic() + wait
        while True:
            # Both before the read: no wake-up is lost, and the last words are still read.
            grown, closing = stream.grown, self._closing
            found = await self.after(stream.name, after, limit, PAGE_CHARACTERS)
            left = deadline - time.monotonic()
            if found or closing or left <= 0 or stream.is_forgotten:
                return found
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await grown.wait()


@dataclass
class Follower:
    """One reader's place in a stream."""

    _log: EventLog
    _stream: LiveStream
    seq: int

    async def next(self, wait: float) -> list[Recorded]:
        """What came since, or nothing after `wait` seconds or when the log closes."""
        found = await self._log.next_of(self._stream, self.seq, wait)
        if found:
            self.seq = found[-1].seq
        return found

    async def wait(self, seconds: float) -> None:
        """Until `next` has something to give, or nothing after so long or when the log closes."""
        await self._log.next_of(self._stream, self.seq, seconds, 1)

    @property
    def view(self) -> View | None:
        return self._stream.view

    @property
    def head(self) -> int:
        return self._stream.head

    @property
    def is_forgotten(self) -> bool:
        return self._stream.is_forgotten


def _forget(connection: Connection, names: Sequence[str]) -> None:
    rows.forget(connection, names)
    bindings.forget(connection, names)


def _rows(note: Note) -> list[Row]:
    try:
        event = EVENT.validate_json(note.body)
    except ValidationError:
        return []  # what a loss of power left of a line, and happens to be JSON
    if not isinstance(event, BlockDelta):
        return []
    recorded = Recorded(note.seq, note.at, note.body)
    return [rows.row_of(note.stream, recorded, event.kind, "delta", event.block)]
