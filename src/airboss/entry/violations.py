"""What is wrong with an entry: the place, as JavaScript writes it, and the reason."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias

from airboss.errors import Invalid

Loc: TypeAlias = tuple[str | int, ...]
# How the reader writes: an example has to be right where it is put.
Writing: TypeAlias = Literal["yaml", "json", "python"]

ROOT: Final = "entry"
# Parts whose fields are named by people: `entry.tasks["design"]`, not `entry.tasks.design`.
_RECORDS: Final = frozenset({"models", "promptVariables", "tasks", "jobs"})
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")


def without_halves(text: str) -> str:
    """Without halves of characters, which no disk and no wire takes."""
    return text if text.isascii() else _HALF_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)


def has_half(value: object) -> bool:
    return isinstance(value, str) and not value.isascii() and bool(_HALF_CHARACTER.search(value))


def quoted(name: str) -> str:
    """In double quotes, as JavaScript writes it."""
    return json.dumps(name, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class At:
    """A place in an entry: how it is called, and the steps that lead to it in the file."""

    where: str = ROOT
    loc: Loc = ()

    def field(self, name: str) -> "At":
        return At(f"{self.where}.{name}", (*self.loc, name))

    def key(self, name: str) -> "At":
        return At(f"{self.where}[{quoted(name)}]", (*self.loc, name))

    def item(self, index: int) -> "At":
        return At(f"{self.where}[{index}]", (*self.loc, index))

    def from_file(self, loc: Loc) -> "At":
        """The same name for what stands elsewhere in the file."""
        return At(self.where, loc)


def at(loc: Iterable[str | int], prefix: str = "") -> At:
    """The place that these steps lead to."""
    place = At(prefix + ROOT)
    for step in loc:
        if isinstance(step, int):
            place = place.item(step)
        elif place.loc == ("models",) and step == "driving":
            place = place.field(step)
        elif (len(place.loc) == 1 and place.loc[0] in _RECORDS) or not _IDENTIFIER.fullmatch(step):
            place = place.key(step)
        else:
            place = place.field(step)
    return place


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the file near a mistake, in three parts where something on it is marked."""

    line: int
    before: str
    marked: str = ""
    after: str = ""

    def to_wire(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("line", "before", "marked", "after")}


@dataclass(frozen=True, slots=True)
class Remedy:
    """What an editor can do about a mistake with one click. `value` is written in the place of the
    value that is wrong, of the field's name, or of a variable; or it is added as a field."""

    title: str
    value: object
    how: Literal["value", "name", "variable", "add"] = "value"
    # What is replaced, where that is not the place of the mistake; of a variable its name.
    loc: Loc = ()
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """The same as a change of the text. Lines and columns count from 1, columns in characters; the
    end is behind the last one that is replaced."""

    title: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Violation:
    """One mistake. As text it is exactly `{where}: {reason}`."""

    where: str
    reason: str
    loc: Loc = ()
    hint: str | None = None
    line: int | None = None
    column: int | None = None
    # The name of the field is wrong, not what it holds.
    of_name: bool = False
    # What to write instead, in words and as one writes it.
    advice: str | None = None
    example: str | None = None
    # The place is that of the nearest thing around it: what is wrong is that it is missing.
    is_around: bool = False
    excerpt: tuple[SourceLine, ...] = ()
    # For editors; nobody is told in words.
    remedy: Remedy | None = None
    repairs: tuple[Repair, ...] = ()

    def __str__(self) -> str:
        return without_halves(f"{self.where}: {self.reason}")

    def placed(self, line: int, column: int) -> "Violation":
        return replace(self, line=line, column=column)

    def to_wire(self) -> dict[str, Any]:
        said = {
            "where": without_halves(self.where),
            "reason": without_halves(self.reason),
            "hint": without_halves(self.hint) if self.hint else None,
            "line": self.line,
            "column": self.column,
            "advice": without_halves(self.advice) if self.advice else None,
            "example": without_halves(self.example) if self.example else None,
            "is_around": self.is_around or None,
            "excerpt": [line.to_wire() for line in self.excerpt] or None,
        }
        return {name: value for name, value in said.items() if value is not None}


def wrong(
    place: At,
    reason: str,
    hint: str | None = None,
    advice: str | None = None,
    example: str | None = None,
    remedy: Remedy | None = None,
) -> Violation:
    return Violation(
        place.where, reason, place.loc, hint, advice=advice, example=example, remedy=remedy
    )


def use(name: str, how: Literal["value", "name"] = "value") -> Remedy:
    """A name that is nearly the one that somebody wrote."""
    return Remedy(f"Use {name}", name, how)


def in_order_of_text(violations: Iterable[Violation]) -> list[Violation]:
    return sorted(violations, key=lambda said: (said.line or 0, said.column or 0))


class EntryInvalid(Invalid):
    """An entry that cannot be used. Its text is the first violation; it may know all."""

    code = "entry_invalid"

    def __init__(self, violations: Iterable[Violation]) -> None:
        self.violations = tuple(violations)
        super().__init__(str(self.violations[0]))


class EntryUnparsed(EntryInvalid):
    """The text is no JSON, no YAML or no Python program that gives an entry."""

    code = "entry_unparsed"


class EntryUnreadable(Invalid):
    """The file cannot be read, or may not be run."""

    code = "entry_unreadable"


_MOST_HINTS: Final = 100


@dataclass
class Hints:
    """Names that are nearly right. Looking for them costs, so there is an end to it."""

    left: int = field(default=_MOST_HINTS)
    writing: Writing = "yaml"

    def nearest(self, name: str, names: Iterable[str]) -> str | None:
        if not self.left or len(name) > 200:
            return None
        self.left -= 1
        # Cheap and rough before good and slow: an entry may have ten thousand tasks.
        letters = set(name.lower())
        rough = [
            other
            for other in names
            if abs(len(other) - len(name)) <= 3 and len(letters ^ set(other.lower())) <= 5
        ]
        same = [other for other in rough if other.lower() == name.lower()]
        return next(iter(same or get_close_matches(name, rough, 1, 0.6)), None)


def asked(near: str | None, sign: str = "") -> str | None:
    """A question that offers the nearest name; names of variables have their `$`."""
    if near is None:
        return None
    return f"Did you mean {f'{sign}{near}' if sign else quoted(near)}?"
