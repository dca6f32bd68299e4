"""The event log: append, read, follow. Write, then wake; only deltas are shown before that."""

import asyncio
import contextlib
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from weakref import WeakValueDictionary

from pydantic import ValidationError

from airboss.background import Background
from airboss.errors import StoreUnavailable
from airboss.log import compact, newest, rows, transcript
from airboss.log.changes import UNLISTED, ChangedStreams
from airboss.log.elsewhere import Elsewhere
from airboss.log.flusher import Flusher
from airboss.log.follower import PAGE, Follower
from airboss.log.forgetting import forget_left, forget_streams
from airboss.log.holding import Holding
from airboss.log.journal import Journal, Note
from airboss.log.rows import OpenBlock
from airboss.log.stream import LiveStream, NoteDelta
from airboss.log.writer import LogLine, Writer, commit, say
from airboss.model.events import EVENT, BlockDelta, Recorded
from airboss.model.views import SessionView, View
from airboss.store import bindings
from airboss.store.database import Database
from airboss.store.dialect import Append, Growth, Row
from airboss.store.ownership import HERE, Ownership

# A new server begins so far behind what the store has: the last one may have shown deltas that a
# loss of power took, and a number that was shown is never used again.
RESERVE = 10_000
# What a follower is given at a time: many who follow something long hold a part of it each.
PAGE_CHARACTERS = 128 * 1024

# Deletes what lies beside the database for these streams, and by what the runtime calls them.
ForgetFiles = Callable[[Sequence[str], Sequence[str]], None]


class EventLog:
    """All streams of this server. Made once, opened before anything is said."""

    def __init__(
        self,
        database: Database,
        journal: Journal | None,
        forget_files: ForgetFiles | None = None,
        ownership: Ownership = HERE,
    ) -> None:
        """Without a journal nothing is shown before it is committed."""
        self._database = database
        self._forget_files = forget_files
        self._journal = journal
        self._ownership = ownership
        self._flusher = Flusher(database, journal, self._grown, ownership)
        # A stream is in memory once, as long as a writer, a follower or the flusher holds it: two
        # of one name would give a number twice.
        self._streams: WeakValueDictionary[str, LiveStream] = WeakValueDictionary()
        self._elsewhere = Elsewhere(database, self._streams, self._changed_elsewhere)
        self._holding = Holding(database, ownership)
        self._listeners: set[ChangedStreams] = set()
        # Grows with every change that a list may show. A later server begins with a larger one.
        self.lists_version = time.time_ns() // 1000
        self._loading = asyncio.Lock()
        self._closing = False
        # Asked before streams are forgotten: what still works on their files ends.
        self.before_forget: Callable[[Sequence[str]], Awaitable[None]] | None = None

    @property
    def trouble(self) -> StoreUnavailable | None:
        """Why something cannot be written at the moment, if so."""
        return self._flusher.trouble

    async def look_again(self) -> StoreUnavailable | None:
        """Trouble ends with the next write; where nobody writes, whoever asks finds out."""
        if self.trouble and not self._flusher.is_stopped:
            try:
                await self._database.try_write(rows.try_to_write)
            except StoreUnavailable as error:
                return error
            self._flusher.trouble = None
        return self.trouble

    @property
    def counts(self) -> dict[str, float]:
        return {**self._flusher.counts, **self._elsewhere.counts}

    @property
    def silence(self) -> float | None:
        """For so many seconds a shared database has said nothing; None of one's own file."""
        return self._database.silence

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator["EventLog"]:
        journal = self._journal
        if journal:
            await self._take_over(await asyncio.to_thread(journal.open))
            await asyncio.to_thread(journal.start)
        async with self._elsewhere.open(), Background("log") as background:
            flushing = background.start(self._flusher.run(), "flusher")
            try:
                yield self
            finally:
                self.end_followers()
                self._flusher.stop()
                await flushing
                await self._holding.close()
                if journal:
                    await asyncio.to_thread(journal.close)

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
            batch = Append(self._ownership.worker, _growths(fresh, heads), fresh)
            await self._database.write(lambda c: self._database.dialect.append(c, batch))

    async def _stream(self, name: str) -> LiveStream:
        async with self._loading:
            stream = self._streams.get(name)
            if stream is None:
                with self._elsewhere.loading(name):
                    head, view = await self._database.read(
                        lambda c: (rows.head(c, name), rows.view(c, name))
                    )
                    # Whose it is, is known when somebody wants to write here.
                    is_own = self._journal is not None
                    stream = LiveStream(name, head, view, self._note, is_own=is_own)
                    self._streams[name] = stream
            return stream

    @property
    def _note(self) -> NoteDelta | None:
        journal = self._journal
        if journal is None:
            return None
        return lambda name, said: journal.add(name, said.seq, said.at, said.body)

    async def writer(self, name: str, *, for_a_word: bool = False) -> Writer:
        """The one who may say something in this stream. Who asks sees to it that there is one."""
        stream = await self._stream(name)
        await self._flusher.settle(stream)  # the writer before may have left a moment ago
        blocks: list[OpenBlock] = []
        if self._journal is None:
            await self._holding.claim(stream, for_a_word=for_a_word)
        if stream.head:
            blocks, origins = await self._database.read(
                lambda c: (rows.open_blocks(c, name), rows.said_once(c, name))
            )
            stream.remember(origins)
            # Nobody else says deltas; without a journal none is shown that could be lost.
            if self._journal and isinstance(stream.view, SessionView):
                stream.skip(RESERVE)
        for block in blocks:
            stream.reopen(block)
        return Writer(self._flusher, stream, tuple(blocks))

    @contextlib.asynccontextmanager
    async def word(self, name: str) -> AsyncGenerator[Writer]:
        """For who says something and goes: what nobody had is nobody's again behind it."""
        stream = await self._stream(name)
        self._holding.begin_word(name)
        try:
            writer = await self.writer(name, for_a_word=True)
            yield writer
            writer.release()
        finally:
            await self._holding.end_word(stream)

    def is_own(self, name: str) -> bool:
        """Whether this process is known to have the stream; one that nobody holds in memory is
        not."""
        stream = self._streams.get(name)
        return stream is not None and stream.is_own

    def let_go(self, names: Iterable[str]) -> None:
        """Nobody owns these any more: what is said there comes from elsewhere."""
        for name in names:
            if stream := self._streams.get(name):
                stream.is_own = self._journal is not None

    async def refresh(self, *names: str) -> None:
        """Where others write in these, too: what they said by now is known here."""
        await self._elsewhere.look_at(names)

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

    async def forget(self, names: Sequence[str], over: str | None = None) -> None:
        """For good. Who asks sees to it that nobody writes there, but in what is to be `over`."""
        if self.before_forget is not None:
            await self.before_forget(names)
        if self._forget_files:  # first: what a crash leaves of it is seen, and deleted again
            others = await self._database.read(lambda c: bindings.runtime_names(c, names))
            await asyncio.to_thread(self._forget_files, names, others)
        await forget_streams(self._database, names, over)
        for name in names:
            if stream := self._streams.pop(name, None):
                stream.forget()
            self._changed(name)
            self._elsewhere.tell_gone(name)

    async def said_from(self, name: str, origin: str) -> Recorded | None:
        """What came from there, as the store has it."""
        return await self._database.read(lambda c: rows.said_once(c, name).get(origin))

    async def forget_left(self) -> None:
        """What a server that was cut off had begun to forget."""
        await forget_left(self._database)

    def announce(self, name: str, *, only_here: bool = False) -> None:
        """Something beside the streams is another than before, and lists show it: here, and in all
        processes on the same database."""
        self._changed(name)
        if not only_here:
            self._elsewhere.tell(name)

    @property
    def is_heard(self) -> bool:
        """Whether somebody looks at all streams, as pages do."""
        return any(listener.for_a_page for listener in self._listeners)

    def _grown(self, name: str, head: int, more: bool) -> None:
        if more:
            self._changed(name)
        self._elsewhere.tell(name, head, more=more)

    def _changed(self, name: str) -> None:
        self.lists_version += name not in UNLISTED
        for listener in self._listeners:
            listener.add(name)

    def _changed_elsewhere(self, name: str | None) -> None:
        self.lists_version += name not in UNLISTED
        for listener in self._listeners:
            listener.add_of_others(name)

    @contextlib.contextmanager
    def changes(
        self, *words: str, for_a_page: bool = True, only_here: bool = False
    ) -> Generator[ChangedStreams]:
        """Every stream that is told more than deltas from now on, or forgotten; or these words."""
        listener = ChangedStreams(*words, for_a_page=for_a_page, only_here=only_here)
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
        if stream is not None and stream.is_own:
            return stream.view
        return await self._database.read(lambda c: rows.view(c, name))

    async def head(self, name: str) -> int:
        """The seq of the last event that was said."""
        stream = self._streams.get(name)
        if stream is not None and stream.is_own:
            return stream.head
        return await self._database.read(lambda c: rows.head(c, name))

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
        await newest.forget_all_older(self._database, name, at)

    @contextlib.asynccontextmanager
    async def follow(self, name: str, after: int) -> AsyncGenerator[Follower]:
        yield Follower(self.next_of, await self._stream(name), after)

    async def next_of(
        self, stream: LiveStream, after: int, wait: float, limit: int
    ) -> list[Recorded]:
        deadline, view = time.monotonic() + wait, stream.view
        while True:
            # Both before the read: no wake-up is lost, and the last words are still read.
            grown, closing = stream.grown, self._closing
            found = await self.after(stream.name, after, limit, PAGE_CHARACTERS)
            left = deadline - time.monotonic()
            if found or closing or left <= 0 or stream.is_forgotten:
                return found
            # Of others' streams the store may have told more than is known here. Then the view
            # comes behind it, and whoever looks at that has to be woken, too.
            if not stream.is_own and stream.view is not view:
                return found
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await grown.wait()


def _growths(fresh: Sequence[Row], heads: Mapping[str, int]) -> list[Growth]:
    seqs: dict[str, list[int]] = {}
    for row in fresh:
        seqs.setdefault(row[0], []).append(row[1])
    return [Growth(name, min(some), max(some), 0, 1, heads[name]) for name, some in seqs.items()]


def _rows(note: Note) -> list[Row]:
    try:
        event = EVENT.validate_json(note.body)
    except ValidationError:
        return []  # what a loss of power left of a line, and happens to be JSON
    if not isinstance(event, BlockDelta):
        return []
    recorded = Recorded(note.seq, note.at, note.body)
    return [rows.row_of(note.stream, recorded, event.kind, "delta", event.block)]
