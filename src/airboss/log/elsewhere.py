"""What other processes on the same database say: it reaches those who follow streams here.

A notice wakes, and the database says what there is. A notice that is lost costs a second: so often
the heads of all streams that are followed here are compared.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, MutableMapping, Sequence
from typing import Final

from airboss.background import Background
from airboss.errors import StoreAway, StoreUnavailable
from airboss.log.news import heads, news
from airboss.log.stream import LiveStream
from airboss.store.database import Database
from airboss.store.notices import DELETED, GONE, StreamNotice

_log = logging.getLogger(__name__)

# Within a second it is shown, and it has to be read first.
COMPARE_SECONDS: Final = 0.8
# What was said here is being written: then it is known what came before it.
_BUSY_SECONDS: Final = 0.02
_AWAY_SECONDS: Final = 0.1


class Elsewhere:
    """The ear and the mouth of one log. `changed` hears of every stream that was told more than
    deltas; of None, where any may have been."""

    def __init__(
        self,
        database: Database,
        known: MutableMapping[str, LiveStream],
        changed: Callable[[str | None], None],
    ) -> None:
        self._database = database
        self._known = known
        self._changed = changed
        self._line = database.notice_line(self._heard_in_thread)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken: set[str] = set()
        self._dirty = asyncio.Event()
        # What was heard of streams that are just being read.
        self._loading: dict[str, int] = {}
        # Heads that had moved without a word.
        self.missed = 0
        # How often something of others was read here, and how long behind its saying.
        self.follows = 0
        self.follow_seconds = 0.0

    @property
    def counts(self) -> dict[str, float]:
        """Since the start; none where nobody else writes."""
        if self._line is None:
            return {}
        return {
            "follows": self.follows,
            "follow_seconds": self.follow_seconds,
            "missed_notices": self.missed,
            "reconnects": self._line.reconnects,
        }

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        line = self._line
        if line is None:
            yield
            return
        self._loop = asyncio.get_running_loop()
        line.start()
        async with Background("elsewhere") as background:
            background.start(self._listen(), "listening")
            background.start(self._compare(), "comparing")
            try:
                yield
            finally:
                background.cancel()
                await asyncio.to_thread(line.close)

    # Saying.

    def tell(self, name: str, head: int = 0, *, more: bool = True) -> None:
        if self._line is not None:
            self._line.call((StreamNotice(name, head, more),))

    def tell_gone(self, name: str) -> None:
        self.tell(name, GONE)
        self.tell(DELETED)
        self._changed(DELETED)

    # Hearing.

    @contextlib.contextmanager
    def loading(self, name: str) -> Generator[None]:
        """While a stream is read for the first time: what is heard of it meanwhile counts."""
        self._loading[name] = 0
        try:
            yield
        finally:
            stream, heard = self._known.get(name), self._loading.pop(name)
            if stream is not None and heard > stream.head:
                self._wake(name)

    async def look_at(self, names: Iterable[str]) -> None:
        """Now, without a notice."""
        if self._line is not None:
            await self._read(set(names))

    def _heard_in_thread(self, notices: Sequence[StreamNotice] | None) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended before the line
                self._loop.call_soon_threadsafe(self._heard, notices)

    def _heard(self, notices: Sequence[StreamNotice] | None) -> None:
        if notices is None:
            self._woken.update(self._followed())
            self._dirty.set()
            self._changed(None)
            return
        for one in notices:
            if one.name in self._loading:
                self._loading[one.name] = max(one.head, self._loading[one.name])
            stream = self._known.get(one.name)
            if stream is None:
                if one.more:
                    self._changed(one.name)
            elif one.head == GONE or one.head > stream.committed:
                self._wake(one.name)

    def _wake(self, name: str) -> None:
        self._woken.add(name)
        self._dirty.set()

    def _followed(self) -> dict[str, int]:
        """Streams of others, and how far they are known here."""
        return {
            name: stream.committed
            for name, stream in list(self._known.items())
            if not stream.is_own and not stream.is_busy
        }

    async def _listen(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            woken, self._woken = self._woken, set()
            try:
                await self._read(woken)
            except StoreUnavailable as error:
                if not isinstance(error, StoreAway):
                    _log.warning("Could not read what other processes said: %s", error)
                self._woken |= woken
                self._dirty.set()
                await asyncio.sleep(_AWAY_SECONDS)
            except Exception:  # noqa: BLE001 - a border: all other streams are followed on
                _log.exception("Could not make out what other processes said in %s", woken)
                await asyncio.sleep(_AWAY_SECONDS)

    async def _read(self, woken: set[str]) -> None:
        followed = {name: stream for name in woken if (stream := self._known.get(name))}
        places = {name: stream.committed for name, stream in followed.items()}
        if not places:
            return
        told = await self._database.read(lambda c: news(self._database.dialect, c, places))
        is_late = False
        for name, one in told.items():
            stream = followed[name]
            if one.said:
                self.follows += 1
                # The clocks of two machines: what would be below nothing is nothing.
                self.follow_seconds += max(0.0, time.time() - one.said[-1].at / 1000)
            if not stream.hear(one):
                self._woken.add(name)
                is_late = True
                continue
            if stream.is_forgotten:
                self._known.pop(name, None)
            if stream.is_forgotten or one.view is not None or stream.view is None:
                self._changed(name)
        if is_late:
            await asyncio.sleep(_BUSY_SECONDS)
            self._dirty.set()

    async def _compare(self) -> None:
        while True:
            await asyncio.sleep(COMPARE_SECONDS)
            followed = self._followed()
            if not followed:
                continue
            try:
                found = await self._database.try_read(lambda c, names=followed: heads(c, names))
            except StoreUnavailable:
                continue  # who reads says so
            for name, seq in followed.items():
                stream = self._known.get(name)
                if stream is None or stream.committed != seq or name in self._woken:
                    continue
                if found.get(name, 0) != seq:
                    self.missed += 1
                    self._wake(name)
