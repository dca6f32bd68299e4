"""A provider on loopback that answers as the test wants it to, byte by byte."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Got:
    """One request as it came over the wire, or as much of it as came."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Wire:
    """One connection: what was asked on it, and the way to answer."""

    got: Got
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def begin(self, status: int = 200, *lines: str) -> None:
        """An answer in pieces; `chunk` says one."""
        head = [f"HTTP/1.1 {status} X", "Transfer-Encoding: chunked", *lines]
        await self.say("\r\n".join([*head, "", ""]).encode())

    async def chunk(self, *pieces: bytes) -> None:
        for piece in pieces:
            await self.say(b"%x\r\n%b\r\n" % (len(piece), piece))

    async def whole(self, status: int, body: bytes, *lines: str) -> None:
        head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *lines]
        await self.say("\r\n".join([*head, "", ""]).encode() + body)


Answer = Callable[[Wire], Awaitable[None]]


@dataclass
class Provider:
    """`answer` is called once for each request."""

    answer: Answer
    port: int = 0
    got: list[Got] = field(default_factory=list[Got])
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str = "/v1", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                got = await _read(reader)
                self.got.append(got)
                await self.answer(Wire(got, reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Got:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, value in (text.split(": ", 1) for text in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = bytearray()
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
        return Got(line, headers, bytes(body))
    length = int(headers.get("content-length", "0"))
    return Got(line, headers, await reader.readexactly(length))


async def hello(wire: Wire) -> None:
    await wire.whole(200, b'{"hello": 1}', "Content-Type: application/json")


@contextlib.asynccontextmanager
async def providing(answer: Answer = hello) -> AsyncGenerator[Provider]:
    provider = Provider(answer)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0, limit=1 << 26)
    provider.port = server.sockets[0].getsockname()[1]
    try:
        yield provider
    finally:
        server.close()
