"""Reads JSON with the place of everything in it, to any depth that is allowed."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from json import decoder
from typing import Any, Final, cast

from airboss.entry.advice import of_text
from airboss.entry.source import Growing, Source, Spot
from airboss.entry.violations import ROOT, EntryUnparsed, Violation

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD: Final = re.compile(r"[A-Za-z]+")
# A string behind its quote: the text, and where it ends. Known to json alone.
_SCAN: Final = cast("Callable[[str, int], tuple[str, int]]", cast("Any", decoder).scanstring)
_WORDS: Final = {"true": True, "false": False, "null": None}


class _Doubtful(ValueError):
    """The careful reader should look at this text."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Doubtful
    return found


def _no_constant(name: str) -> object:
    raise _Doubtful(name)


def quick_json(text: str) -> tuple[object] | None:
    """The data alone, ten times as fast; nothing where the careful reader should look."""
    if "\\ud" in text or "\\uD" in text:
        return None
    try:
        return (json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant),)
    except (ValueError, RecursionError):
        return None


def parse_json(text: str, prefix: str = "") -> Source:
    """The data and its places; not JSON is an error with its own place."""
    return _JsonReader(text, prefix).read()


class _JsonReader:
    def __init__(self, text: str, prefix: str) -> None:
        self._text = text
        self._prefix = prefix
        self._at = 0
        self._starts: list[int] = []
        self._growing = Growing(self._position, prefix)

    def _position(self, spot: Spot) -> tuple[int, int]:
        if not self._starts:
            self._starts = [0, *(hit.end() for hit in re.finditer("\n", self._text))]
        line = bisect_right(self._starts, spot)
        return line, spot - self._starts[line - 1] + 1

    def _refuse(self, reason: str, spot: Spot | None = None) -> EntryUnparsed:
        line, column = self._position(self._at if spot is None else spot)
        where = self._prefix + ROOT
        text, advice = f"Is not JSON: {reason}.", of_text("json", reason)
        return EntryUnparsed([Violation(where, text, line=line, column=column, advice=advice)])

    def _next(self) -> str:
        """The next character that is no space; none at the end."""
        hit = _SPACE.match(self._text, self._at)
        self._at = hit.end() if hit else self._at
        return self._text[self._at : self._at + 1]

    def read(self) -> Source:
        self._value()
        while not self._growing.is_done:
            self._part()
        if self._next():
            raise self._refuse("there is more behind its end")
        return self._growing.done()

    def _part(self) -> None:
        """The next of an open list or object: its end, or a comma and a part."""
        container = self._growing.inside
        closing = "]" if isinstance(container, list) else "}"
        sign = self._next()
        if sign == closing:
            self._at += 1
            self._growing.end()
            return
        if container:
            if sign != ",":
                raise self._refuse(f"a comma or {closing} should stand here")
            self._at += 1
            if self._next() == closing:
                raise self._refuse(f"{closing} should not stand behind a comma")
        if closing == "}":
            self._name()
        self._value()

    def _name(self) -> None:
        if self._next() != '"':
            raise self._refuse("a field's name in double quotes should stand here")
        spot = self._at
        self._growing.name(self._string(), spot)
        if self._next() != ":":
            raise self._refuse("a colon should stand here")
        self._at += 1

    def _value(self) -> None:
        sign = self._next()
        spot = self._at
        if sign in ("{", "["):
            self._at += 1
            self._growing.begin({} if sign == "{" else [], spot)
            return
        read: Callable[[], object] = self._string if sign == '"' else self._scalar
        self._growing.put(read(), spot)

    def _string(self) -> str:
        spot = self._at
        try:
            text, self._at = _SCAN(self._text, spot + 1)
        except json.JSONDecodeError as error:
            raise self._refuse(_lower(error.msg), error.pos) from None
        return text

    def _scalar(self) -> object:
        word = _WORD.match(self._text, self._at)
        if word and word[0] in _WORDS:
            self._at = word.end()
            return _WORDS[word[0]]
        number = _NUMBER.match(self._text, self._at)
        if not number:
            raise self._refuse("a value should stand here")
        self._at = number.end()
        is_whole = number[1] is None and number[2] is None
        try:
            return int(number[0]) if is_whole else float(number[0])
        except ValueError:
            raise self._refuse("the number is too long", number.start()) from None


def _lower(sentence: str) -> str:
    return (sentence[:1].lower() + sentence[1:]).removesuffix(" at")
