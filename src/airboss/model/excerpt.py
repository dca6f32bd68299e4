"""What is kept of a text that is too long: its head, its tail, and how much was left out between.

Secrets leave the text before it is cut. Where the middle was never read, the edges of the gap may
hold a part of one: they are left out as well.
"""

import json
import re
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol, Self

from airboss.model.redaction import cleaned
from airboss.model.secret_shapes import LONGEST_KEY

# Of a block, where the settings say nothing else.
MOST_CHARACTERS: Final = 512 * 1024
# Of one line for a person: an error, a reason.
MOST_OF_A_REASON: Final = 16 * 1024
# Of a name that somebody else gave.
MOST_OF_A_NAME: Final = 256
# Longer than any secret: so much behind a gap may be the end of one that began inside of it.
EDGE: Final = LONGEST_KEY + 1024
_MARK_ROOM = 64
_PIECE = 64 * 1024


class TextStream(Protocol):
    """One text that arrives in pieces and is said without its secrets."""

    def feed(self, text: str) -> str: ...

    def finish(self) -> str: ...


class Redacting(Protocol):
    """What takes secrets out of a text (`airboss.model.redaction.Redactor`)."""

    def stream(self) -> TextStream: ...

    def text(self, text: str) -> str: ...


def left_out_words(count: int) -> str:
    return f"{count:,} character{'' if count == 1 else 's'} left out"


def mark_of(count: int) -> str:
    """What stands in a text where some of it was left out."""
    return f"\n\n[{left_out_words(count)} here]\n\n"


# The same, for whoever looks for it in what was kept.
MARK: Final = re.compile(r"\[[\d,]+ characters? left out here\]")


class Gapped(str):
    """A text whose middle was never read. Whoever takes it for a text reads that in words."""

    __slots__ = ("head", "left_out", "tail")

    head: str
    tail: str
    left_out: int

    def __new__(cls, head: str, left_out: int, tail: str) -> Self:
        made = super().__new__(cls, f"{head}{mark_of(left_out)}{tail}")
        made.head, made.left_out, made.tail = head, left_out, tail
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[str, int, str]]:
        return type(self), (self.head, self.left_out, self.tail)


def length_of(text: str) -> int:
    """How long it was, with what was left out."""
    if isinstance(text, Gapped):
        return len(text.head) + text.left_out + len(text.tail)
    return len(text)


def begins_with(text: str, beginning: str) -> bool:
    """As far as it was read."""
    return (text.head if isinstance(text, Gapped) else text).startswith(beginning)


def behind(text: str, count: int) -> str:
    """The text without its first so many characters."""
    if not isinstance(text, Gapped):
        return text[count:]
    if count <= len(text.head):
        return Gapped(text.head[count:], text.left_out, text.tail)
    left = length_of(text) - count
    unread = left - len(text.tail)
    if unread > 0:
        return Gapped("", unread, text.tail)
    return text.tail[len(text.tail) - left :] if left > 0 else ""


class Excerpt:
    """One text that arrives in pieces, of which at most so many characters are told: three quarters
    as they come, the rest at the end. A text that fits is told whole."""

    def __init__(self, redactor: Redacting, most: int = MOST_CHARACTERS) -> None:
        self.left_out = 0
        self._redactor = redactor
        self._stream = redactor.stream()
        self._most = most
        self._room = most - most // 4
        self._taken = 0
        self._given = 0
        # Clean text for which the head had no room.
        self._over = ""
        # What came behind the head, as it came: the last of it, where there is a gap.
        self._rest: deque[str] = deque()
        self._held = 0
        self._has_gap = False

    def take(self, text: str) -> str:
        """What is to be told of it now."""
        self._taken += length_of(text)
        if not isinstance(text, Gapped):
            return self._take(text)
        said = self._take(text.head)
        self._begin_gap()
        self._rest.clear()
        self._held = 0
        self._keep(text.tail)
        return said

    def finish(self) -> str:
        """What is to be told at the end."""
        rest = "".join(self._rest)
        self._rest.clear()
        if self._has_gap:
            return self._behind_gap(rest)
        rest = self._over + self._stream.feed(rest) + self._stream.finish()
        if len(rest) <= self._most - self._given:
            return rest
        head = rest[: self._room]
        tail = rest[len(rest) - self._tail_room :]
        self.left_out = len(rest) - len(head) - len(tail)
        return f"{head}{mark_of(self.left_out)}{tail}"

    @property
    def _tail_room(self) -> int:
        return self._most - self._given - self._room - _MARK_ROOM

    def _take(self, text: str) -> str:
        said: list[str] = []
        place = 0
        while self._room and place < len(text):
            clean = self._stream.feed(text[place : place + _PIECE])
            place += _PIECE
            said.append(clean[: self._room])
            self._over = clean[self._room :]
            self._room -= len(said[-1])
            self._given += len(said[-1])
        if place < len(text):
            self._keep(text[place:] if place else text)
        return "".join(said)

    def _keep(self, text: str) -> None:
        most = self._tail_room + EDGE
        if len(text) > most:
            self._begin_gap()
            self._rest.clear()
            self._held = 0
            text = text[-most:]
        self._rest.append(text)
        self._held += len(text)
        while self._held - len(self._rest[0]) >= most:
            self._begin_gap()
            self._held -= len(self._rest.popleft())

    def _begin_gap(self) -> None:
        """What the stream holds back might be the beginning of a secret that is never seen."""
        self._has_gap = True
        self._room = 0
        self._over = ""

    def _behind_gap(self, rest: str) -> str:
        stream = self._redactor.stream()
        stream.feed(rest[:EDGE])
        tail = stream.feed(rest[EDGE:]) + stream.finish()
        tail = tail[max(0, len(tail) - self._tail_room) :]
        # A secret and what stands for it are not of one length.
        self.left_out = max(1, self._taken - self._given - len(tail))
        return f"{mark_of(self.left_out)}{tail}"


def excerpt(redactor: Redacting, text: str, most: int = MOST_CHARACTERS) -> str:
    """A text that is there as a whole, clean and no longer than that."""
    kept = Excerpt(redactor, most)
    return kept.take(text) + kept.finish()


def name_of(text: str) -> str:
    """A name that somebody else gave, short enough to be repeated in every event."""
    return text if len(text) <= MOST_OF_A_NAME else f"{text[: MOST_OF_A_NAME - 1]}…"


def json_of(redactor: Redacting, value: object, most: int = MOST_CHARACTERS) -> str:
    """A value as clean JSON of at most so many characters: long texts in it are cut first."""
    for each in (most, most // 8, most // 64):
        clean = _cutting(redactor, max(each, 2 * _MARK_ROOM))
        said = json.dumps(cleaned(value, clean), ensure_ascii=False)
        if len(said) <= most:
            return said
    return json.dumps({"left_out": f"{left_out_words(len(said))}."})


def _cutting(redactor: Redacting, most: int) -> Callable[[str], str]:
    return lambda text: redactor.text(text) if _is_short(text) else excerpt(redactor, text, most)


def _is_short(text: str) -> bool:
    return len(text) <= 2 * _MARK_ROOM and not isinstance(text, Gapped)
