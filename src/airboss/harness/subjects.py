"""What an approval is about, as a person is shown it: all of it, each part once. What is longer
than a person is shown is refused here, before anybody is asked."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from airboss.errors import TooLarge
from airboss.model.excerpt import length_of
from airboss.model.inbox_events import ApprovalAsked, Subject
from airboss.model.redaction import Redactor
from airboss.runtime.frames import TOO_LARGE, has_gap
from airboss.runtime.permission import PermissionRequest

# Command, change, path, address and arguments together, in bytes as UTF-8.
MOST_BYTES: Final = 1024 * 1024
# A shorter text may stand twice: as the command, and among all that was said of it.
_SHORT: Final = 1000
_MOST_PARTS: Final = 100
# Where earlier versions cut each part, without a mark.
_ONCE_CUT_AT: Final = 64_000


def subject_of(request: PermissionRequest, redactor: Redactor) -> Subject:
    """Raises `TooLarge` where it is more than a person is shown."""

    def clean(text: str | None) -> str | None:
        return None if text is None else redactor.text(text)

    diff = _diff(request.raw)
    said = _each_once(dict(request.raw), request.command, diff)
    if has_gap([request.command, diff, said]):  # some of it was never read: nobody can see it
        raise TooLarge(TOO_LARGE)
    subject = Subject(
        command=clean(request.command),
        diff=clean(diff),
        path=clean(request.paths[0] if request.paths else None),
        address=clean(request.url),
        arguments=redactor.text(json.dumps(said, ensure_ascii=False, sort_keys=True, default=str)),
    )
    size = sum(len(part.encode()) for part in _parts(subject))
    if size > MOST_BYTES:
        raise TooLarge(
            f"Nobody was asked: the request has {size:,} bytes, and a person can review at most "
            f"{MOST_BYTES:,}. Do it in smaller parts."
        )
    return subject


def was_cut(asked: ApprovalAsked) -> bool:
    """By an earlier version, so that nobody can see all of it."""
    return any(len(part) == _ONCE_CUT_AT for part in _parts(asked.subject))


def _parts(subject: Subject) -> list[str]:
    parts = (subject.command, subject.diff, subject.path, subject.address, subject.arguments)
    return [part for part in parts if part is not None]


def _diff(raw: Mapping[str, Any]) -> str | None:
    """What changes; where the runtime gives no diff, all of the new file."""
    diff, new = raw.get("diff"), raw.get("newFileContents")
    if isinstance(diff, str) and diff.strip():
        return diff
    if isinstance(new, str) and new:
        return new if has_gap(new) else "".join(f"+{line}\n" for line in new.split("\n"))
    return diff if isinstance(diff, str) else None


def _each_once(raw: dict[str, Any], command: str | None, diff: str | None) -> dict[str, Any]:
    """All that was said, without the long texts that are shown beside it."""

    def other(text: str) -> str:
        if len(text) <= _SHORT:
            return text
        if command is not None and text in command:
            return _left_out(text, "part of the command")
        return _left_out(text, "the diff") if text == diff else text

    if command is not None:
        raw = {name: _without_parts(name, value) for name, value in raw.items()}
    said = cast("dict[str, Any]", _each_text(raw, other))
    if diff is not None:
        said = {name: _without_files(name, value) for name, value in said.items()}
    return said


def _without_parts(name: str, value: object) -> object:
    """The runtime takes a command apart: of a long one that is many times its length."""
    if name not in ("commands", "commandSegments") or not isinstance(value, list):
        return value
    parts = cast("list[object]", value)
    return parts if len(parts) <= _MOST_PARTS else f"({len(parts):,} parts of the command)"


def _without_files(name: str, value: object) -> object:
    """A change repeats its file, before and after; the diff has what differs."""

    def left_out(text: str) -> str:
        return text if length_of(text) <= _SHORT else _left_out(text, "a whole file, see the diff")

    return _each_text(value, left_out) if name in ("newFileContents", "fileEdits") else value


def _left_out(text: str, what: str) -> str:
    return f"({what}: {length_of(text):,} characters)"


def _each_text(value: object, change: Callable[[str], str]) -> object:
    match value:
        case str():
            return change(value)
        case Mapping():
            items = cast("Mapping[str, object]", value).items()
            return {name: _each_text(part, change) for name, part in items}
        case list() | tuple():
            return [_each_text(part, change) for part in cast("list[object]", value)]
        case _:
            return value
