"""One connection for all that a page shows: several streams, and what changed elsewhere."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from airboss.errors import StoreUnavailable
from airboss.http.server_sent import ServerSentResponse, ServerSentWriter, note, now_ms, pieces
from airboss.log.changes import UNLISTED, ChangedStreams
from airboss.log.follower import Follower
from airboss.log.log import PAGE_CHARACTERS, EventLog
from airboss.model.events import Recorded
from airboss.model.inbox_events import INBOX

# A shared database that has said nothing for so long is away: somebody asks it each second. Then
# heartbeats say so as often as pages count seconds.
AWAY_SECONDS = 3.0
_AWAY_BEAT_SECONDS = 1.0
_LOOK_SECONDS = 0.5
# What changed elsewhere is told at most four times a second.
CHANGED_SECONDS = 0.25
_BACKLOG_PAGE = 2000
_QUIET_SECONDS = 3600.0

_log = logging.getLogger("airboss.http")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something to be written: of a stream, which is told up to `seq` then."""

    body: bytes
    stream: str = ""
    seq: int | None = None
    # All that this stream had at the beginning is told with it.
    is_all: bool = False


_Row = asyncio.Queue[_Piece | None]


class Feed(ServerSentResponse):
    """An answer that goes on until the reader leaves or the server stops. `follow` has, for each
    stream, the last seq that the reader knows. A `compact` one begins without the deltas of blocks
    that have ended. Before all else it says the `build` of the pages that this server has."""

    heartbeat_seconds: ClassVar[float] = 5.0

    def __init__(
        self,
        log: EventLog,
        follow: Mapping[str, int],
        *,
        lists: bool,
        compact: bool = True,
        build: str | None = None,
    ) -> None:
        super().__init__()
        self._log = log
        self._follow = follow
        self._lists = lists
        self._compact = compact
        self._version = log.lists_version
        self._build = build
        self._sent: dict[str, int] = {}
        self._behind = set(follow)
        # One stream at a time reads a page and hands it over: however many are followed, no more
        # than that waits for a reader.
        self._turn = asyncio.Lock()
        self._was_away = False

    async def tell(self, writer: ServerSentWriter) -> None:
        async with self._reading() as row:
            if self._build is not None:
                await writer.note("build", build=self._build)
            if not self._behind:
                await self._tell_caught_up(writer)
            while await self._tell_next(writer, row):
                silence = self._log.silence
                self._look_at_database(writer, silence)
                heard = {} if silence is None else {"database_ms": round(silence * 1000)}
                await writer.heartbeat(at=now_ms(), streams=self._sent, **heard)

    def _look_at_database(self, writer: ServerSentWriter, silence: float | None) -> None:
        """That it is away, and that it is back, is told at once."""
        is_away = silence is not None and silence >= AWAY_SECONDS
        if is_away or self._was_away:
            writer.beat_within(_AWAY_BEAT_SECONDS if is_away and self._was_away else 0)
        self._was_away = is_away

    async def _tell_next(self, writer: ServerSentWriter, row: _Row) -> bool:
        """The next piece, if one comes before the heartbeat; whether it was not the end."""
        seconds = writer.seconds_to_heartbeat
        try:
            async with asyncio.timeout(
                seconds if self._log.silence is None else min(seconds, _LOOK_SECONDS)
            ):
                piece = await row.get()
        except TimeoutError:
            return True
        if piece is not None:
            await self._pass_on(writer, piece)
        row.task_done()
        return piece is not None

    async def _pass_on(self, writer: ServerSentWriter, piece: _Piece) -> None:
        if piece.body:
            await writer.write(piece.body)
        if piece.seq is not None:
            self._sent[piece.stream] = piece.seq
        if piece.is_all and self._behind:
            self._behind.discard(piece.stream)
            if not self._behind:
                await self._tell_caught_up(writer)

    async def _tell_caught_up(self, writer: ServerSentWriter) -> None:
        """A list of this version or a later one needs nothing but what is told from here on."""
        lists = {"lists": self._version} if self._lists else {}
        await writer.note("caught-up", streams=self._sent, **lists)

    # What is read for it.

    @contextlib.asynccontextmanager
    async def _reading(self) -> AsyncGenerator[_Row]:
        """All that is read, in one row; None at its end."""
        row = _Row(1)
        async with asyncio.TaskGroup() as group:
            with self._log.changes() as changes:
                self._version = self._log.lists_version  # what comes behind it is heard here
                reading = [
                    group.create_task(self._read(name, after, row))
                    for name, after in self._follow.items()
                ]
                listening = group.create_task(self._listen(changes, reading, row))
                try:
                    yield row
                finally:
                    for task in (*reading, listening):
                        task.cancel()

    async def _listen(
        self, changes: ChangedStreams, reading: "Sequence[asyncio.Task[None]]", row: _Row
    ) -> None:
        """Tells what changed elsewhere; and the end, behind the last words of all streams."""
        while not changes.is_over:
            names = [name for name in await changes.next() if name not in UNLISTED]
            is_any = changes.took_any()
            if (names or is_any) and self._lists:
                await row.put(_Piece(note("changed", streams=[] if is_any else names)))
                await asyncio.sleep(CHANGED_SECONDS)
        if reading:
            await asyncio.wait(reading)
        await row.put(None)

    async def _read(self, name: str, after: int, row: _Row) -> None:
        try:
            async with self._log.follow(name, after) as follower:
                if name == INBOX or follower.view is not None:
                    await self._catch_up(name, follower, row)
                    await self._go_on(name, follower, row)
                else:
                    await row.put(_Piece(note("gone", stream=name), name, is_all=True))
        except StoreUnavailable:
            await row.put(None)  # whoever comes back is told why
        except Exception:  # noqa: BLE001 - the border: a stream that says nothing would be a lie
            _log.exception("The feed cannot read %s", name)
            await row.put(None)

    async def _catch_up(self, name: str, follower: Follower, row: _Row) -> None:
        """All that was there at the beginning, as short as it can be told."""
        head, more = follower.head, self._compact
        while more:
            async with self._turn:
                seq = follower.seq
                found, more = await self._log.compact(name, seq, _BACKLOG_PAGE, PAGE_CHARACTERS)
                await self._put(name, follower, found, row)
        while follower.seq < head:  # what the store does not have yet
            if not await self._put_next(name, follower, row):
                break
        await row.put(_Piece(b"", name, follower.seq, is_all=True))

    async def _go_on(self, name: str, follower: Follower, row: _Row) -> None:
        """A run that has ended may be retried, so that its end is not the last that is told."""
        is_ended = False
        while True:
            is_over = follower.view is not None and follower.view.is_over
            ends = is_over and not is_ended
            await follower.wait(0 if ends else _QUIET_SECONDS)
            if await self._put_next(name, follower, row):
                is_ended = False
            elif follower.is_forgotten:
                await row.put(_Piece(note("gone", stream=name)))
                return
            elif ends:
                end = note("end", stream=name, seq=follower.seq)
                await row.put(_Piece(end, name, follower.seq))
                is_ended = True
            elif self._log.is_closing:
                return

    async def _put_next(self, name: str, follower: Follower, row: _Row) -> bool:
        """Hands over what there is; whether there was something."""
        async with self._turn:
            before = follower.seq
            await self._put(name, follower, await follower.next(0), row)
        return follower.seq > before

    async def _put(self, name: str, follower: Follower, found: list[Recorded], row: _Row) -> None:
        """One by one: a piece is made when the one before it was taken from us."""
        last = found[-1].seq if found else follower.seq
        begin = f'data: {{"stream":{json.dumps(name)},'
        for body, seq in pieces(found, lambda recorded: f"{begin}{recorded.json[1:]}\n\n"):
            await row.put(_Piece(body, name, seq))
            del body  # else it is held while the next one is made
            await row.join()
        follower.seq = last
