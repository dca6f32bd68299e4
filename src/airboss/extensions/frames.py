"""Messages of an extension's process, out of whatever it writes: frames with a `Content-Length`.

What stands between frames is passed over; how much of it there may be is bounded, and so is a
frame. Nothing waits here: pieces go in, messages come out.
"""

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

MOST_FRAME: Final = 4 << 20
MOST_NOISE: Final = 1 << 20
# So long noise is counted together: a line now and then harms nobody.
_NOISE_SECONDS: Final = 60.0
# Values in one message: a thousand brackets are a hundred times as heavy as a text of their length.
MOST_VALUES: Final = 50_000
# Objects and lists in each other. The agent runtime reads no message of more than 128, and ours has
# some around these.
MOST_DEPTH: Final = 100
_LENGTH: Final = re.compile(rb"Content-Length:[ \t]*(\d+)\r?\n", re.IGNORECASE)
_END: Final = re.compile(rb"\n\r?\n")
_BEGIN: Final = re.compile(rb"Content-Length:", re.IGNORECASE)
_TEXT: Final = re.compile(rb'"[^"]*"')
# Half of a character, as JSON spells it out, and as it is then.
_HALF_SAID: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_BRACKET: Final = re.compile(rb"[][{}]")
# A head is no longer; what is kept of noise may be the beginning of one.
_LONGEST_HEAD: Final = 512
_LONGEST_WORD: Final = len("Content-Length:")
_MOST_DIGITS: Final = 15


class BadMessage(Exception):
    """It cannot be talked with any more, for this reason."""


def frame(message: dict[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    )
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """What one process writes. `noise` is told of what stands between frames."""

    def __init__(self, noise: Callable[[bytes], None] = lambda _: None) -> None:
        self._tell_noise = noise
        self._kept = bytearray()
        self._length: int | None = None
        self._noise = 0
        self._noise_since = time.monotonic()

    def feed(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """The messages that are whole now. Raises where there can be no more."""
        self._kept += piece
        while True:
            if self._length is None and not self._found_head():
                return
            length = self._length or 0
            if len(self._kept) < length:
                return
            body = bytes(self._kept[:length])
            del self._kept[:length]
            self._length = None
            yield _parsed(body)

    def _found_head(self) -> bool:
        found = self._head()
        if found is None:
            self._pass_over(len(self._kept) - self._may_be_head())
            return False
        begin, digits, end = found
        if len(digits) > _MOST_DIGITS or int(digits) > MOST_FRAME:
            size = f"{int(digits):,}" if len(digits) <= _MOST_DIGITS else "far too many"
            raise BadMessage(f"It sent a message of {size} bytes; {MOST_FRAME:,} are the most.")
        self._length = int(digits)
        self._pass_over(begin)
        del self._kept[: end - begin]
        return True

    def _head(self) -> tuple[int, bytes, int] | None:
        """Where the first one begins, its number, and where it ends. Each empty line is looked for
        once, and before it no further than a head is long."""
        at = 0
        while empty := _END.search(self._kept, at):
            end = empty.end()
            # Of two, the last counts: a program may have printed the other before the message.
            if found := [*_LENGTH.finditer(self._kept, max(at, end - _LONGEST_HEAD), end)]:
                return found[-1].start(), found[-1][1], end
            at = end
        return None

    def _may_be_head(self) -> int:
        """How many bytes at the end may be the beginning of a head."""
        tail = bytes(self._kept[-_LONGEST_HEAD:])
        found = _BEGIN.search(tail)
        return len(tail) - found.start() if found else min(len(tail), _LONGEST_WORD)

    def _pass_over(self, count: int) -> None:
        if count <= 0:
            return
        self._tell_noise(bytes(self._kept[:count]))
        del self._kept[:count]
        now = time.monotonic()
        if now - self._noise_since > _NOISE_SECONDS:
            self._noise, self._noise_since = 0, now
        self._noise += count
        if self._noise > MOST_NOISE:
            raise BadMessage(
                f"It wrote more than {MOST_NOISE >> 20} MiB to its standard output that are no "
                "messages. Write to standard error, or use `session.log`."
            )


def _parsed(body: bytes) -> dict[str, Any]:
    if len(body) > MOST_VALUES and _has_too_many_values(body):
        raise BadMessage(f"It sent a message of more than {MOST_VALUES:,} values.")
    if _is_too_deep(body):
        raise BadMessage(f"It sent a message that is more than {MOST_DEPTH} levels deep.")
    try:
        # JSON has no other numbers: the agent runtime would leave the whole message unread.
        text = body.decode("utf-8", "replace")
        message: object = json.loads(text, parse_float=_finite, parse_constant=_nothing)
    except (ValueError, RecursionError):
        raise BadMessage("It sent a message that is not JSON.") from None
    if not isinstance(message, dict):
        raise BadMessage("It sent a message that is not a JSON object.")
    return cast("dict[str, Any]", _mended(message) if _HALF_SAID.search(body) else message)


def _mended(value: Any) -> Any:
    """JavaScript cuts texts in the middle of a character. The agent runtime takes no such half, and
    would leave the whole message unread."""
    match value:
        case str():
            return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
        case list():
            return [_mended(one) for one in cast("list[Any]", value)]
        case dict():
            parts = cast("dict[str, Any]", value)
            return {_mended(name): _mended(one) for name, one in parts.items()}
        case _:
            return value


def _has_too_many_values(body: bytes) -> bool:
    """By its marks, which is quicker than to parse it, and takes no memory."""
    if body.count(b'"') - body.count(b'\\"') > 2 * MOST_VALUES:
        return True
    if _marks(body) <= MOST_VALUES:
        return False
    return _marks(_without_texts(body)) > MOST_VALUES


def _is_too_deep(body: bytes) -> bool:
    if body.count(b"[") + body.count(b"{") <= MOST_DEPTH:
        return False
    depth = 0
    for found in _BRACKET.finditer(_without_texts(body)):
        depth += 1 if found[0] in b"[{" else -1
        if not 0 <= depth <= MOST_DEPTH:
            break
    return depth > MOST_DEPTH


def _without_texts(body: bytes) -> bytes:
    """What is left has marks that mean something. Escaped signs go first: each by itself would take
    a step of the expression."""
    return _TEXT.sub(b"", body.replace(b"\\\\", b"").replace(b'\\"', b""))


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _nothing(_: str) -> None:
    """As JavaScript writes what is not a number."""


def _marks(body: bytes) -> int:
    return sum(body.count(mark) for mark in (b",", b"[", b"{"))
