"""Brings what was said to the disk: in batches, in order, and again until it is there."""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from airboss.errors import StoreAway, StoreUnavailable
from airboss.log.appending import AppendAttempt
from airboss.log.journal import Journal
from airboss.log.portion import Portion
from airboss.log.stream import LiveStream
from airboss.patience import is_ending, patience
from airboss.store.database import Database
from airboss.store.dialect import SHARED_EPOCH, Fenced, Growth
from airboss.store.ownership import HERE, NOT_WRITTEN, Ownership, has_changed_hands

_log = logging.getLogger(__name__)

# Long enough to make few transactions of many deltas, and a loss of power takes no more than this.
BATCH_SECONDS = 0.03
# When it is written: at once, since somebody waits for it; soon, since people look at it; as a
# delta, of which many come; or with what is written next.
Pace = Literal["now", "soon", "delta", "later"]
# Without a journal nobody sees it before that. Then deltas come so long behind the beginning of the
# last batch, and what is to come soon later the more streams that one had: a batch costs as much,
# here and wherever it is followed.
DELTA_SECONDS = 0.025
SOON_SECONDS = 0.02
_SOON_SECONDS_A_STREAM = 0.0004
RETRY_SECONDS = 1.0
# A database that was away is asked again so soon: it is back at once when it is there.
AWAY_SECONDS = 0.1

# A stream has come to this seq; whether more than deltas was said.
Grown = Callable[[str, int, bool], None]

_FAULT = (
    "An event could not be written ({error}). This is a bug in Airboss. See the log of the server "
    "for details; other events are written as before."
)
_IN_DOUBT = (
    "The database went away while this was written, so it may have been done or not. Look before "
    "you try again."
)
_CLOSED = "The log is closed: the server is stopping."


class Flusher:
    """One at a time writes for all streams."""

    def __init__(
        self,
        database: Database,
        journal: Journal | None,
        grown: Grown,
        ownership: Ownership = HERE,
    ) -> None:
        self._database = database
        self._journal = journal
        self._ownership = ownership
        self._grown = grown
        self._touched: dict[str, LiveStream] = {}
        self._dirty = asyncio.Event()
        self._urgent = asyncio.Event()
        self._ending = asyncio.Event()
        self._round = asyncio.Event()
        self._began_at = 0.0
        self._last_streams = 0
        self._urgent_at = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self.is_stopped = False
        self.trouble: StoreUnavailable | None = None
        self.events = 0
        self.deltas = 0
        self.flushes = 0
        self.append_seconds = 0.0

    @property
    def counts(self) -> dict[str, float]:
        """Since the start; the seconds are those of all flushes together."""
        return {
            "events": self.events,
            "deltas": self.deltas,
            "flushes": self.flushes,
            "append_seconds": self.append_seconds,
        }

    def touch(self, stream: LiveStream, pace: Pace) -> None:
        """The stream has something to write."""
        self._touched[stream.name] = stream
        self._dirty.set()
        if pace == "now" or (pace == "soon" and self._journal):
            self._urgent.set()
        elif pace != "later" and not self._journal:
            soon = min(SOON_SECONDS, _SOON_SECONDS_A_STREAM * self._last_streams)
            self._be_urgent_at(self._began_at + (DELTA_SECONDS if pace == "delta" else soon))

    def _be_urgent_at(self, at: float) -> None:
        if self._urgent_at <= at:
            return
        loop = asyncio.get_running_loop()
        self._urgent_at = at
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(at, self._urgent.set) if loop.time() < at else None
        if self._timer is None:
            self._urgent.set()

    def _begin_batch(self) -> None:
        self._dirty.clear()
        self._urgent.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._urgent_at = math.inf
        self._began_at = asyncio.get_running_loop().time()

    def stop(self) -> None:
        self._ending.set()
        self._dirty.set()
        self._urgent.set()

    def must_run(self) -> None:
        if self.is_stopped:
            raise StoreUnavailable(_CLOSED)

    async def settle(self, stream: LiveStream) -> None:
        """Wait until all that the stream said is on disk."""
        until = deadline()
        while stream.is_busy:
            self.must_run()
            if isinstance(self.trouble, StoreAway):
                if is_ending() or (until is not None and time.monotonic() > until):
                    raise StoreAway(str(self.trouble))
            elif self.trouble:
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
                stream.refuse(StoreUnavailable(_CLOSED))
            self._end_round()

    def _end_round(self) -> None:
        self._round.set()
        self._round = asyncio.Event()

    async def _flush(self) -> None:
        self._begin_batch()
        streams, self._touched = [s for s in self._touched.values() if s.is_busy], {}
        self._last_streams = len(streams)
        if streams:
            full = self._journal.turn() if self._journal else 0
            try:
                await self._write(streams, full)
            except StoreAway as error:
                await self._wait_until_it_is_back(streams, error)
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
        if self._journal:
            self._journal.empty(full)

    async def _write_together(self, streams: Sequence[LiveStream], *, first: bool = False) -> None:
        """All that these streams have to say in one transaction, or nothing of it."""
        taken: list[tuple[LiveStream, Portion]] = []
        try:
            for stream in streams:
                taken.append((stream, stream.take(first=first)))  # noqa: PERF401 - kept when one fails
            began = time.monotonic()
            written = await self._append([portion for _, portion in taken])
        except BaseException:
            for stream, portion in taken:
                stream.give_back(portion)
            raise
        self.flushes += 1
        self.append_seconds += time.monotonic() - began
        for (stream, _), portion in zip(taken, written, strict=True):
            self.events += len(portion.items)
            stream.written(portion)
            more = any(item.text is None for item in portion.items)
            self._grown(stream.name, portion.growth.last, more)

    async def _append(self, portions: Sequence[Portion]) -> Sequence[Portion]:
        """Once; answers them as they were written. A commit of unknown outcome is settled by how
        far the streams have come: nobody else writes in them."""
        attempt = AppendAttempt(self._database.dialect, self._ownership.worker, portions)
        try:
            await self._database.try_write(attempt.write)
        except StoreAway as away:
            if not (away.in_doubt and await self._has_come_to(attempt)):
                raise
        except Fenced as fenced:
            # It may be our own commit that was in doubt, and came to its end a moment ago.
            if not await self._has_come_to(attempt):
                self._ownership.tell(fenced)
                raise
        return attempt.portions

    async def _has_come_to(self, attempt: AppendAttempt) -> bool:
        while True:
            try:
                return await self._database.try_write(attempt.has_happened)
            except StoreAway as away:
                if is_ending() or self._ending.is_set():
                    raise
                self.trouble = self.trouble or away
                attempt.refuse_late(time.monotonic(), _IN_DOUBT)
                self._end_round()
                await asyncio.sleep(AWAY_SECONDS)

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
            if isinstance(error, Fenced):
                await self._end_writers(streams, said)
            for one in streams:
                if one.taken is None:
                    one.drop_first(said)
        return said

    async def _end_writers(self, streams: Sequence[LiveStream], said: StoreUnavailable) -> None:
        """Of those that are not this worker's any more. Who writes there next claims it first."""
        for one in streams:
            growth = Growth(one.name, 0, 0, 0, one.epoch, one.committed)
            is_gone = partial(has_changed_hands, worker=self._ownership.worker, one=growth)
            if one.epoch != SHARED_EPOCH and await self._database.try_write(is_gone):
                one.end_writer(said)
                self._ownership.tell_taken(one.name)

    async def _wait_until_it_is_back(self, streams: Sequence[LiveStream], error: StoreAway) -> None:
        """Nobody is refused but people, and those when their time is over: what works goes on as if
        nothing had happened, a little later."""
        if self.trouble is None:
            _log.warning("The database is away: %s", error)
        self.trouble = error
        now = time.monotonic()
        for stream in {id(one): one for one in (*streams, *self._touched.values())}.values():
            stream.refuse(StoreAway(str(error)), lambda group: is_ending() or group.is_late(now))
            if stream.is_busy:
                self.touch(stream, "later")
        self._end_round()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AWAY_SECONDS):
                await self._ending.wait()

    async def _wait_for_the_disk(
        self, streams: Sequence[LiveStream], error: StoreUnavailable
    ) -> None:
        if self.trouble is None:
            _log.error("Could not write the log: %s", error)
        self.trouble = error
        # Also those that said something since: a call may have said it here and there.
        for stream in {id(one): one for one in (*streams, *self._touched.values())}.values():
            stream.refuse(StoreUnavailable(str(error)))
            if stream.is_busy:
                self.touch(stream, "later")
        self._end_round()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS):
                await self._ending.wait()


def deadline() -> float | None:
    """Until when whoever asks now waits for a database that is away; None for one who works."""
    seconds = patience()
    return None if seconds is None else time.monotonic() + seconds


def _in_words(error: Exception) -> StoreUnavailable:
    if isinstance(error, Fenced):
        return StoreUnavailable(NOT_WRITTEN.format(error=error))
    # Of a database's error only its own words: the statement with all its values is not for people.
    cause = getattr(error, "orig", None) or error
    return StoreUnavailable(_FAULT.format(error=f"{type(cause).__name__}: {cause}"))
