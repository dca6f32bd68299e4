"""Bytes between what is inside and what is outside: passed on as they come, counted, and given up
when nothing has moved for long."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from airboss.runtime.cage.http_head import RequestHead
from airboss.runtime.cage.traffic import HostCount

_PIECE: Final = 65_536
_LONGEST_LINE: Final = 1024
_LONGEST_SIZE: Final = 15
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")
# What a server says of its connection is meant for us; one request is all that this one has.
_OF_CONNECTION: Final = (b"connection:", b"keep-alive:", b"proxy-connection:")

Send: TypeAlias = Callable[[bytes], Awaitable[None]]
Begin: TypeAlias = Callable[[], Awaitable[bytes]]


class TunnelOver(Exception):
    """It ends here: one side is gone, says what nobody understands, or said nothing for long."""


@dataclass(frozen=True)
class Stream:
    """One of the two sides. Whoever does not go on for `idle` seconds is given up."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    idle: float

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        try:
            async with asyncio.timeout(self.idle):
                await self.writer.drain()
        except (TimeoutError, OSError) as error:
            raise TunnelOver from error

    async def read(self, most: int = _PIECE) -> bytes:
        try:
            async with asyncio.timeout(self.idle):
                return await self.reader.read(most)
        except (TimeoutError, OSError) as error:
            raise TunnelOver from error

    async def until(self, end: bytes) -> bytes:
        try:
            async with asyncio.timeout(self.idle):
                return await self.reader.readuntil(end)
        except (TimeoutError, OSError, EOFError, asyncio.LimitOverrunError) as error:
            raise TunnelOver from error

    def end(self) -> None:
        """Nothing more is said to it; it may still speak."""
        with contextlib.suppress(OSError, RuntimeError):
            if self.writer.can_write_eof():
                self.writer.write_eof()


@dataclass
class _Moved:
    """When a byte was last passed on, in either direction, and whether one side has ended."""

    at: float
    is_half_closed: bool = False


@dataclass(frozen=True)
class Tunnel:
    """Between two sides that say whatever they like, until both have ended: one that has said all
    may still listen, for `half_closed` seconds without a byte."""

    inside: Stream
    outside: Stream
    count: HostCount
    half_closed: float

    async def relay(self, begin: Begin) -> None:
        """What is inside says first what `begin` gives; the other side need not wait for it."""
        moved = _Moved(asyncio.get_running_loop().time())

        async def out() -> None:
            if first := await begin():
                await self._send_out(first)
            await self._pump(self.inside, self._send_out, self.outside, moved)

        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(out())
                both.create_task(self._pump(self.outside, self._send_back, self.inside, moved))
        except* (TunnelOver, OSError):
            pass

    async def _pump(self, source: Stream, send: Send, sink: Stream, moved: _Moved) -> None:
        while piece := await self._next(source, moved):
            await send(piece)
        moved.is_half_closed = True
        sink.end()

    async def _next(self, source: Stream, moved: _Moved) -> bytes:
        loop = asyncio.get_running_loop()
        while True:
            wait = self.half_closed if moved.is_half_closed else source.idle
            try:
                async with asyncio.timeout(max(0.0, moved.at + wait - loop.time())):
                    piece = await source.reader.read(_PIECE)
            except TimeoutError as error:
                wait = self.half_closed if moved.is_half_closed else source.idle
                if moved.at + wait > loop.time():
                    continue  # the other direction goes on
                raise TunnelOver from error
            moved.at = loop.time()
            return piece

    async def exchange(self, head: RequestHead) -> None:
        """One plain request, whose body is exactly as long as it was said, and its answer."""
        await self._send_out(head.sent_on)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._body(head))
                both.create_task(self._answer())
        except* (TunnelOver, OSError):
            pass

    async def _body(self, head: RequestHead) -> None:
        if head.is_chunked:
            await self._chunks()
        else:
            await self._exactly(head.length or 0)

    async def _answer(self) -> None:
        """Once it has come whole, nobody waits for the rest of the body."""
        await self._answer_head()
        while piece := await self.outside.read():
            await self._send_back(piece)
        raise TunnelOver

    async def _answer_head(self) -> None:
        status = b"1"
        while status.startswith(b"1"):
            first, *lines = (await self.outside.until(b"\r\n\r\n"))[:-4].split(b"\r\n")
            status = first.partition(b" ")[2]
            kept = [line for line in lines if not line.lower().startswith(_OF_CONNECTION)]
            last = [] if status.startswith(b"1") else [b"Connection: close"]
            await self._send_back(b"\r\n".join([first, *kept, *last]) + b"\r\n\r\n")

    async def _exactly(self, length: int) -> None:
        while length:
            piece = await self.inside.read(min(length, _PIECE))
            if not piece:
                raise TunnelOver
            length -= len(piece)
            await self._send_out(piece)

    async def _chunks(self) -> None:
        """Each is read and written anew: what is not a chunk beyond doubt is not passed on. Nothing
        follows the last one, neither trailers nor another request."""
        while size := await self._size_of_chunk():
            await self._send_out(f"{size:x}\r\n".encode("ascii"))
            await self._exactly(size)
            if await self._line():
                raise TunnelOver
            await self._send_out(b"\r\n")
        await self._send_out(b"0\r\n\r\n")

    async def _size_of_chunk(self) -> int:
        digits = (await self._line()).split(b";", 1)[0]
        if not digits or len(digits) > _LONGEST_SIZE or not _HEX.issuperset(digits):
            raise TunnelOver
        return int(digits, 16)

    async def _line(self) -> bytes:
        line = (await self.inside.until(b"\r\n"))[:-2]
        if len(line) > _LONGEST_LINE or b"\n" in line or b"\r" in line:
            raise TunnelOver
        return line

    async def _send_out(self, piece: bytes) -> None:
        await self.outside.write(piece)
        self.count.sent += len(piece)

    async def _send_back(self, piece: bytes) -> None:
        await self.inside.write(piece)
        self.count.received += len(piece)
