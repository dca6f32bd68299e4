"""HTTP as a caller and a viewer speak it, with as little of a client's own time as can be."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.model import now_us

Heard = Callable[[bytes, int], None]


@dataclass(frozen=True)
class Address:
    """Where a server listens, and the token for it."""

    port: int
    token: str

    def head(self, method: str, path: str, length: int = 0) -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n"
            f"authorization: Bearer {self.token}\r\ncontent-type: application/json\r\n"
            f"content-length: {length}\r\n\r\n"
        ).encode()


class Failed(Exception):
    """An answer that is not what was asked for."""


class Caller:
    """One kept connection: one request after another."""

    def __init__(
        self, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._address = address
        self._reader = reader
        self._writer = writer

    async def ask(self, method: str, path: str, content: Mapping[str, Any] | None = None) -> Any:
        if self._reader.at_eof():  # the server closes what was quiet for five seconds
            self._writer.close()
            self._reader, self._writer = await _connected(self._address)
        body = json.dumps(content).encode() if content is not None else b""
        self._writer.write(self._address.head(method, path, len(body)) + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        answer = await self._reader.readexactly(length)
        if head.split()[1][:1] != b"2":
            raise Failed(f"{method} {path}: {head.split()[1].decode()} {answer.decode()[:300]}")
        return json.loads(answer)

    async def post(self, path: str, content: Mapping[str, Any] | None = None) -> Any:
        return await self.ask("POST", path, content)

    async def get(self, path: str) -> Any:
        return await self.ask("GET", path)

    def close(self) -> None:
        self._writer.close()


async def _connected(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", address.port, limit=1 << 26)


@contextlib.asynccontextmanager
async def calling(address: Address) -> AsyncGenerator[Caller]:
    caller = Caller(address, *await _connected(address))
    try:
        yield caller
    finally:
        caller.close()


class Viewer(asyncio.Protocol):
    """Reads a stream of server-sent events and hands on each frame with the time it came."""

    def __init__(self, heard: Heard) -> None:
        self.open = asyncio.Event()
        self.gone = asyncio.Event()
        self._heard = heard
        self._wire = bytearray()
        self._text = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def ask(self, request: bytes) -> None:
        if self._transport is not None:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        now = now_us()
        self._wire += data
        if not self.open.is_set():
            head, found, rest = self._wire.partition(b"\r\n\r\n")
            if not found:
                return
            if b" 200 " not in head[:16]:
                self.gone.set()
                return
            self._wire = rest
            self.open.set()
        self._unchunk()
        *frames, rest = self._text.split(b"\n\n")
        self._text = rest
        for frame in frames:
            self._heard(bytes(frame), now)

    def _unchunk(self) -> None:
        """What came of the body, without the lengths between its pieces."""
        place, wire = 0, self._wire
        while (end := wire.find(b"\r\n", place)) >= 0:
            size = int(wire[place:end], 16)
            if size == 0 or len(wire) < end + 4 + size:
                break
            self._text += wire[end + 2 : end + 2 + size]
            place = end + 4 + size
        del wire[:place]

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


@contextlib.asynccontextmanager
async def viewing(address: Address, what: str, after: int, heard: Heard) -> AsyncGenerator[Viewer]:
    """Of `sessions/ID` or `task-runs/ID`. Open once the server said its first word, so that nothing
    later is missed."""
    loop = asyncio.get_running_loop()
    _, viewer = await loop.create_connection(lambda: Viewer(heard), "127.0.0.1", address.port)
    viewer.ask(address.head("GET", f"/api/v1/{what}/stream?after={after}"))
    try:
        async with asyncio.timeout(30):
            await viewer.open.wait()
        yield viewer
    finally:
        viewer.close()


def event_of(frame: bytes) -> dict[str, Any] | None:
    """The event of a frame; none for a heartbeat and the like."""
    if not frame.startswith(b"id:"):
        return None
    return json.loads(frame.partition(b"\ndata: ")[2])
