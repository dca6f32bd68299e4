"""What every way to talk with a model has in common: a request, and a reply on its way out."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Literal, TypeAlias

from airboss.runtime.rehearsal.conversation import Message
from airboss.runtime.rehearsal.player import Drop, FilledCall, PlayedText, Reason, Reply, Sleep
from airboss.runtime.rehearsal.script import RehearsalModel

TextKind: TypeAlias = Literal["reasoning", "text"]


@dataclass(frozen=True)
class ModelRequest:
    """What somebody asks of a model, whatever its wire looks like."""

    model: str
    messages: list[Message]
    stream: bool = False
    # Chat completions can tell the usage in a chunk of its own.
    usage_apart: bool = False


@dataclass(frozen=True)
class Wait:
    """Nothing is sent for so long."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """The connection ends here, in the middle of the answer."""


Frame: TypeAlias = bytes | Wait | Cut


@dataclass(frozen=True)
class TextBegun:
    """A text begins: the `number`-th part of the answer."""

    kind: TextKind
    number: int


@dataclass(frozen=True)
class TextPiece:
    """Some letters of it."""

    kind: TextKind
    number: int
    text: str


@dataclass(frozen=True)
class TextEnded:
    """It has ended, and this is all of it."""

    kind: TextKind
    number: int
    text: str


@dataclass(frozen=True)
class SentCall:
    """A tool call with the id that leads back to its place in the script."""

    id: str
    tool: str
    arguments: dict[str, Any]

    @property
    def json(self) -> str:
        return json.dumps(self.arguments)


@dataclass(frozen=True)
class Answer:
    """A reply on its way to whoever asked for it."""

    reply: Reply
    model: str
    prompt_tokens: int
    usage_apart: bool = False
    name: str = field(default_factory=lambda: token_hex(12))
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def completion_tokens(self) -> int:
        letters = sum(len(b.text) for b in self.reply.beats if isinstance(b, Reason | PlayedText))
        letters += sum(len(json.dumps(call.arguments)) for call in self.reply.calls)
        return letters // 4 + 1

    def calls(self) -> list[SentCall]:
        return [self._sent(call) for call in self.reply.calls]

    def _sent(self, call: FilledCall) -> SentCall:
        name = f"call_{self.reply.rule}_{self.reply.number}_{token_hex(4)}"
        return SentCall(name, call.tool, dict(call.arguments))

    def texts(self) -> list[tuple[TextKind, str]]:
        """What is said and thought, neighbours of a kind as one."""
        found: list[tuple[TextKind, str]] = []
        for beat in self.reply.beats:
            if isinstance(beat, Reason | PlayedText):
                kind = kind_of(beat)
                before = found.pop()[1] if found and found[-1][0] == kind else ""
                found.append((kind, before + beat.text))
        return found

    def spoken(self, kind: TextKind) -> str:
        return "".join(text for one, text in self.texts() if one == kind)


def kind_of(beat: Reason | PlayedText) -> TextKind:
    return "text" if isinstance(beat, PlayedText) else "reasoning"


@dataclass(frozen=True)
class Pace:
    """How a text is cut into pieces, and the pause behind each."""

    letters: int
    seconds: float

    def play(self, answer: Answer) -> Iterator[TextBegun | TextPiece | TextEnded | Wait | Cut]:
        """The whole answer but its calls. After a `Cut` comes nothing."""
        texts, number, is_open = answer.texts(), 0, False
        for beat in answer.reply.beats:
            match beat:
                case Sleep(seconds):
                    yield Wait(seconds)
                case Drop():
                    yield Cut()
                    return
                case Reason() | PlayedText():
                    kind = kind_of(beat)
                    if is_open and texts[number][0] != kind:
                        yield TextEnded(*_at(texts, number))
                        number, is_open = number + 1, False
                    if not is_open:
                        yield TextBegun(kind, number)
                        is_open = True
                    yield from self._pieces(kind, number, beat.text)
        if is_open:
            yield TextEnded(*_at(texts, number))

    def _pieces(self, kind: TextKind, number: int, text: str) -> Iterator[TextPiece | Wait]:
        for start in range(0, len(text), self.letters):
            yield TextPiece(kind, number, text[start : start + self.letters])
            if self.seconds:
                yield Wait(self.seconds)


def _at(texts: list[tuple[TextKind, str]], number: int) -> tuple[TextKind, int, str]:
    kind, text = texts[number]
    return kind, number, text


@dataclass(frozen=True)
class Wire:
    """One way to talk with a model: reads a request, and writes an answer or a refusal."""

    read: Callable[[dict[str, Any]], ModelRequest]
    stream: Callable[[Answer, Pace], Iterator[Frame]]
    whole: Callable[[Answer], dict[str, Any]]
    refuse: Callable[[str, str], dict[str, Any]]


class Template:
    """The bytes of an event around one text that changes: written once, not for every piece."""

    def __init__(self, event: Callable[[str], bytes]) -> None:
        self._before, self._after = event("\0").split(b'"\\u0000"')

    def filled(self, text: str) -> bytes:
        return self._before + json.dumps(text).encode() + self._after


def named_event(content: dict[str, Any]) -> bytes:
    """A server-sent event whose name is its type."""
    return b"event: " + content["type"].encode() + b"\n" + unnamed_event(content)


def unnamed_event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content).encode() + b"\n\n"


def model_list(models: tuple[RehearsalModel, ...]) -> dict[str, Any]:
    known = {"object": "model", "created": 0, "owned_by": "rehearsal"}
    return {"object": "list", "data": [known | model.model_dump() for model in models]}


def refusal(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "rehearsal", "code": code}}
