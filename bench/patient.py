"""A model that takes its time: it answers with one word after a while, and notes who asked when."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from bench.workshop import Source

_LENGTH = re.compile(rb"(?i)content-length: (\d+)")
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass
class PatientModel:
    """In this process, so that what it was asked is known at once."""

    source: Source
    seconds: float
    # When each request came, by this process's clock.
    asked: list[float] = field(default_factory=list[float])
    _was_asked: asyncio.Condition = field(default_factory=asyncio.Condition)
    _has_time: asyncio.Event = field(default_factory=asyncio.Event)

    def hurry(self) -> None:
        """All that wait get their answer, and from now on everybody at once."""
        self._has_time.set()

    async def until_asked(self, count: int, seconds: float = 120) -> None:
        async with asyncio.timeout(seconds), self._was_asked:
            await self._was_asked.wait_for(lambda: len(self.asked) >= count)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                await reader.readexactly(int(length[1]) if length else 0)
                self.asked.append(time.monotonic())
                async with self._was_asked:
                    self._was_asked.notify_all()
                writer.write(_HEAD + _chunk(_event({"role": "assistant"})))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._has_time.wait(), self.seconds)
                last = _chunk(_event({"content": "Yes."})) + _chunk(_event({}, "stop"))
                writer.write(last + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
                await writer.drain()
        writer.close()


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "patient"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()


def _chunk(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


@contextlib.asynccontextmanager
async def patient_model(seconds: float = 1.0) -> AsyncGenerator[PatientModel]:
    model: PatientModel | None = None

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whoever still has a connection at the end is no trouble to be told of.
        with contextlib.suppress(asyncio.CancelledError):
            if model is not None:
                await model.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 24)
    port = server.sockets[0].getsockname()[1]
    source = Source("patient", f"http://127.0.0.1:{port}/v1", "none", "patient")
    model = PatientModel(source, seconds)
    try:
        yield model
    finally:
        model.hurry()
        server.close()
