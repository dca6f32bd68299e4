"""Repairs of an entry's text that an editor makes with one click: a near name, another type, a
field that is missing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from airboss.entry.advice import pair, shown
from airboss.entry.load import Format
from airboss.entry.source import FieldMarks, ItemMarks, Marks, Source
from airboss.entry.tokens import Lines, Position, Token, Tokens, tokens_at
from airboss.entry.violations import (
    Loc,
    Remedy,
    Repair,
    Violation,
    in_order_of_text,
)

# Nobody clicks on more at once; the others have theirs when these are done.
MOST_REPAIRED: Final = 100
_FAR: Final = 64 * 1024


def with_repairs(
    violations: Sequence[Violation], text: str, form: Format, source: Source
) -> tuple[Violation, ...]:
    """In the order of the text, the first of them with what repairs them."""
    told = in_order_of_text(violations)
    chosen = [said for said in told if said.remedy][:MOST_REPAIRED]
    if not chosen:
        return tuple(told)
    workshop = _Workshop(text, form, source)
    made = workshop.repairs(chosen)
    return tuple(replace(said, repairs=made.get(id(said), ())) for said in told)


@dataclass(frozen=True)
class _Workshop:
    text: str
    form: Format
    source: Source

    def repairs(self, violations: Sequence[Violation]) -> dict[int, tuple[Repair, ...]]:
        lines = Lines(self.text, self.form)
        places = {id(said): self._place(said) for said in violations}
        wanted = {place for place in places.values() if place}
        tokens = tokens_at(self.text, self.form, wanted, lines)
        made: dict[int, tuple[Repair, ...]] = {}
        for said in violations:
            place, remedy = places[id(said)], said.remedy
            if place and remedy and (repair := self._repair(said, remedy, place, tokens, lines)):
                made[id(said)] = (repair,)
        return made

    def _place(self, said: Violation) -> Position | None:
        """Where the word begins that is replaced, or the object that gets a field."""
        remedy = said.remedy
        if remedy and remedy.loc:
            return self._of_name(remedy.loc)
        if said.line is None or said.column is None:
            return None
        is_added = remedy is not None and remedy.how == "add"
        return (said.line, said.column) if said.is_around == is_added else None

    def _of_name(self, loc: Loc) -> Position | None:
        marks: Marks | None = self.source.marks
        for step in loc[:-1]:
            marks = _inside(marks, step)
        if not isinstance(marks, FieldMarks) or loc[-1] not in marks.names:
            return None
        return self.source.position(marks.names[str(loc[-1])])

    def _repair(
        self, said: Violation, remedy: Remedy, place: Position, tokens: Tokens, lines: Lines
    ) -> Repair | None:
        loc = remedy.loc or said.loc
        if remedy.how == "add":
            token = tokens.objects.get(place)
            return self._added(remedy, loc, place, token, lines) if token else None
        if remedy.how == "variable":
            return self._variable(remedy, place, lines)
        word = tokens.words.get(place)
        if word is None:
            return None
        if remedy.how == "name":
            others = _value_at(self.source.data, loc[:-1])
            is_there = isinstance(others, Mapping) and remedy.value in others
            if word.value != str(loc[-1]) or is_there:
                return None
        new = shown(remedy.value, self.form)
        return _change(remedy.title, word.begin, word.end, new, lines)

    def _variable(self, remedy: Remedy, place: Position, lines: Lines) -> Repair | None:
        """The first from the line on that it stands in."""
        begin = lines.offset(place)
        name = re.compile(rf"\${re.escape(remedy.variable)}(?![A-Za-z]|-[A-Za-z])")
        hit = name.search(self.text, begin, min(begin + _FAR, len(self.text)))
        if hit is None:
            return None
        return _change(remedy.title, hit.start(), hit.end(), f"${remedy.value}", lines)

    def _added(
        self, remedy: Remedy, loc: Loc, place: Position, token: Token, lines: Lines
    ) -> Repair | None:
        parent = _value_at(self.source.data, loc[:-1])
        if not isinstance(parent, Mapping):
            return None
        new = pair(str(loc[-1]), remedy.value, self.form)
        if token.is_flow:
            at, text = token.end, f"{new}, " if parent else new
        elif len(loc) == 1 and place[1] == 1:  # a section stands behind the others
            at = len(self.text.rstrip())
            text = f"\n\n{new}"
        else:
            at, text = token.begin, f"{new}\n{' ' * (place[1] - 1)}"
        return _change(remedy.title, at, at, text, lines)


def _change(title: str, begin: int, end: int, text: str, lines: Lines) -> Repair:
    return Repair(title, *lines.position(begin), *lines.position(end), text)


def _inside(marks: Marks | None, step: str | int) -> Marks | None:
    if isinstance(marks, FieldMarks):
        return marks.inside.get(step)
    if isinstance(marks, ItemMarks) and isinstance(step, int) and step < len(marks.inside):
        return marks.inside[step]
    return None


def _value_at(data: object, loc: Loc) -> object:
    for step in loc:
        if isinstance(data, Mapping):
            data = cast("Mapping[object, object]", data).get(step)
        elif isinstance(data, list) and isinstance(step, int):
            items = cast("list[object]", data)
            data = items[step] if step < len(items) else None
        else:
            return None
    return data
