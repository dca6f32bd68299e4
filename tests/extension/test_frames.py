"""Messages in frames: whatever stands between them and however they are cut, they arrive."""

import contextlib
import json
import os
import threading
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airboss.extension.frames import MOST_READ, MOST_SENT, KitFrames
from tests.trials import share

NOISE = st.sampled_from([b"", b"\n", b"\r\n", b"noise\n", b"Content-Length: many\n", b"{}\n"])
MESSAGES = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=50), max_size=3))


@contextlib.contextmanager
def pipes() -> Generator[tuple[KitFrames, int, int]]:
    """The frames, where to write what they read, and where to read what they write."""
    incoming, far_out = os.pipe()
    far_in, outgoing = os.pipe()
    frames = KitFrames(incoming, outgoing)
    ends = (incoming, far_out, far_in, outgoing)
    try:
        yield frames, far_out, far_in
    finally:
        for end in ends:
            with contextlib.suppress(OSError):
                os.close(end)


def sent_in_pieces(data: bytes, to: int, size: int) -> threading.Thread:
    def send() -> None:
        for at in range(0, len(data), size):
            os.write(to, data[at : at + size])
        os.close(to)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@settings(max_examples=share(30, 500), deadline=None)
@given(MESSAGES, st.lists(NOISE, min_size=1), st.integers(1, 64))
def test_messages_arrive_between_noise_and_in_pieces(
    messages: list[dict[str, Any]], noise: list[bytes], size: int
) -> None:
    data = b""
    for at, message in enumerate(messages):
        body = json.dumps(message).encode()
        data += noise[at % len(noise)] + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with pipes() as (frames, to, _):
        thread = sent_in_pieces(data, to, size)
        assert [frames.read() for _ in messages] == messages
        assert frames.read() is None
        thread.join()


@pytest.mark.parametrize(
    "data", [b"", b"Content-Length: 10\r\n\r\n{", b"Content-Length: 10\r\n", b"noise"]
)
def test_what_ends_in_the_middle_is_the_end(data: bytes) -> None:
    with pipes() as (frames, to, _):
        os.write(to, data)
        os.close(to)
        assert frames.read() is None


def test_a_message_that_nobody_could_hold_is_refused() -> None:
    with pipes() as (frames, to, _):
        os.write(to, b"Content-Length: %d\r\n\r\n" % (MOST_READ + 1))
        with pytest.raises(ValueError, match="sent a message of 67,108,865 bytes"):
            frames.read()


def test_what_the_host_would_not_take_is_not_sent() -> None:
    with pipes() as (frames, _, far_in):
        with pytest.raises(ValueError, match="4,194,304 are the most"):
            frames.write({"text": "x" * MOST_SENT})
        with pytest.raises(ValueError, match="not JSON compliant"):
            frames.write({"number": float("nan")})
        frames.write({"a": "ä\ud800"})
        assert os.read(far_in, 100) == 'Content-Length: 11\r\n\r\n{"a":"ä?"}'.encode()
