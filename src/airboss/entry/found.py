"""What there is in an entry's text: the finished entry, or what is wrong. It also goes over a pipe,
part by part, so that whoever takes it up never holds still for the whole of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from airboss.entry.document import Entry, Job, Task
from airboss.entry.load import Format, check_text
from airboss.entry.python_file import entry_of_output
from airboss.entry.shape import MAX_PARTS
from airboss.entry.validate import check_entry
from airboss.entry.violations import (
    ROOT,
    EntryInvalid,
    EntryUnparsed,
    Violation,
    in_order_of_text,
)

# `request` is the body that installs an entry, `program` what a Python entry wrote, and `stored` a
# finished entry as the server keeps it.
Form: TypeAlias = Format | Literal["request", "program", "stored"]

MOST_VIOLATIONS: Final = 1000
_PARTS: Final = {"tasks": Task, "jobs": Job}


@dataclass(frozen=True)
class FoundViolations:
    """Of very many violations the first in the text; `mistakes` counts all, and `first` is the
    first by the rules. What is no text of its form at all `is_unparsed`."""

    entry: Entry | None
    violations: tuple[Violation, ...] = ()
    mistakes: int = 0
    first: str = ""
    is_unparsed: bool = False


def find(
    content: bytes, form: Form, most_parts: int = MAX_PARTS, code: int | None = None
) -> FoundViolations:
    """Of what has more parts than that nothing is known: TooManyParts. `code` is a program's."""
    try:
        if form == "stored":
            return FoundViolations(Entry.model_validate_json(content))
        if form == "program":
            given = entry_of_output(content, code)
            checked = check_entry(given, most_parts=most_parts, writing="python")
        elif form == "request":
            checked = check_entry(_requested(content), most_parts=most_parts, writing="json")
        else:
            text = content.decode("utf-8-sig", "surrogatepass")
            checked = check_text(text, form, most_parts=most_parts)
    except EntryInvalid as error:
        return _refused(error.violations, is_unparsed=isinstance(error, EntryUnparsed))
    return FoundViolations(checked.entry) if checked.entry else _refused(checked.violations)


def _requested(content: bytes) -> object:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise EntryUnparsed([Violation(ROOT, "The request is not JSON.")]) from None
    if not isinstance(data, dict) or list(cast("dict[str, object]", data)) != ["entry"]:
        raise EntryUnparsed([Violation(ROOT, "The request should have `entry`, and no more.")])
    return cast("dict[str, object]", data)["entry"]


def _refused(violations: tuple[Violation, ...], *, is_unparsed: bool = False) -> FoundViolations:
    said = tuple(in_order_of_text(violations)[:MOST_VIOLATIONS])
    return FoundViolations(None, said, len(violations), str(violations[0]), is_unparsed)


# Over a pipe: a line for what is short, then two for each task and each job.


def written(found: FoundViolations) -> Iterator[bytes]:
    if found.entry is None:
        yield _line(
            {
                "violations": [said.to_wire() for said in found.violations],
                "mistakes": found.mistakes,
                "first": found.first,
                "is_unparsed": found.is_unparsed,
            }
        )
        return
    yield _line({"entry": found.entry.model_copy(update={"tasks": {}, "jobs": {}}).to_wire()})
    for field in _PARTS:
        parts = cast("dict[str, Task | Job]", getattr(found.entry, field))
        yield _line(len(parts))
        for name, part in parts.items():
            yield _line(name)
            yield part.model_dump_json(exclude_none=True).encode() + b"\n"


def taken_up(output: bytes) -> FoundViolations:
    """What was written; an error for what ends too early."""
    lines = iter(output.split(b"\n"))
    head = cast("dict[str, Any]", json.loads(next(lines)))
    if "entry" not in head:
        violations = tuple(Violation(**said) for said in head.pop("violations"))
        return FoundViolations(None, violations, **head)
    parts = {
        field: {
            str(json.loads(next(lines))): kind.model_validate_json(next(lines))
            for _ in range(json.loads(next(lines)))
        }
        for field, kind in _PARTS.items()
    }
    entry = Entry.model_validate(head["entry"]).model_copy(update=parts)
    return FoundViolations(entry)


def _line(said: object) -> bytes:
    return json.dumps(said).encode() + b"\n"
