"""Writes server-sent events to one reader: frames, heartbeats, few and bounded writes, and an end
when the reader leaves. What is told, and when, is for those who use it to say."""

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, ClassVar, Final, cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from airboss.model.events import Recorded

PIECE_BYTES: Final = 64 * 1024
_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class ServerSentWriter:
    """One reader's connection. A heartbeat is due so many seconds after the last one, however much
    was written in between."""

    def __init__(self, send: Send, heartbeat_seconds: float) -> None:
        self._send = send
        self._heartbeat_seconds = heartbeat_seconds
        self._beat = time.monotonic() + heartbeat_seconds

    @property
    def seconds_to_heartbeat(self) -> float:
        return max(0.0, self._beat - time.monotonic())

    async def heartbeat(self, **said: object) -> None:
        """Where one is due."""
        if time.monotonic() >= self._beat:
            await self.note("heartbeat", **said)
            self._beat = time.monotonic() + self._heartbeat_seconds

    def beat_within(self, seconds: float) -> None:
        """The next heartbeat is due then at the latest."""
        self._beat = min(self._beat, time.monotonic() + seconds)

    async def note(self, name: str, **said: object) -> None:
        await self.write(note(name, **said))

    async def write(self, body: bytes) -> None:
        """Piece by piece: what is given to be sent is held once more until it is."""
        for start in range(0, len(body), PIECE_BYTES):
            piece = body[start : start + PIECE_BYTES]
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})


class ServerSentResponse(Response, ABC):
    """An answer that goes on until `tell` returns or the reader has left. One that does not read is
    cut off below us, and has left then; it comes back with what it has seen."""

    heartbeat_seconds: ClassVar[float]

    @abstractmethod
    async def tell(self, writer: ServerSentWriter) -> None: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        writer = ServerSentWriter(send, self.heartbeat_seconds)
        await _while_read(receive, self._tell(writer))
        await send({"type": "http.response.body", "body": b""})

    async def _tell(self, writer: ServerSentWriter) -> None:
        await writer.write(b"retry: 1000\n\n")
        await self.tell(writer)


async def _while_read(receive: Receive, telling: Coroutine[Any, Any, None]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            said = group.create_task(telling)
            left = group.create_task(_left(receive))
            await asyncio.wait({said, left}, return_when=asyncio.FIRST_COMPLETED)
            said.cancel()
            left.cancel()
    except ExceptionGroup as failed:
        raise _first(failed) from None


def _first(error: Exception) -> Exception:
    """Whoever is around us knows the error itself, and no group of one."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def note(name: str, **said: object) -> bytes:
    """A frame with a name, that tells of the connection and not of an event."""
    return f"event: {name}\ndata: {json.dumps(said, separators=(',', ':'))}\n\n".encode()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def pieces(found: list[Recorded], frame: Callable[[Recorded], str]) -> Iterator[tuple[bytes, int]]:
    """Frames for all of them, with the seq of the last one: few writes, and none so large that a
    reader who stalls would cost much memory. What is framed is not held any more."""
    body, seq = bytearray(), 0
    for recorded in _emptied(found):
        body += frame(recorded).encode()
        seq = recorded.seq
        del recorded  # what is long is held once: as the piece that waits to be taken
        if len(body) >= PIECE_BYTES:
            piece, body = bytes(body), bytearray()
            yield piece, seq
    if body:
        yield bytes(body), seq


def _emptied(found: list[Recorded]) -> Iterator[Recorded]:
    """Each once, in order; whoever has none left holds none."""
    found.reverse()
    while found:
        yield found.pop()
