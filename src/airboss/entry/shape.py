"""The shape of an entry: types, kinds, fields. What the names in it mean is not known here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from airboss.entry.advice import of_shape, unknown_field
from airboss.entry.cage_part import Cage
from airboss.entry.document import (
    ONE_OF_THREE,
    ONE_OF_TWO,
    Agent,
    Alt,
    Availability,
    Command,
    Context,
    Criteria,
    DrivingRetry,
    Entry,
    FailureAction,
    GridCell,
    GridRow,
    Hook,
    Job,
    Limits,
    Loop,
    Model,
    NamedModel,
    Par,
    Ref,
    Section,
    Seq,
    Server,
    SystemMessage,
    Task,
    Tools,
)
from airboss.entry.part import OBJECT, TEXT, Part
from airboss.entry.violations import (
    EntryInvalid,
    Hints,
    Loc,
    Violation,
    asked,
    at,
    has_half,
    use,
    wrong,
)

# Far more than people write, and few enough for everything that walks an entry later.
MAX_DEPTH: Final = 200
MAX_PARTS: Final = 2_000_000
FLATTER: Final = "Split the job into several, or nest its works less deeply."

WORKS: Final[Mapping[str, type[Part]]] = {
    "Ref": Ref,
    "Seq": Seq,
    "Par": Par,
    "Loop": Loop,
    "Alt": Alt,
}
KINDS: Final = (
    "Ref runs a task, Seq its works one after the other, Par all at the same time, Loop again and "
    "again, Alt one or the other."
)
_RECORDS: Final[Mapping[str, type[Part]]] = {"tasks": Task, "jobs": Job, "models": NamedModel}
_PARTS: Final[Mapping[str, type[Part]]] = {
    "model": Model,
    "modelOverride": Model,
    "limits": Limits,
    "availability": Availability,
    "criteria": Criteria,
    "failureAction": FailureAction,
    "systemMessage": SystemMessage,
    "tools": Tools,
    "context": Context,
    "cage": Cage,
    "grid": GridRow,
    "drivingSessionRetries": DrivingRetry,
}
_REASONS: Final = {
    "missing": "Should exist.",
    "extra_forbidden": "There is no such field.",
    "union_tag_not_found": "Should exist.",
    "string_type": "Should be text.",
    "bool_type": "Should be true or false.",
    "int_type": "Should be a whole number.",
    "float_type": "Should be a number.",
    "finite_number": "Should be a number that JSON can write.",
    "tuple_type": "Should be a list.",
    "dict_type": "Should be an object.",
    "model_type": "Should be an object.",
    "model_attributes_type": "Should be an object.",
    "greater_than_equal": "Should be 0 or more.",
    "too_short": "should have at least one element.",
    "too_long": "Should have two elements: true or false, then a work.",
    ONE_OF_TWO: "Should have either category or id.",
}

# Said by pydantic, and in no file.
_NO_STEPS: Final = frozenset({"[key]", TEXT, OBJECT})

Parsed: TypeAlias = tuple[Entry | None, list[Violation]]


def read_shape(data: object, prefix: str, hints: Hints, *, has_null: bool) -> Parsed:
    """The typed entry, or all that is wrong with its shape."""
    found: list[Violation] = []
    entry: Entry | None = None
    try:
        entry = Entry.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=True)
        found = [_violation(fault, data, prefix, hints) for fault in faults]
    said = {violation.loc for violation in found}
    found += [
        wrong(at(loc, prefix), "Should not be null; leave it out.")
        for loc in (_nulls(data) if has_null else ())
        if loc not in said
    ]
    return (None, found) if found else (entry, [])


@dataclass
class Measured:
    """What a walk over the whole data saw."""

    has_null: bool = False
    is_plain: bool = True


class TooManyParts(Exception):
    """More than somebody wanted to look at, and not too many for an entry."""


def too_many(most: int, prefix: str) -> EntryInvalid | TooManyParts:
    if most < MAX_PARTS:
        return TooManyParts()
    advice = "Make it smaller, or write it with fewer aliases and `<<`."
    reason = f"Has more than {most:,} parts."
    return EntryInvalid([wrong(at((), prefix), reason, advice=advice)])


def measure(data: object, prefix: str, most_parts: int = MAX_PARTS) -> Measured:
    """Refuse what is too deep or too large to be walked, objects that hold themselves included."""
    seen = Measured(is_plain=type(data) is dict)
    waiting: list[tuple[object, Loc, int]] = [(data, (), 0)]
    count = 0
    while waiting:
        value, loc, depth = waiting.pop()
        if depth > MAX_DEPTH:
            reason = f"Is nested more than {MAX_DEPTH} levels deep."
            raise EntryInvalid([wrong(at(loc[:3], prefix), reason, advice=FLATTER)])
        if count > most_parts:
            raise too_many(most_parts, prefix)
        for step, part in parts_of(value):
            count += 1
            if has_half(part) or has_half(step):
                spot = (*loc, step) if len(loc) == depth else loc
                raise EntryInvalid([wrong(at(spot, prefix), _HALF)])
            kind = type(part)
            if kind is dict or kind is list or _holds(part):
                # Nobody reads two hundred steps.
                waiting.append((part, (*loc, step) if depth < _STEPS else loc, depth + 1))
                seen.is_plain &= kind is dict or kind is list
            elif part is None:
                seen.has_null |= not _is_row(loc) or depth != 3
            elif kind not in _PLAIN:
                seen.is_plain = False
    return seen


_STEPS: Final = 8
_HALF: Final = "Should have no halves of characters."
_PLAIN: Final = frozenset({str, int, float, bool})


def _holds(value: object) -> bool:
    return isinstance(value, dict | list | tuple | BaseModel)


def _is_row(loc: Loc) -> bool:
    return len(loc) == 3 and loc[0] == "grid" and loc[2] == "jobs"


def parts_of(value: object) -> Iterator[tuple[str | int, object]]:
    """What a value holds, by the steps that lead to it."""
    if isinstance(value, BaseModel):
        yield from value
    elif isinstance(value, dict):
        for key, part in cast("dict[object, object]", value).items():
            yield str(key), part
    elif isinstance(value, list | tuple):
        yield from enumerate(cast("Sequence[object]", value))


def plain_data(value: object) -> object:
    """As JSON has it. Parts may stand inside plain objects, and the other way round."""
    if isinstance(value, Part):
        return value.to_wire()
    if isinstance(value, dict):
        return {key: plain_data(part) for key, part in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [plain_data(part) for part in cast("Sequence[object]", value)]
    return value


def _nulls(data: object) -> Iterator[Loc]:
    """Where null stands, but for the empty cells of the grid."""
    waiting: list[tuple[object, Loc]] = [(data, ())]
    while waiting:
        value, loc = waiting.pop()
        is_row = _is_row(loc)
        inside: list[tuple[object, Loc]] = []
        for step, part in parts_of(value):
            if part is None and not is_row:
                yield (*loc, step)
            elif _holds(part):
                inside.append((part, (*loc, step)))
        waiting += reversed(inside)


def _violation(fault: ErrorDetails, data: object, prefix: str, hints: Hints) -> Violation:
    kind, loc = fault["type"], _steps(fault["loc"], data)
    if kind == "union_tag_invalid":
        return _unknown_kind((*loc, "kind"), fault["input"], prefix, hints)
    if kind == "union_tag_not_found":
        loc = (*loc, "kind")
    said = wrong(at(loc, prefix), _reason(fault))
    if kind != "extra_forbidden":
        fix = of_shape(kind, loc, fault["input"], hints.writing)
        return replace(said, advice=fix.advice, example=fix.example, remedy=fix.remedy)
    owner = _owner(fault["loc"], loc)
    known = (field.alias or "" for field in owner.model_fields.values())
    near = hints.nearest(str(loc[-1]), known)
    remedy = use(near, "name") if near is not None else None
    advice = unknown_field(owner)
    return replace(said, hint=asked(near), of_name=True, advice=advice, remedy=remedy)


def _reason(fault: ErrorDetails) -> str:
    if fault["type"] == "literal_error":
        choices = str(fault.get("ctx", {}).get("expected", "")).replace("'", '"')
        return f"Should be {choices}."
    if fault["type"] == ONE_OF_THREE:
        return fault["msg"]
    return _REASONS.get(fault["type"], f"{fault['msg'].replace('Input should', 'Should')}.")


def _unknown_kind(loc: Loc, work: object, prefix: str, hints: Hints) -> Violation:
    kind = cast("Mapping[str, object]", work).get("kind") if isinstance(work, Mapping) else None
    if not isinstance(kind, str):
        fix = of_shape("union_tag_not_found", loc, kind, hints.writing)
        return wrong(at(loc, prefix), "Should be text.", None, KINDS, fix.example)
    reason = f'"{kind}" is not a kind of work: {", ".join(WORKS)}.'
    near = hints.nearest(kind, WORKS)
    remedy = use(near) if near is not None else None
    return wrong(at(loc, prefix), reason, asked(near), KINDS, remedy=remedy)


def _steps(loc: tuple[int | str, ...], data: object) -> Loc:
    """The steps in the file: pydantic also names the kind of each work on the way."""
    steps: list[int | str] = []
    here: object = data
    for step in loc:
        has = cast("dict[object, object]", here) if isinstance(here, dict) else {}
        if step in _NO_STEPS or (step in WORKS and step not in has and has.get("kind") == step):
            continue
        steps.append(step)
        if isinstance(here, list | tuple) and isinstance(step, int):
            row = cast("Sequence[object]", here)
            here = row[step] if step < len(row) else None
        else:
            here = has.get(step)
    return tuple(steps)


def _owner(said: tuple[int | str, ...], loc: Loc) -> type[Part]:
    """The part that an unknown field stands in."""
    parent = loc[:-1]
    names = [step for step in parent if isinstance(step, str)]
    tag = said[-2] if len(said) > 1 else None
    if isinstance(tag, str) and tag in WORKS and parent[-1] != tag:
        return WORKS[tag]
    if not names:
        return Entry
    if len(parent) == 2 and names[0] in _RECORDS:
        return _RECORDS[names[0]]
    if names[-2:-1] == ["sections"]:
        return Section
    if names[-2:-1] == ["agents"]:
        return Agent
    if names[-2:-1] == ["mcpServers"]:
        return Server
    if names[-2:-1] == ["commands"]:
        return Command
    if names[-2:-1] == ["hooks"]:
        return Hook
    if names[0] == "grid" and len(parent) > 2:
        return GridCell
    return _PARTS.get(names[-1], Part)
