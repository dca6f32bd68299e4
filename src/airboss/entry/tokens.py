"""Where the words of a text begin and end: what a change of it needs to know."""

import json
import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from json import decoder
from typing import Any, Final, TypeAlias, cast

import yaml
from yaml import events

from airboss.entry.excerpts import BREAKS
from airboss.entry.load import Format

# Line and column, from 1.
Position: TypeAlias = tuple[int, int]

_LOADER: Final = cast("Any", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
_SCAN: Final = cast("Any", decoder).scanstring
_JSON_WORD: Final = re.compile(r"[^\s,\[\]{}:\"]+")


@dataclass(frozen=True)
class Token:
    """A text, number or word, and what it stands for; or the beginning of an object."""

    begin: int
    end: int
    value: str = ""
    # An object in braces; one that is written line by line has none.
    is_flow: bool = False


@dataclass(frozen=True)
class Tokens:
    """By where they begin. An object that is written line by line begins with its first word."""

    words: dict[Position, Token] = field(default_factory=dict["Position", Token])
    objects: dict[Position, Token] = field(default_factory=dict["Position", Token])


class Lines:
    """Offsets in a text as lines and columns, and the other way round."""

    def __init__(self, text: str, form: Format) -> None:
        self._starts = [0, *(hit.end() for hit in BREAKS[form].finditer(text))]

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, place: Position) -> int:
        return self._starts[place[0] - 1] + place[1] - 1


def tokens_at(text: str, form: Format, places: Collection[Position], lines: Lines) -> Tokens:
    """Those that begin at these places."""
    if form == "yaml":
        return _yaml_tokens(text, set(places))
    found = Tokens()
    for place in places:
        begin = lines.offset(place)
        if text.startswith("{", begin):
            found.objects[place] = Token(begin, begin + 1, is_flow=True)
        elif token := _json_word(text, begin):
            found.words[place] = token
    return found


def _json_word(text: str, begin: int) -> Token | None:
    if not text.startswith('"', begin):
        word = _JSON_WORD.match(text, begin)
        return Token(begin, word.end(), word[0]) if word else None
    try:
        value, end = _SCAN(text, begin + 1)
    except json.JSONDecodeError:
        return None
    return Token(begin, end, value)


def _yaml_tokens(text: str, wanted: set[Position]) -> Tokens:
    found = Tokens()
    loader = _LOADER(text)
    try:
        while loader.check_event():
            event = loader.get_event()
            place = (event.start_mark.line + 1, event.start_mark.column + 1)
            # What has an anchor or a tag begins in front of itself.
            if place in wanted and not _is_marked(event):
                _take(found, place, event, text)
    except yaml.YAMLError:  # it could be read before, as far as it goes
        return found
    finally:
        loader.dispose()
    return found


def _take(found: Tokens, place: Position, event: Any, text: str) -> None:
    begin, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, events.ScalarEvent):
        # A text of several lines ends where the next word begins.
        end = begin + len(text[begin:end].rstrip())
        found.words.setdefault(place, Token(begin, end, str(event.value)))
    elif isinstance(event, events.MappingStartEvent):
        is_flow = bool(event.flow_style)
        found.objects.setdefault(place, Token(begin, begin + is_flow, is_flow=is_flow))


def _is_marked(event: Any) -> bool:
    return bool(getattr(event, "anchor", None) or getattr(event, "tag", None))
