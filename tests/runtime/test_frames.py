"""What the runtime says, off its pipe: whole where it is small, made small where it is not."""

import io
import json
import resource
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airboss.model.excerpt import Gapped, length_of
from airboss.runtime.frames import (
    CALL_BODY,
    MOST_BODY_BYTES,
    MOST_BYTES,
    PassedOver,
    Shortened,
    has_gap,
    read_message,
)


def framed(*bodies: bytes) -> io.BufferedReader:
    said = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    return io.BufferedReader(io.BytesIO(said))


def event(kind: str, **data: Any) -> dict[str, Any]:
    params = {"sessionId": "ses_1", "event": {"type": kind, "data": data, "id": "e1"}}
    return {"jsonrpc": "2.0", "method": "session.event", "params": params}


def same(read: object, said: object) -> bool:
    """As far as it was read: of a text with a gap, its ends and its length."""
    match read, said:
        case Gapped(), str():
            ends = said.startswith(read.head) and said.endswith(read.tail)
            return ends and length_of(read) == len(said)
        case dict(), dict():
            ours, theirs = cast("dict[str, Any]", read), cast("dict[str, Any]", said)
            return list(ours) == list(theirs) and all(same(ours[n], theirs[n]) for n in ours)
        case list(), list():
            pairs = zip(cast("list[Any]", read), cast("list[Any]", said), strict=True)
            return all(same(*pair) for pair in pairs)
        case _:
            return read == said


LETTERS = ["x", "y\n", '"', "\\", "\\\\u", "é", "😀", "\ud83d\udc4d", "\x01", "ud83d\\", "\u2028"]


@settings(max_examples=25, deadline=None)
@given(
    texts=st.lists(
        st.tuples(st.sampled_from(LETTERS), st.integers(0, 300_000), st.text(max_size=40)),
        min_size=1,
        max_size=5,
    ),
    is_ascii=st.booleans(),
    shift=st.integers(0, 20),
)
def test_a_large_message_keeps_all_but_the_middles_of_its_long_texts(
    texts: list[tuple[str, int, str]], is_ascii: bool, shift: int
) -> None:
    fill = "z" * (MOST_BYTES + 1)
    said = event("tool.x", shift="-" * shift, parts=[a + b * c for b, c, a in texts], fill=fill)
    body = json.dumps(said, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    if not is_ascii and b"\xed\xa0" in body:  # no text of UTF-8 has half a pair
        body = json.dumps(said).encode()
    pipe = framed(body, b'{"next": 1}')
    message, size = read_message(pipe)
    assert isinstance(message, Shortened)
    assert size <= 2 * MOST_BYTES
    assert same(message, json.loads(body))
    assert has_gap(message["params"]["event"]["data"]["fill"])
    assert read_message(pipe)[0] == {"next": 1}


def test_a_small_message_is_read_as_it_is() -> None:
    said = event("tool.x", text="é" * 10_000)
    message, size = read_message(framed(json.dumps(said).encode()))
    assert message == said
    assert not isinstance(message, Shortened)
    assert size > 10_000


def test_the_first_of_several_long_texts_is_kept_best() -> None:
    """The runtime repeats a file six times in one request for leave to edit it."""
    file = "some line of text\n" * 200_000
    said = event("permission.requested", diff="-a\n+b\n", after=file, copies=[file] * 5)
    message, size = read_message(framed(json.dumps(said).encode()))
    data = message["params"]["event"]["data"]
    assert data["diff"] == "-a\n+b\n"
    assert len(data["after"].head) > 700_000
    assert len(data["after"].tail) > 250_000
    assert all(len(copy) < 20_000 for copy in data["copies"][2:])
    assert size < 2 * MOST_BYTES


def test_memory_stays_small_however_large_a_message_is() -> None:
    class Endless:
        """Says a text of 500 MB that nobody holds."""

        def __init__(self) -> None:
            self.first, self.last = b'{"params":{"text":"', b'"}}'
            self.left = 500_000_000

        def readline(self, _: int = -1) -> bytes:
            size = len(self.first) + self.left + len(self.last)
            return b"Content-Length: %d\r\n" % size if self.first else b"\r\n"

        def read(self, size: int = -1) -> bytes:
            said, self.first = self.first[:size], self.first[size:]
            if len(said) < size and self.left:
                count = min(self.left, size - len(said))
                said, self.left = said + b"x" * count, self.left - count
            if len(said) < size and not self.left:
                count = size - len(said)
                said, self.last = said + self.last[:count], self.last[count:]
            return said

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message, _ = read_message(Endless())
    assert length_of(message["params"]["text"]) == 500_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB


def call(text: str, is_ascii: bool = True) -> bytes:
    params = {"requestId": "r", "data": text, "binary": False, "end": True, "cancel": False}
    said = {"jsonrpc": "2.0", "id": 3, "method": CALL_BODY, "params": params}
    return json.dumps(said, separators=(",", ":"), ensure_ascii=is_ascii).encode()


@pytest.mark.parametrize("is_ascii", [True, False])
def test_the_body_of_a_call_is_kept_whole(is_ascii: bool) -> None:
    text = "".join(LETTERS) * 300_000
    text = text.encode("utf-16", "surrogatepass").decode("utf-16")
    assert len(call(text, is_ascii)) > MOST_BYTES
    found, size = read_message(framed(call(text, is_ascii)))
    params = {"requestId": "r", "data": text.encode(), "binary": False, "end": True}
    assert found["params"] == {**params, "cancel": False}
    assert found["id"] == 3
    assert size < MOST_BYTES
    assert read_message(framed(call("short")))[0]["params"]["data"] == "short"


def test_of_the_body_of_a_call_one_byte_more_is_kept_than_may_be() -> None:
    pipe = framed(call("x" * (MOST_BODY_BYTES + 5_000_000)), b'{"next": 1}')
    assert len(read_message(pipe)[0]["params"]["data"]) == MOST_BODY_BYTES + 1
    assert read_message(pipe)[0] == {"next": 1}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"jsonrpc": "2.0", "id": 7, "method": "hooks.invoke", "params": {"sessionId": "ses_1"}},
            ("hooks.invoke", 7, "ses_1", None),
        ),
        (event("tool.x"), ("session.event", None, "ses_1", "tool.x")),
        ({"jsonrpc": "2.0", "id": "a-b", "result": {}}, (None, "a-b", None, None)),
    ],
    ids=["request", "event", "answer"],
)
def test_what_cannot_be_made_small_is_passed_over_and_known(
    said: dict[str, Any], told: tuple[object, ...]
) -> None:
    inner = said["params"] if "params" in said else said["result"]
    inner["many"] = [{"a": number} for number in range(600_000)]
    pipe = framed(json.dumps(said, separators=(",", ":")).encode(), b'{"next": 1}')
    found, _ = read_message(pipe)
    assert isinstance(found, PassedOver)
    assert (found.method, found.id, found.session, found.event) == told
    assert "MB, too large to be read." in found.words
    assert read_message(pipe)[0] == {"next": 1}


def test_a_pipe_that_ends_or_says_nonsense() -> None:
    assert read_message(framed())[0] is None
    assert read_message(io.BufferedReader(io.BytesIO(b"Hello\n")))[0] is None
    assert read_message(io.BufferedReader(io.BytesIO(b"x" * 5_000)))[0] is None
    for size in (100, MOST_BYTES + 100):
        with pytest.raises(EOFError):
            read_message(io.BufferedReader(io.BytesIO(b"Content-Length: %d\r\n\r\n{" % size)))
    with pytest.raises(ValueError, match="no length"):
        read_message(io.BufferedReader(io.BytesIO(b"Content-Length: -5\r\n\r\n{}")))
    long = b'{"a": "\\uZZZZ%b"}' % (b"x" * MOST_BYTES)
    for body in (b"{", long):
        with pytest.raises(ValueError, match=r"JSON|Expecting"):
            read_message(framed(body))
    unfinished = b'{"a": "%b' % (b"x" * MOST_BYTES)
    assert isinstance(read_message(framed(unfinished))[0], PassedOver)


def test_what_is_too_deep_is_passed_over_and_looked_through() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    body = b'{"method":"session.event","params":{"sessionId":"s","deep":%b,"fill":"%b"}}'
    found, _ = read_message(framed(body % (deep, b"x" * MOST_BYTES)))
    assert isinstance(found, PassedOver)
    assert found.session == "s"
    nested: Any = Gapped("a", 1, "b")
    for _ in range(100_000):
        nested = [nested]
    assert has_gap(nested)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_what_json_cannot_say_again_is_refused(number: str) -> None:
    body = b'{"method": "session.event", "params": {"cost": %b}}' % number.encode()
    with pytest.raises(ValueError, match=f"said {number}, which is no number"):
        read_message(framed(body))
    long = body[:-2] + b', "text": "%b"}}' % (b"x" * MOST_BYTES)
    assert isinstance(read_message(framed(long))[0], PassedOver)
