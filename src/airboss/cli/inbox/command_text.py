"""A long text that somebody decides about, in the terminal: whole, or folded with its end in view.
In a command all that begins another one is marked, in quotes or not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from airboss.cli.screen import Pen
from airboss.model.hidden import visible

# What is longer is folded in a conversation: its beginning and its end are shown.
LONG: Final = 8_192
_BEGINNING: Final = 2_048
_END: Final = 2_048
_SEPARATORS: Final = re.compile(r"(\|\||&&|[;|&\n`]|[$<>]\()")
_LINE_END: Final = "⏎"


@dataclass(frozen=True)
class TextPart:
    """Some of a text, or what was left out of it: then `text` says how much."""

    text: str
    is_gap: bool = False


def parts_of(text: str, *, is_folded: bool, is_command: bool = False) -> list[TextPart]:
    if not is_folded or len(text) <= LONG:
        return [TextPart(text)]
    hidden = text[_BEGINNING:-_END]
    return [
        TextPart(text[:_BEGINNING]),
        TextPart(_gap(hidden, is_command), True),
        TextPart(text[-_END:]),
    ]


def _gap(hidden: str, is_command: bool) -> str:
    count = len(_SEPARATORS.findall(hidden)) if is_command else hidden.count("\n")
    what = "separators" if is_command else "line breaks"
    among = f", with {count:,} {what}" if count else f", with no {what}"
    return f"… {len(hidden):,} characters hidden{among} …"


def command_lines(pen: Pen, text: str, width: int) -> Iterator[str]:
    """Lines of at most so many letters; 0 is as long as they are."""
    line, room = "", width
    for place, piece in enumerate(_SEPARATORS.split(text)):
        if place % 2 == 0:
            rest = visible(piece)
            while width and len(rest) > room:
                yield line + rest[:room]
                rest, line, room = rest[room:], "", width
            line, room = line + rest, room - len(rest)
            continue
        mark = _marked(pen, piece)
        if width and room < len(piece) + 2:
            yield line
            line, room = "", width
        line, room = line + mark, room - len(piece) - 2
        if piece == "\n":
            yield line
            line, room = "", width
    yield line


def _marked(pen: Pen, separator: str) -> str:
    sign = _LINE_END if separator == "\n" else separator
    if pen.has_colour:
        return pen.styled(sign, "reverse")
    return sign if separator == "\n" else f"⟨{sign}⟩"
