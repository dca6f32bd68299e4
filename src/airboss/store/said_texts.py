"""What is looked for in an event, and the words it is found by: without case and accents."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from airboss.store.dialect import Row
from airboss.store.view_rows import stored

# Of a longer text only the beginning is found.
LONGEST: Final = 65_536
# A longer word is found by its beginning; the database takes no more than 2 KB.
_LONGEST_WORD: Final = 200
_WORD: Final = re.compile(r"[^\W_]+")
_FIELDS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "prompt.accepted": ("", ("text",)),
    "prompt.changed": ("", ("text",)),
    "message.ended": ("", ("text",)),
    "reasoning.ended": ("", ("text",)),
    "tool.started": (" ", ("name", "arguments")),
    "tool.ended": (" ", ("text", "error.message")),
    "aside.answered": ("\n", ("question", "answer")),
    "question.asked": ("", ("question",)),
    "session.error": ("", ("message",)),
    "run.accepted": ("", ("user_input",)),
    "task.accepted": ("", ("user_input",)),
    "task.decided": ("", ("text",)),
    "task.checked": ("", ("reason",)),
}
# The columns of `said` beside its id, and the words.
SaidRow = tuple[str, int, int, str, str, str]


def said_rows(rows: Iterable[Row]) -> Iterator[SaidRow]:
    for stream, seq, at, kind, body, *_ in rows:
        if kind in _FIELDS and (text := _text(kind, body)).strip():
            yield stream, seq, at, kind, text, " ".join(words_of(text))


def _text(kind: str, body: str) -> str:
    between, names = _FIELDS[kind]
    event = json.loads(body)
    return stored(between.join(_field(event, name) for name in names))[:LONGEST]


def _field(event: Any, name: str) -> str:
    found = event
    for step in name.split("."):
        found = found.get(step) if isinstance(found, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    text = found if isinstance(found, str) else ""
    # The arguments of a tool are JSON inside of JSON: their line ends would stick to the words.
    return text.replace("\\n", "\n").replace('\\"', '"') if name == "arguments" else text


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def words_of(text: str) -> list[str]:
    """Each once."""
    found = _WORD.findall(folded(text))
    return list(dict.fromkeys(word[:_LONGEST_WORD] for word in found))


def first_hit(text: str, beginnings: Sequence[str]) -> tuple[int, int]:
    """Where the first word is that begins so: its place and its end."""
    for word in _WORD.finditer(text):
        if folded(word.group()).startswith(tuple(beginnings)):
            return word.span()
    return 0, 0
