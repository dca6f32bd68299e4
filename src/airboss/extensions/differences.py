"""What has changed in an extension since it was trusted, as text for a person."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.extensions.content import Content, Unusable, read

# More is not read by anybody, and would slow down the page.
MOST_SHOWN: Final = 256 * 1024
# To compare takes longer than to read.
_MOST_COMPARED: Final = 2 * MOST_SHOWN
_LEFT_OUT: Final = "… the rest is left out: it is too long to be shown.\n"


@dataclass(frozen=True)
class ShownFile:
    """A file for a person to read. `text` is None for what is no text, or too long."""

    path: str
    bytes: int
    text: str | None


@dataclass(frozen=True)
class Difference:
    """A unified diff. `left_out` names the files whose new content it does not show whole."""

    text: str
    left_out: tuple[str, ...] = ()


def shown_files(content: Content) -> tuple[ShownFile, ...]:
    """All of them, the main file first. Together no more text than somebody reads."""
    left = MOST_SHOWN
    found: list[ShownFile] = []
    for path, said in sorted(content.files, key=lambda one: _by_weight(one[0])):
        text = _text(said) if len(said) <= left else None
        left -= len(said) if text is not None else 0
        found.append(ShownFile(path, len(said), text))
    return tuple(found)


def difference_of(old: Content, new: Content) -> Difference:
    """What is new against what was trusted, the main file first."""
    before, after = dict(old.files), dict(new.files)
    paths = [path for path in {*before, *after} if before.get(path) != after.get(path)]
    parts: list[str] = []
    left_out: list[str] = []
    left, compared = MOST_SHOWN, 0
    for path in sorted(paths, key=_by_weight):
        was, now = before.get(path), after.get(path)
        compared += len(was or b"") + len(now or b"")
        if left >= 0:
            for line in _lines(path, was, now, is_long=compared > _MOST_COMPARED):
                left -= len(line)
                if left < 0:
                    break
                parts.append(line)
        is_shown = left >= 0 and compared <= _MOST_COMPARED and _text(now or b"") is not None
        if now is not None and not is_shown:
            left_out.append(path)
    return Difference("".join((*parts, *([_LEFT_OUT] if left < 0 else []))), tuple(left_out))


def content_of(copy: Path | None) -> Content | None:
    """What was trusted; None where nothing was, or its copy is gone. Blocking."""
    try:
        return read(copy) if copy else None
    except Unusable:
        return None


def _by_weight(path: str) -> tuple[bool, int, str]:
    """The main file first, then those beside it."""
    return not path.startswith("extension."), path.count("/"), path


def _lines(path: str, was: bytes | None, now: bytes | None, *, is_long: bool) -> Iterator[str]:
    names = "/dev/null" if was is None else f"a/{path}", "/dev/null" if now is None else f"b/{path}"
    texts = [None if is_long else _text(said or b"") for said in (was, now)]
    old, new = texts
    if old is None or new is None:
        why = "is too long to be compared" if is_long else "is no text"
        yield f"--- {names[0]}\n+++ {names[1]}\n"
        yield f"This file {why}: {_sized(was)} before, {_sized(now)} now.\n"
        return
    before, after = (said.splitlines(keepends=True) for said in (old, new))
    for line in difflib.unified_diff(before, after, *names):
        yield line if line.endswith("\n") else f"{line}\n"


def _text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _sized(content: bytes | None) -> str:
    return "nothing" if content is None else f"{len(content):,} bytes"
