"""The writer of server-sent events: bounded writes, heartbeats, and an end when the reader left."""

import asyncio
import json
from typing import ClassVar

import pytest
from starlette.types import Message

from airboss.http.server_sent import (
    PIECE_BYTES,
    ServerSentResponse,
    ServerSentWriter,
    note,
    pieces,
)
from airboss.model.events import Recorded, SessionInterrupted


class Reader:
    """Takes what is sent, and leaves when it is told to."""

    def __init__(self) -> None:
        self.left = asyncio.Event()
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


class Telling(ServerSentResponse):
    heartbeat_seconds: ClassVar[float] = 0.05

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.is_cancelled = False

    async def tell(self, writer: ServerSentWriter) -> None:
        if self.error:
            raise self.error
        try:
            while True:
                await asyncio.sleep(writer.seconds_to_heartbeat)
                await writer.heartbeat(seq=7)
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise


def interrupted(seq: int, reason: str) -> Recorded:
    return Recorded.of(seq, 1, SessionInterrupted(reason=reason))


def test_a_response_that_has_nothing_to_tell_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract method"):
        ServerSentResponse()  # pyright: ignore[reportAbstractUsage]


async def test_a_reader_that_leaves_ends_what_is_told() -> None:
    reader, telling = Reader(), Telling()
    asyncio.get_running_loop().call_later(0.2, reader.left.set)
    async with asyncio.timeout(5):
        await telling({"type": "http"}, reader.receive, reader.send)
    assert telling.is_cancelled
    assert reader.sent[0]["status"] == 200
    assert reader.sent[-1] == {"type": "http.response.body", "body": b""}
    assert reader.body.startswith(b"retry: 1000\n\n")
    assert 2 <= reader.body.count(note("heartbeat", seq=7)) <= 5


async def test_an_error_while_telling_is_raised_as_itself() -> None:
    reader = Reader()
    with pytest.raises(LookupError):
        await Telling(LookupError("lost"))({"type": "http"}, reader.receive, reader.send)


async def test_what_is_long_is_written_in_bounded_pieces() -> None:
    reader = Reader()
    body = bytes(range(256)) * 1000
    await ServerSentWriter(reader.send, 60).write(body)
    assert reader.body == body
    assert max(len(message["body"]) for message in reader.sent) <= PIECE_BYTES
    assert all(message["more_body"] for message in reader.sent)


def test_many_events_are_framed_in_few_pieces_and_not_held() -> None:
    found = [interrupted(seq, "x" * 1000) for seq in range(1, 201)]
    written = list(pieces(found, lambda recorded: f"data: {recorded.json}\n\n"))
    assert found == []
    assert len(written) < 10
    assert written[-1][1] == 200
    frames = b"".join(body for body, _ in written).decode().split("\n\n")[:-1]
    told = [json.loads(frame.removeprefix("data: "))["seq"] for frame in frames]
    assert told == list(range(1, 201))


def test_a_note_stands_on_one_line_whatever_it_tells() -> None:
    assert note("gone", stream="a\n\nb") == b'event: gone\ndata: {"stream":"a\\n\\nb"}\n\n'


async def test_a_heartbeat_waits_until_it_is_due() -> None:
    reader = Reader()
    writer = ServerSentWriter(reader.send, 60)
    await writer.heartbeat(seq=1)
    assert reader.sent == []
    assert 59 < writer.seconds_to_heartbeat <= 60
