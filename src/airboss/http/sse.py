"""Server-sent events: one stream to one viewer, from any point, in order, without a gap."""

import asyncio
import time
from collections.abc import Iterable, Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from airboss.log.log import EventLog
from airboss.model.events import Recorded

HEARTBEAT_SECONDS = 10.0
# A reader that takes nothing for so long is cut; it comes back with the last id it has seen.
STALLED_SECONDS = 5.0
PIECE_BYTES = 64 * 1024

HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class EventStream(Response):
    """An answer that goes on until the stream ends, the reader leaves or the server stops."""

    def __init__(self, log: EventLog, stream: str, after: int) -> None:
        super().__init__()
        self._log = log
        self._stream = stream
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        try:
            await self._tell(request, send)
        except TimeoutError:
            return  # stalled: nothing more can be said to this reader
        await send({"type": "http.response.body", "body": b""})

    async def _tell(self, request: Request, send: Send) -> None:
        async with self._log.follow(self._stream, self._after) as follower:
            await write(send, b"retry: 1000\n\n")
            beat = time.monotonic() + HEARTBEAT_SECONDS
            while True:
                over = follower.view is not None and follower.view.is_over
                found = await follower.next(0 if over else max(0.0, beat - time.monotonic()))
                for piece in _pieces(found):
                    await write(send, piece)
                if not found and over:
                    await write(send, _note("end", follower.seq))
                    return
                if not found and (self._log.is_closing or follower.is_forgotten):
                    return
                if time.monotonic() >= beat:
                    if await request.is_disconnected():
                        return
                    await write(send, _note("heartbeat", follower.seq))
                    beat = time.monotonic() + HEARTBEAT_SECONDS


def _pieces(found: Iterable[Recorded]) -> Iterator[bytes]:
    """Few writes, and none so large that a reader who stalls would cost much memory."""
    piece = bytearray()
    for recorded in found:
        piece += frame(recorded)
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


async def write(send: Send, body: bytes) -> None:
    async with asyncio.timeout(STALLED_SECONDS):
        await send({"type": "http.response.body", "body": body, "more_body": True})


def frame(recorded: Recorded) -> bytes:
    return f"id: {recorded.seq}\ndata: {recorded.json}\n\n".encode()


def _note(name: str, seq: int) -> bytes:
    return f'event: {name}\ndata: {{"seq":{seq},"at":{time.time_ns() // 1_000_000}}}\n\n'.encode()
