"""Entries from files: JSON, YAML, and Python where a person trusts it."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss import strange_files
from airboss.entry.document import Entry
from airboss.entry.excerpts import with_excerpts
from airboss.entry.json_text import parse_json, quick_json
from airboss.entry.python_file import run_python
from airboss.entry.shape import MAX_PARTS
from airboss.entry.source import Source
from airboss.entry.validate import Checked, check_entry
from airboss.entry.violations import (
    EntryInvalid,
    EntryUnparsed,
    EntryUnreadable,
    Writing,
)
from airboss.entry.yaml_text import parse_yaml
from airboss.tuning import unsearched

Format: TypeAlias = Literal["json", "yaml"]

MAX_BYTES: Final = 8 * 1024 * 1024
_FORMATS: Final[Mapping[str, Format]] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}


def load_entry(path: Path, *, trusted: bool = False, prefix: str = "") -> Entry:
    """The finished entry of a file; else an error that knows every violation and its place."""
    checked = check_file(path, trusted=trusted, prefix=prefix)
    if checked.entry is None:
        raise EntryInvalid(checked.violations)
    return checked.entry


def check_file(path: Path, *, trusted: bool = False, prefix: str = "") -> Checked:
    """Every violation in a file, with line and column where it is JSON or YAML.

    Python is a program: it runs, in a process of its own, only when `trusted` says so.
    """
    suffix = path.suffix.lower()
    if suffix in _FORMATS:
        return check_content(path, read_content(path), prefix)
    if suffix != ".py":
        raise EntryUnreadable(f"{path}: should be a .yaml, .json or .py file.")
    if not trusted:
        raise EntryUnreadable(
            f"{path}: is a Python program, and runs only after a person has trusted it."
        )
    text = decoded(path, read_content(path))  # the same words for what cannot be read
    with _excerpts_of(text, "python"):
        return check_entry(run_python(path, prefix), prefix, writing="python")


def check_content(path: Path, content: bytes, prefix: str = "") -> Checked:
    """The same for what was read from a JSON or YAML file."""
    text, form = decoded(path, content), format_of(path, content)
    with _excerpts_of(text, form):
        checked = check_text(text, form, prefix)
    return Checked(checked.entry, with_excerpts(checked.violations, text, form))


@contextmanager
def _excerpts_of(text: str, writing: Writing) -> Generator[None]:
    """What cannot be read at all has its lines too."""
    try:
        yield
    except EntryInvalid as error:
        raise type(error)(with_excerpts(error.violations, text, writing)) from None


def writing_of(path: Path) -> Writing:
    return _FORMATS.get(path.suffix.lower(), "python")


def format_of(path: Path, content: bytes) -> Format:
    """The format that a file's name says, if what was read from it can be text at all."""
    if path.suffix.lower() not in _FORMATS:
        raise EntryUnreadable(f"{path}: should be a .yaml, .json or .py file.")
    decoded(path, content)
    return _FORMATS[path.suffix.lower()]


def check_text(
    text: str, form: Format, prefix: str = "", *, most_parts: int = MAX_PARTS
) -> Checked:
    """Every violation in a text, with line and column; no JSON or YAML is an error at once.

    Where somebody wants to look at fewer parts than there may be, more are TooManyParts.
    """
    with unsearched():
        return look_through(text, form, prefix, most_parts).checked


@dataclass(frozen=True)
class LookedThrough:
    """What a text holds, what is wrong with it, and where its parts are. A text without mistakes
    has no places: nobody asks for them. What is nested too deeply has no data either."""

    checked: Checked
    data: object = None
    source: Source | None = None


def look_through(text: str, form: Format, prefix: str, most_parts: int) -> LookedThrough:
    quick = quick_json(text) if form == "json" else None
    if quick:
        checked = check_entry(quick[0], prefix, most_parts=most_parts, writing=form)
        if checked.entry:
            return LookedThrough(checked, quick[0])
    try:
        is_json = form == "json"
        source = parse_json(text, prefix) if is_json else parse_yaml(text, prefix, most_parts)
    except EntryUnparsed:
        raise
    except EntryInvalid as too_deep:
        return LookedThrough(Checked(None, too_deep.violations))
    checked = check_entry(source.data, prefix, most_parts=most_parts, writing=form)
    violations = (*source.faults, *(source.placed(said) for said in checked.violations))
    checked = Checked(None if violations else checked.entry, violations)
    return LookedThrough(checked, source.data, source)


def read_content(path: Path) -> bytes:
    """What a file holds. It never waits: from what is no file, such as a pipe, nobody reads."""
    try:
        return strange_files.read(path, MAX_BYTES)
    except strange_files.NotAFile as error:
        raise EntryUnreadable(f"{path}: is not a file.") from error
    except strange_files.FileTooLarge as error:
        raise EntryUnreadable(
            f"{path}: is larger than {MAX_BYTES >> 20} MiB, and an entry is not. Split it, or let "
            "its prompts name files that the agents read."
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EntryUnreadable(f"{path}: cannot be read: {reason}.") from error


def decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EntryUnreadable(f"{path}: is not UTF-8 text: byte {error.start}.") from error
