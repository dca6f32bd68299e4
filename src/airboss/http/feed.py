"""One connection for all that a page shows: several streams, and what changed elsewhere."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from airboss.errors import StoreUnavailable
from airboss.http.sse import HEADERS, PIECE_BYTES, emptied, while_read, write
from airboss.log.log import PAGE_CHARACTERS, EventLog, Follower
from airboss.model.audit_events import AUDIT
from airboss.model.events import Recorded
from airboss.model.inbox_events import INBOX

HEARTBEAT_SECONDS = 5.0
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


_Pieces = asyncio.Queue[_Piece | None]


class Feed(Response):
    """An answer that goes on until the reader leaves or the server stops. `follow` has, for each
    stream, the last seq that the reader knows."""

    def __init__(self, log: EventLog, follow: Mapping[str, int], *, lists: bool) -> None:
        super().__init__()
        self._log = log
        self._follow = follow
        self._lists = lists
        self._told: dict[str, int] = {}
        self._behind = set(follow)
        # One stream at a time reads a page and hands it over: however many are followed, no more
        # than that waits for a reader.
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async with self._reading() as pieces:
            await while_read(receive, self._tell(send, pieces))
        await send({"type": "http.response.body", "body": b""})

    async def _tell(self, send: Send, pieces: _Pieces) -> None:
        await write(send, b"retry: 1000\n\n")
        if not self._behind:
            await write(send, _note("caught-up", streams={}))
        beat = time.monotonic() + HEARTBEAT_SECONDS
        while await self._tell_next(send, pieces, max(0.0, beat - time.monotonic())):
            if time.monotonic() >= beat:
                at = time.time_ns() // 1_000_000
                await write(send, _note("heartbeat", at=at, streams=self._told))
                beat = time.monotonic() + HEARTBEAT_SECONDS

    async def _tell_next(self, send: Send, pieces: _Pieces, seconds: float) -> bool:
        """The next piece, if one comes within so long; whether it was not the end."""
        try:
            async with asyncio.timeout(seconds):
                piece = await pieces.get()
        except TimeoutError:
            return True
        if piece is not None:
            await self._pass_on(send, piece)
        pieces.task_done()
        return piece is not None

    async def _pass_on(self, send: Send, piece: _Piece) -> None:
        if piece.body:
            await write(send, piece.body)
        if piece.seq is not None:
            self._told[piece.stream] = piece.seq
        if piece.is_all and self._behind:
            self._behind.discard(piece.stream)
            if not self._behind:
                await write(send, _note("caught-up", streams=self._told))

    # What is read for it.

    @contextlib.asynccontextmanager
    async def _reading(self) -> AsyncGenerator[_Pieces]:
        """All that is read, in one row; None at its end."""
        pieces = _Pieces(1)
        reading = [
            asyncio.create_task(self._read(name, after, pieces))
            for name, after in self._follow.items()
        ]
        listening = asyncio.create_task(self._listen(reading, pieces))
        try:
            yield pieces
        finally:
            for task in (*reading, listening):
                task.cancel()
            await asyncio.wait((*reading, listening))

    async def _listen(self, reading: "Sequence[asyncio.Task[None]]", pieces: _Pieces) -> None:
        """Tells what changed elsewhere; and the end, behind the last words of all streams."""
        with self._log.changes() as changes:
            while not changes.is_over:
                names = [name for name in await changes.next() if name not in (INBOX, AUDIT)]
                if names and self._lists:
                    await pieces.put(_Piece(_note("changed", streams=names)))
                    await asyncio.sleep(CHANGED_SECONDS)
        if reading:
            await asyncio.wait(reading)
        await pieces.put(None)

    async def _read(self, name: str, after: int, pieces: _Pieces) -> None:
        try:
            async with self._log.follow(name, after) as follower:
                if name == INBOX or follower.view is not None:
                    await self._catch_up(name, follower, pieces)
                    await self._go_on(name, follower, pieces)
                else:
                    await pieces.put(_Piece(_note("gone", stream=name), name, is_all=True))
        except StoreUnavailable:
            await pieces.put(None)  # whoever comes back is told why
        except Exception:  # noqa: BLE001 - the border: a stream that says nothing would be a lie
            _log.exception("The feed cannot read %s", name)
            await pieces.put(None)

    async def _catch_up(self, name: str, follower: Follower, pieces: _Pieces) -> None:
        """All that was there at the beginning, as short as it can be told."""
        head, more = follower.head, True
        while more:
            async with self._turn:
                seq = follower.seq
                found, more = await self._log.compact(name, seq, _BACKLOG_PAGE, PAGE_CHARACTERS)
                await self._put(name, follower, found, pieces)
        while follower.seq < head:  # what the store does not have yet
            if not await self._put_next(name, follower, pieces):
                break
        await pieces.put(_Piece(b"", name, follower.seq, is_all=True))

    async def _go_on(self, name: str, follower: Follower, pieces: _Pieces) -> None:
        """A run that has ended may be retried, so that its end is not the last that is told."""
        is_ended = False
        while True:
            is_over = follower.view is not None and follower.view.is_over
            ends = is_over and not is_ended
            await follower.wait(0 if ends else _QUIET_SECONDS)
            if await self._put_next(name, follower, pieces):
                is_ended = False
            elif follower.is_forgotten:
                await pieces.put(_Piece(_note("gone", stream=name)))
                return
            elif ends:
                note = _note("end", stream=name, seq=follower.seq)
                await pieces.put(_Piece(note, name, follower.seq))
                is_ended = True
            elif self._log.is_closing:
                return

    async def _put_next(self, name: str, follower: Follower, pieces: _Pieces) -> bool:
        """Hands over what there is; whether there was something."""
        async with self._turn:
            before = follower.seq
            await self._put(name, follower, await follower.next(0), pieces)
        return follower.seq > before

    async def _put(
        self, name: str, follower: Follower, found: list[Recorded], pieces: _Pieces
    ) -> None:
        """One by one: a piece is made when the one before it was taken from us."""
        last = found[-1].seq if found else follower.seq
        for piece in _pieces(name, found):
            await pieces.put(piece)
            del piece  # else it is held while the next one is made
            await pieces.join()
        follower.seq = last


def _pieces(name: str, found: list[Recorded]) -> Iterator[_Piece]:
    """Few writes, and none so large that a reader who stalls would cost much memory."""
    body, seq, begin = bytearray(), 0, f'data: {{"stream":{json.dumps(name)},'
    for recorded in emptied(found):
        body += f"{begin}{recorded.json[1:]}\n\n".encode()
        seq = recorded.seq
        del recorded  # what is long is held once: as the piece that waits to be taken
        if len(body) >= PIECE_BYTES:
            piece, body = _Piece(bytes(body), name, seq), bytearray()
            yield piece
    if body:
        yield _Piece(bytes(body), name, seq)


def _note(name: str, **told: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(told)}\n\n".encode()
