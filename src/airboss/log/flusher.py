"""Brings what was said to the disk: in batches, in order, and again until it is there."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from airboss.errors import StoreUnavailable
from airboss.log import rows
from airboss.log.journal import Journal
from airboss.log.portion import Portion
from airboss.log.rows import Batch
from airboss.log.stream import LiveStream
from airboss.store.database import Database

_log = logging.getLogger(__name__)

# Long enough to make few transactions of many deltas, and a loss of power takes no more than this.
BATCH_SECONDS = 0.03
RETRY_SECONDS = 1.0

_FAULT = (
    "An event could not be written ({error}). This is a bug in Airboss. See the log of the server "
    "for details; other events are written as before."
)
_CLOSED = "The log is closed: the server is stopping."


class Flusher:
    """One at a time writes for all streams."""

    def __init__(
        self, database: Database, journal: Journal, changed: Callable[[str], None]
    ) -> None:
        self._database = database
        self._journal = journal
        # Hears of every stream that was told more than deltas.
        self._changed = changed
        self._touched: dict[str, LiveStream] = {}
        self._dirty = asyncio.Event()
        self._urgent = asyncio.Event()
        self._ending = asyncio.Event()
        self._round = asyncio.Event()
        self.is_stopped = False
        self.trouble: StoreUnavailable | None = None
        self.events = 0
        self.deltas = 0
        self.flushes = 0

    def touch(self, stream: LiveStream, *, urgent: bool) -> None:
        """The stream has something to write; what is urgent does not wait for the batch's end."""
        self._touched[stream.name] = stream
        self._dirty.set()
        if urgent:
            self._urgent.set()

    def stop(self) -> None:
        self._ending.set()
        self._dirty.set()
        self._urgent.set()

    def must_run(self) -> None:
        if self.is_stopped:
            raise StoreUnavailable(_CLOSED)

    async def settle(self, stream: LiveStream) -> None:
        """Wait until all that the stream said is on disk."""
        while stream.is_busy:
            self.must_run()
            if self.trouble:
                raise StoreUnavailable(str(self.trouble))
            round_ended = self._round
            self._urgent.set()
            await round_ended.wait()

    async def run(self) -> None:
        try:
            while not self._ending.is_set():
                await self._dirty.wait()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(BATCH_SECONDS):
                        await self._urgent.wait()
                await self._flush()
            await self._flush()  # also where the disk was full until now
            while self._touched and not self.trouble:
                await self._flush()
        finally:
            self.is_stopped = True
            if not self._ending.is_set():
                self.trouble = StoreUnavailable("The log's writer failed. Restart the server.")
            for stream in self._touched.values():
                _log.error(
                    "%d events of %s could not be written to the log", stream.waiting, stream.name
                )
                stream.refuse(_CLOSED)
            self._end_round()

    def _end_round(self) -> None:
        self._round.set()
        self._round = asyncio.Event()

    async def _flush(self) -> None:
        self._dirty.clear()
        self._urgent.clear()
        streams, self._touched = [s for s in self._touched.values() if s.is_busy], {}
        if streams:
            full = self._journal.turn()
            try:
                await self._write(streams, full)
            except StoreUnavailable as error:
                await self._wait_for_the_disk(streams, error)
            self._end_round()

    async def _write(self, streams: Sequence[LiveStream], full: int) -> None:
        try:
            await self._write_together(streams)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - a fault of ours ends one event, not the log
            _log.exception("Could not write a batch of events; writing them one by one")
            await self._write_singly(streams)
        else:
            self.trouble = None
        self._journal.empty(full)

    async def _write_together(self, streams: Sequence[LiveStream], *, first: bool = False) -> None:
        """All that these streams have to say in one transaction, or nothing of it."""
        taken: list[tuple[LiveStream, Portion]] = []
        try:
            for stream in streams:
                taken.append((stream, stream.take(first=first)))  # noqa: PERF401 - kept when one fails
            portions = [portion for _, portion in taken]
            await self._database.write(lambda c: rows.write(c, _batch(portions)))
        except BaseException:
            for stream, portion in taken:
                stream.give_back(portion)
            raise
        self.flushes += 1
        for stream, portion in taken:
            self.events += len(portion.items)
            stream.written(portion)
            if any(item.text is None for item in portion.items):
                self._changed(stream.name)

    async def _write_singly(self, streams: Sequence[LiveStream]) -> None:
        """A fault of ours is in one of them: it is told and left out, and all others go on."""
        said: StoreUnavailable | None = None
        for stream in streams:
            last = stream.head
            while stream.waits_for(last):
                said = await self._write_first(stream) or said
        if said is None:
            self.trouble = None

    async def _write_first(self, stream: LiveStream) -> StoreUnavailable | None:
        """The first event of a stream, with all that was said in one call with it, in whatever
        streams: what those said before goes first. A call says all at once, so that no two calls
        wait for each other."""
        group = stream.first_group
        streams = group.streams if group else (stream,)
        said: StoreUnavailable | None = None
        for other in streams:
            while other.first_group is not group:
                said = await self._write_first(other) or said
        try:
            await self._write_together(streams, first=True)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - it becomes an answer to who waits
            names = ", ".join(one.name for one in streams)
            _log.exception("Could not write an event of %s", names)
            self.trouble = said = _in_words(error)
            for one in streams:
                one.drop_first(str(said))
        return said

    async def _wait_for_the_disk(
        self, streams: Sequence[LiveStream], error: StoreUnavailable
    ) -> None:
        if self.trouble is None:
            _log.error("Could not write the log: %s", error)
        self.trouble = error
        # Also those that said something since: a call may have said it here and there.
        for stream in {id(one): one for one in (*streams, *self._touched.values())}.values():
            stream.refuse(str(error))
            if stream.is_busy:
                self.touch(stream, urgent=False)
        self._end_round()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS):
                await self._ending.wait()


def _in_words(error: Exception) -> StoreUnavailable:
    # Of a database's error only its own words: the statement with all its values is not for people.
    cause = getattr(error, "orig", None) or error
    return StoreUnavailable(_FAULT.format(error=f"{type(cause).__name__}: {cause}"))


def _batch(portions: Sequence[Portion]) -> Batch:
    return Batch(
        rows=[row for portion in portions for row in portion.rows],
        runs=[run for portion in portions for run in portion.runs],
        opened=[start for portion in portions for start in portion.opened],
        closed=[start for portion in portions for start in portion.closed],
        origins=[origin for portion in portions for origin in portion.origins],
        firsts=[portion.first for portion in portions],
        views=[portion.view for portion in portions if portion.view],
    )
