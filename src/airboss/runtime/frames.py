"""The runtime's messages, one at a time off its pipe. What is too large is made small unread.

A message over the bound is never in memory as a whole, nor parsed as one: it is read in pieces, and
of each long text in it the head and the tail are kept. All else in it stays, so that it can be
answered: an edit of one line in a file of 10 MB makes the runtime send seven such files. The body
of a call that it hands to us is kept whole, as bytes.
"""

import json
import math
import re
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol, cast

from airboss.model.excerpt import EDGE, Gapped

# What is not larger is parsed as it is: that takes the interpreter some 20 ms, and no thread else.
MOST_BYTES: Final = 2 * 1024 * 1024
# Has the body of a call that we make in the runtime's place, and so much of it is kept.
CALL_BODY: Final = "llmInference.httpRequestChunk"
MOST_BODY_BYTES: Final = 32 * 1024 * 1024
TOO_LARGE: Final = (
    "This call is too large for Airboss to read, so it is refused. Do it in smaller steps: write a "
    "long file in parts, or by a command."
)
# A text of 1 MiB stays whole: so much a person is asked about. Of a longer one that is more than a
# block keeps, and what the edges of a gap need.
_HEAD = 768 * 1024 + EDGE
_TAIL = 256 * 1024 + 3 * EDGE
# Of every text behind those: the runtime repeats itself, and the first time counts.
_SHORT = 1024
_ROOM = 3 * MOST_BYTES // 4
# With more than this left it has a great many short texts, and is passed over.
_MOST_LEFT = 2 * MOST_BYTES
_CHUNK = 1 << 13
_HEADER = 1024
_ENDS = 4096

# All that is no text, and texts that end in the same chunk.
_SMALL = re.compile(rb'(?:[^"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
# The content of a text, as far as it goes by whole letters of JSON.
_LETTERS = re.compile(rb'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+', re.DOTALL)
_HIGH_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
# Nobody can write this by accident or on purpose: it is another one in each process.
_GAP = secrets.token_hex(16)
_BODY = secrets.token_hex(16)
_IS_CALL = b'"method":"%b"' % CALL_BODY.encode()


class Oversized(ValueError):
    """More than is taken of one message, from whom nothing is believed."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(
            f"The cage was ended: the agent runtime in it said something of {size / 1e6:,.0f} MB, "
            f"and {most / 1e6:,.0f} MB is the most that is read."
        )


class Pipe(Protocol):
    """What a process says, as bytes."""

    def readline(self, size: int = ..., /) -> bytes: ...

    def read(self, size: int = ..., /) -> bytes | None: ...


class Shortened(dict[str, Any]):
    """A message that was too large. Its long texts are `Gapped`."""


@dataclass(frozen=True)
class PassedOver:
    """A message that nobody can make small: so much of it as is needed to answer it."""

    size: int
    method: str | None
    id: Any = None
    session: str | None = None
    event: str | None = None

    @property
    def words(self) -> str:
        return (
            f"The agent runtime said something of {self.size / 1e6:,.0f} MB, too large to be read."
        )


def read_message(
    pipe: Pipe,
    go_on: Callable[[], None] = lambda: None,
    most: int = MOST_BYTES,
    bound: int | None = None,
) -> tuple[Any, int]:
    """The next message and how many bytes of it are in memory; none where the pipe has ended or
    says something that is none. An odd one is a ValueError, half a one an EOFError. `go_on` is
    called again and again while a large one is read, which may take seconds. What is over `bound`
    is not read at all."""
    header = pipe.readline(_HEADER)
    name, _, size = header.partition(b":")
    if name != b"Content-Length":
        return None, 0
    length = int(size)
    if length < 0:
        raise ValueError("The agent runtime said something of no length.")
    if bound is not None and length > bound:
        raise Oversized(length, bound)
    pipe.readline(_HEADER)
    if length <= most:
        return _WIRE.decode(_exactly(pipe, length).decode()), length
    return _Shortener(pipe, length, go_on).message()


def _decoder(hook: Callable[[dict[str, Any]], Any] | None = None) -> json.JSONDecoder:
    return json.JSONDecoder(object_hook=hook, parse_float=_finite, parse_constant=_refused)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refused(text)


def _refused(text: str) -> NoReturn:
    """What cannot be written down again as JSON would be there for good where it is stored."""
    raise ValueError(f"The agent runtime said {text[:20]}, which is no number.")


_WIRE: Final = _decoder()


def has_gap(value: object) -> bool:
    """Whether a text in it was cut. However deep it is: who asks has to answer."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, Gapped):
            return True
        if isinstance(part, dict):
            left.extend(cast("dict[str, object]", part).values())
        elif isinstance(part, list):
            left.extend(cast("list[object]", part))
    return False


def _exactly(pipe: Pipe, size: int) -> bytes:
    read = pipe.read(size)
    if read and len(read) == size:
        return read
    pieces, left = [read or b""], size - len(read or b"")
    while left and pieces[-1]:
        pieces.append(pipe.read(left) or b"")
        left -= len(pieces[-1])
    if left:
        raise EOFError("The agent runtime stopped in the middle of a message.")
    return b"".join(pieces)


@dataclass
class _Text:
    """A text inside of a message, as JSON writes it: head, tail, and what is between them counted.
    It is kept in pieces of whole letters."""

    most_head: int
    most_tail: int
    head: bytearray = field(default_factory=bytearray)
    tail: deque[bytes] = field(default_factory=deque[bytes])
    size: int = 0
    left_out: int = 0

    def add(self, piece: bytes) -> None:
        if not self.tail and len(self.head) + len(piece) <= self.most_head:
            self.head += piece
            return
        self.tail.append(piece)
        self.size += len(piece)
        while self.tail and self.size - len(self.tail[0]) >= self.most_tail:
            first = self.tail.popleft()
            self.size -= len(first)
            is_plain = first.isascii() and b"\\" not in first
            self.left_out += len(first if is_plain else json.loads(b'"%b"' % first))

    def json(self) -> bytes:
        tail = b"".join(self.tail)
        if not self.left_out:
            return b'"%b%b"' % (self.head, tail)
        parts = _GAP.encode(), self.left_out, bytes(self.head), tail
        return b'{"%b":%d,"head":"%b","tail":"%b"}' % parts


@dataclass
class _Body:
    """A text of which everything is wanted. It is read in pieces, so that others get a turn; with
    more than is kept it has one byte more than that."""

    content: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> None:
        if len(self.content) <= MOST_BODY_BYTES:
            self.content += json.loads(b'"%b"' % piece).encode("utf-8", "replace")
            del self.content[MOST_BODY_BYTES + 1 :]

    def json(self) -> bytes:
        return b'{"%b":0}' % _BODY.encode()


class _Shortener:
    """Reads one message and copies it, but for the middles of its long texts."""

    def __init__(self, pipe: Pipe, size: int, go_on: Callable[[], None]) -> None:
        self._pipe = pipe
        self._go_on = go_on
        self._size = size
        self._left = size
        self._kept = bytearray()
        self._text: _Text | _Body | None = None
        self._body: _Body | None = None
        self._begin = b""
        self._end = b""

    def message(self) -> tuple[Any, int]:
        """To its end in any case: another one stands behind it."""
        rest = b""
        while self._left:
            chunk = self._next()
            if len(self._kept) <= _MOST_LEFT:
                rest = self._copy(rest + chunk)
        return self._read()

    def _copy(self, chunk: bytes) -> bytes:
        """What is left of it is the beginning of a letter."""
        place = 0
        while place < len(chunk):
            if self._text is None:
                stop = cast("re.Match[bytes]", _SMALL.match(chunk, place)).end()
                self._kept += chunk[place:stop]
                self._text = None if stop == len(chunk) else self._new_text()
                place = stop + 1
                continue
            stop = _end_of_letters(chunk, place)
            if chunk[stop : stop + 1] != b'"':
                return self._break_off(self._text, chunk, place, stop)
            self._text.add(chunk[place:stop])
            self._kept += self._text.json()
            self._text, place = None, stop + 1
        return b""

    def _break_off(self, text: _Text | _Body, chunk: bytes, place: int, stop: int) -> bytes:
        """The text goes on in the next chunk."""
        if len(chunk) - stop > len(r"\u123"):
            raise ValueError("The agent runtime said something that is no JSON.")
        stop = _whole_letters(chunk, place, stop)
        text.add(chunk[place:stop])
        return chunk[stop:]

    def _next(self) -> bytes:
        self._go_on()
        chunk = _exactly(self._pipe, min(self._left, _CHUNK))
        self._left -= len(chunk)
        self._begin = self._begin or chunk[:_ENDS]
        self._end = (self._end + chunk)[-_ENDS:]
        return chunk

    def _new_text(self) -> _Text | _Body:
        if self._body is None and self._kept.endswith(b'"data":') and _IS_CALL in self._begin:
            self._body = _Body()
            return self._body
        if len(self._kept) < _ROOM:
            return _Text(_HEAD, _TAIL)
        return _Text(_SHORT, _SHORT)

    def _read(self) -> tuple[Any, int]:
        if len(self._kept) <= _MOST_LEFT:
            try:
                message = _decoder(self._whole).decode(self._kept.decode("utf-8", "surrogatepass"))
                return Shortened(message), len(self._kept)
            # A name that is too long, no JSON at all, or too much inside each other.
            except (ValueError, TypeError, RecursionError):
                pass
        return self._passed_over(), _ENDS

    def _whole(self, found: dict[str, Any]) -> Any:
        if self._body is not None and _BODY in found:
            return bytes(self._body.content)
        return _with_gap(found)

    def _passed_over(self) -> PassedOver:
        envelope = re.split(rb'"(?:params|result|error)"', self._begin, maxsplit=1)
        top = envelope[0] if len(envelope) > 1 else b""
        number = re.search(rb'"id":("[^"\\]*"|\d+)', top)
        return PassedOver(
            self._size,
            _named(rb"method", top),
            json.loads(number[1]) if number else None,
            _named(rb"sessionId", self._begin),
            _named(rb"type", self._begin),
        )


def _named(name: bytes, text: bytes) -> str | None:
    found = re.search(rb'"%b":"([^"\\]{1,200})"' % name, text)
    return found[1].decode("utf-8", "replace") if found else None


def _end_of_letters(chunk: bytes, place: int) -> int:
    """Where the text ends, or what can be read of it."""
    quote = chunk.find(b'"', place)
    end = len(chunk) if quote < 0 else quote
    if chunk.find(b"\\", place, end) < 0:
        return end
    return cast("re.Match[bytes]", _LETTERS.match(chunk, place)).end()


def _whole_letters(chunk: bytes, begin: int, stop: int) -> int:
    """Not in the middle of a letter of several bytes, nor between the halves of a pair."""
    for back in range(1, min(4, stop - begin) + 1):
        byte = chunk[stop - back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            stop = stop if length <= back else stop - back
            break
    half = _HIGH_HALF.search(chunk, max(begin, stop - 6), stop)
    if half is None:
        return stop
    first = half.start()
    slashes = len(chunk[begin : first + 1]) - len(chunk[begin : first + 1].rstrip(b"\\"))
    return first if slashes % 2 else stop


def _with_gap(found: dict[str, Any]) -> Any:
    if _GAP not in found:
        return found
    return Gapped(found["head"], found[_GAP], found["tail"])
