"""Blocks that are being said: of each what fits, piece by piece, without its secrets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from airboss.model.events import (
    Event,
    MessageDelta,
    MessageStarted,
    ReasoningDelta,
    ReasoningStarted,
    ToolDelta,
    ToolStarted,
)
from airboss.model.excerpt import Excerpt, Gapped, Redacting, begins_with, behind, length_of
from airboss.runtime.signals import Compacted, Signal

Said: TypeAlias = list[Event | Signal | Compacted]

# Of a text that is too long to be kept, so much says which one it is.
_BEGINNING = 4096


@dataclass(frozen=True, slots=True)
class Voice:
    """A kind of text, and our words for it."""

    key: str
    started: Callable[..., MessageStarted | ReasoningStarted | ToolStarted]
    delta: Callable[..., MessageDelta | ReasoningDelta | ToolDelta]


MESSAGE = Voice("messageId", MessageStarted, MessageDelta)
REASONING = Voice("reasoningId", ReasoningStarted, ReasoningDelta)
TOOL = Voice("toolCallId", ToolStarted, ToolDelta)


class SpokenBlock:
    """A block that is being said: an excerpt of what came, without its secrets."""

    __slots__ = ("_came", "_kept", "_length", "_most", "_said", "_voice", "id", "offset", "shell")

    def __init__(self, name: str, voice: Voice, redactor: Redacting, most: int) -> None:
        self.id = name
        self.offset = 0
        self.shell = -1
        self._voice = voice
        self._most = most
        self._kept = Excerpt(redactor, most)
        self._said: list[str] = []
        # What came, or its beginning where that is too long; and its length.
        self._came: list[str] = []
        self._length = 0

    def rest_of(self, whole: str) -> str | None:
        """What `whole` has behind that which came; None where it is another text. One that is too
        long is known by its beginning and its length."""
        if length_of(whole) < self._length or not begins_with(whole, "".join(self._came)):
            return None
        return behind(whole, self._length)

    def is_trimmed(self, whole: str) -> bool:
        """Whether that is what came, but for the space around it."""
        came = "".join(self._came).strip()
        if self._length > self._most:
            return whole.lstrip().startswith(came)
        return whole.strip() == came

    def take(self, piece: str, said: Said) -> None:
        self._length += length_of(piece)
        if self._length <= self._most:
            self._came.append(piece)
        elif sum(map(len, self._came)) != _BEGINNING:
            head = piece.head if isinstance(piece, Gapped) else piece
            self._came = ["".join((*self._came, head[:_BEGINNING]))[:_BEGINNING]]
        self._say(self._kept.take(piece), said)

    def finish(self, said: Said) -> tuple[str, int | None]:
        """Say what was held back. All that was said, and how many characters were not."""
        self._say(self._kept.finish(), said)
        return "".join(self._said), self._kept.left_out or None

    def _say(self, text: str, said: Said) -> None:
        if text:
            said.append(self._voice.delta(block=self.id, offset=self.offset, text=text))
            self._said.append(text)
            self.offset += len(text)
