"""Somebody who gets webhooks: a real server on loopback that answers as the test wants it to."""

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

NEVER = 0  # an answer that does not come


@dataclass(frozen=True)
class Posted:
    """One request as it came over the wire."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def item(self) -> str:
        return str(self.told["id"])


@dataclass
class Receiver:
    """`answer` gives each request its status."""

    port: int
    answer: Callable[[Posted], int] = lambda _: 200
    got: list[Posted] = field(default_factory=list[Posted])
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}/hook?a=b"

    async def until(self, count: int) -> list[Posted]:
        async with asyncio.timeout(20):
            while len(self.got) < count:
                self._more.clear()
                await self._more.wait()
        return self.got

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
            line, *lines = head.strip().split("\r\n")
            pairs = [text.split(": ", 1) for text in lines]
            headers = {name.lower(): value for name, value in pairs}
            body = await reader.readexactly(int(headers["content-length"]))
            posted = Posted(line, headers, body)
            self.got.append(posted)
            self._more.set()
            status = self.answer(posted)
            if status == NEVER:
                await reader.read()
            more = f"Location: {self.url()}\r\n" if 300 <= status < 400 else ""
            writer.write(f"HTTP/1.1 {status} X\r\n{more}Content-Length: 0\r\n\r\n".encode())
            await writer.drain()
        writer.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@contextlib.asynccontextmanager
async def receiving(
    answer: Callable[[Posted], int] = lambda _: 200,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[Receiver]:
    receiver = Receiver(port, answer)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", port, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
