"""Server-sent events: one stream to one viewer, from any point, in order, without a gap."""

import asyncio
import time
from collections.abc import Coroutine, Iterator
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from airboss.log.log import EventLog
from airboss.model.events import Recorded

HEARTBEAT_SECONDS = 10.0
PIECE_BYTES = 64 * 1024

HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class EventStream(Response):
    """An answer that goes on until the stream ends, the reader leaves or the server stops."""

    def __init__(
        self, log: EventLog, stream: str, after: int, last_event_id: str | None = None
    ) -> None:
        super().__init__()
        self._log = log
        self._stream = stream
        self._after = after
        # A browser's `EventSource` comes back behind every end, until it hears 204.
        self._comes_back = bool(last_event_id)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._comes_back and await self._is_over():
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await while_read(receive, self._tell(send))
        await send({"type": "http.response.body", "body": b""})

    async def _is_over(self) -> bool:
        view = await self._log.view(self._stream)
        return view is not None and view.is_over and view.seq <= self._after

    async def _tell(self, send: Send) -> None:
        async with self._log.follow(self._stream, self._after) as follower:
            await write(send, b"retry: 1000\n\n")
            beat = time.monotonic() + HEARTBEAT_SECONDS
            while True:
                over = follower.view is not None and follower.view.is_over
                found = await follower.next(0 if over else max(0.0, beat - time.monotonic()))
                is_quiet = not found
                for piece in _pieces(found):
                    await write(send, piece)
                if is_quiet and over:
                    await write(send, _note("end", follower.seq))
                    return
                if is_quiet and (self._log.is_closing or follower.is_forgotten):
                    return
                if time.monotonic() >= beat:
                    await write(send, _note("heartbeat", follower.seq))
                    beat = time.monotonic() + HEARTBEAT_SECONDS


def _pieces(found: list[Recorded]) -> Iterator[bytes]:
    """Few writes, and none so large that a reader who stalls would cost much memory. What is
    written is not held any more."""
    body = bytearray()
    for recorded in emptied(found):
        body += frame(recorded)
        del recorded  # what is long is held once: as the piece that waits to be taken
        if len(body) >= PIECE_BYTES:
            piece, body = bytes(body), bytearray()
            yield piece
    if body:
        yield bytes(body)


async def while_read(receive: Receive, telling: Coroutine[Any, Any, None]) -> None:
    """To its end, or until the reader has left. One that does not read is cut off below us, and has
    left then; it comes back with the last id it has seen."""
    told = asyncio.create_task(telling)
    left = asyncio.create_task(_left(receive))
    try:
        await asyncio.wait({told, left}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        told.cancel()
        left.cancel()
        await asyncio.wait({told, left})
    if not told.cancelled():
        told.result()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def write(send: Send, body: bytes) -> None:
    """Piece by piece: what is given to be sent is held once more until it is."""
    for start in range(0, len(body), PIECE_BYTES):
        piece = body[start : start + PIECE_BYTES]
        await send({"type": "http.response.body", "body": piece, "more_body": True})


def emptied(found: list[Recorded]) -> Iterator[Recorded]:
    """Each once, in order; whoever has none left holds none."""
    found.reverse()
    while found:
        yield found.pop()


def frame(recorded: Recorded) -> bytes:
    return f"id: {recorded.seq}\ndata: {recorded.json}\n\n".encode()


def _note(name: str, seq: int) -> bytes:
    return f'event: {name}\ndata: {{"seq":{seq},"at":{time.time_ns() // 1_000_000}}}\n\n'.encode()
