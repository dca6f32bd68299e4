"""Reads YAML with the place of everything in it. Plain words mean what they mean in JSON."""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

import yaml
from yaml import events

from airboss.entry.advice import of_text
from airboss.entry.shape import MAX_PARTS, too_many
from airboss.entry.source import (
    Container,
    FieldMarks,
    Fields,
    Growing,
    ItemMarks,
    Marks,
    Source,
    Spot,
)
from airboss.entry.violations import ROOT, EntryUnparsed, Violation, has_half

# A YAML of words and numbers as JSON has them: `yes`, `on` and 2026-01-31 are text.
_PLAIN: Final = {"true": True, "false": False, "null": None, "~": None, "": None}
_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_BROKEN: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_TAGS: Final = "tag:yaml.org,2002:"
_SAME: Final = frozenset({None, "!", f"{_TAGS}str", f"{_TAGS}map", f"{_TAGS}seq"})
_MERGE: Final = "<<"
# Lines and columns in one number; no line is longer.
_LINE: Final = 1 << 32
# libyaml's is ten times as fast; both give the same events.
_LOADER: Final = cast("Any", getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def parse_yaml(text: str, prefix: str = "", most_parts: int = MAX_PARTS) -> Source:
    """The data and its places; not YAML is an error with its own place."""
    return _YamlReader(prefix, most_parts).read(text)


def _position(spot: Spot) -> tuple[int, int]:
    return spot // _LINE + 1, spot % _LINE + 1


def _spot(mark: Any) -> Spot:
    return int(mark.line) * _LINE + int(mark.column)


class _YamlReader:
    def __init__(self, prefix: str, most_parts: int) -> None:
        self._prefix = prefix
        self._most_parts = most_parts
        # Fields that `<<` brought: short lines may bring very many of them.
        self._brought = 0
        self._growing = Growing(_position, prefix)
        self._anchors: dict[str, tuple[object, Marks]] = {}
        # For each open object, whether the next scalar is a name.
        self._names: list[bool] = []
        # And whether it has a `<<` that brings something; in quotes it is a name like any other.
        self._merging: list[bool] = []
        self._documents = 0

    def _refuse(self, reason: str, spot: Spot | None, begun: int | None = None) -> EntryUnparsed:
        """`begun` is the line in which the part began that has no end."""
        line, column = _position(spot) if spot is not None else (1, 1)
        said = Violation(
            self._prefix + ROOT,
            f"Is not YAML: {reason}.",
            line=line,
            column=column,
            advice=of_text("yaml", reason, begun if begun != line else None),
        )
        return EntryUnparsed([said])

    def read(self, text: str) -> Source:
        if has_half(text):
            raise self._refuse("it has half of a character", None)
        try:
            for event in _events(text):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            reason = str(error.problem or error.context)
            begun = int(error.context_mark.line) + 1 if error.context_mark else None
            raise self._refuse(reason, _spot(mark) if mark else None, begun) from None
        except yaml.YAMLError as error:
            raise self._refuse(" ".join(str(error).split()), None) from None
        return self._growing.done()

    def _take(self, event: Any) -> None:
        match event:
            case events.ScalarEvent():
                self._scalar(event)
            case events.MappingStartEvent():
                self._begin({}, event)
            case events.SequenceStartEvent():
                self._begin([], event)
            case events.MappingEndEvent() | events.SequenceEndEvent():
                self._end()
            case events.AliasEvent():
                self._alias(event)
            case events.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise self._refuse("a file holds one document", _spot(event.start_mark))
            case _:
                pass

    @property
    def _is_name(self) -> bool:
        return bool(self._names) and self._names[-1]

    def _value_came(self) -> None:
        """In an object, a name comes next."""
        if isinstance(self._growing.inside, dict):
            self._names[-1] = True

    def _begin(self, container: Container, event: Any) -> None:
        spot = _spot(event.start_mark)
        if self._is_name:
            raise self._refuse("a name should be one word or line", spot)
        self._know_tag(event.tag, spot)
        marks = self._growing.begin(container, spot)
        if event.anchor:
            self._anchors[event.anchor] = (container, marks)
        self._names.append(isinstance(container, dict))
        self._merging.append(False)

    def _end(self) -> None:
        container, marks = self._growing.end()
        self._names.pop()
        is_merging = self._merging.pop()
        if is_merging and isinstance(container, dict) and isinstance(marks, FieldMarks):
            self._merge(container, marks)
        self._value_came()

    def _scalar(self, event: Any) -> None:
        spot = _spot(event.start_mark)
        is_plain = event.style is None or event.style == ""
        if self._is_name:
            self._growing.name(str(event.value), spot)
            self._names[-1] = False
            self._merging[-1] |= is_plain and event.value == _MERGE
            if event.anchor:
                self._anchors[event.anchor] = (event.value, spot)
            return
        self._know_tag(event.tag, spot)
        value = self._plain(event.value, spot) if is_plain and not event.tag else event.value
        self._growing.put(value, spot)
        if event.anchor:
            self._anchors[event.anchor] = (value, spot)
        self._value_came()

    def _plain(self, text: str, spot: Spot) -> object:
        if text in _PLAIN:
            return _PLAIN[text]
        try:
            if _WHOLE.fullmatch(text):
                return int(text)
            return float(text) if _BROKEN.fullmatch(text) else text
        except ValueError:
            raise self._refuse("the number is too long", spot) from None

    def _alias(self, event: Any) -> None:
        spot = _spot(event.start_mark)
        if event.anchor not in self._anchors:
            raise self._refuse(f"there is no anchor &{event.anchor} before", spot)
        value, marks = self._anchors[event.anchor]
        if self._growing.is_open(value):
            raise self._refuse(f"*{event.anchor} stands inside itself", spot)
        if self._is_name:
            if not isinstance(value, str):
                raise self._refuse("a name should be one word or line", spot)
            self._growing.name(value, spot)
            self._names[-1] = False
            return
        self._growing.put(value, marks)
        self._value_came()

    def _merge(self, container: Fields, marks: FieldMarks) -> None:
        """`<<` brings the fields of other objects; one's own win, then the first's."""
        brought, around = container.pop(_MERGE), marks.inside.pop(_MERGE)
        sources = cast("list[object]", brought) if isinstance(brought, list) else [brought]
        spots = around.inside if isinstance(around, ItemMarks) else [around]
        for source, spot in zip(sources, spots, strict=True):
            if not isinstance(source, dict) or not isinstance(spot, FieldMarks):
                raise self._refuse("<< should bring an object", marks.names[_MERGE])
            self._brought += len(cast("Fields", source))
            if self._brought > self._most_parts:
                raise too_many(self._most_parts, self._prefix)
            for name, value in cast("Fields", source).items():
                if name not in container:
                    container[name] = value
                    marks.inside[name] = spot.inside[name]

    def _know_tag(self, tag: str | None, spot: Spot) -> None:
        if tag not in _SAME:
            raise self._refuse(f"the tag {tag} is not known here", spot)


def _events(text: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()
