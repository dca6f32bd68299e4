"""The lines around each mistake, with the place marked. Which lines there are, the file says."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from airboss.entry.violations import (
    SourceLine,
    Violation,
    Writing,
    in_order_of_text,
    without_halves,
)

# Nobody reads more at once; the others keep their line and their words.
MOST_EXCERPTS: Final = 50
LINES_AROUND: Final = 2
LONGEST_LINE: Final = 160
_BEFORE_MARK: Final = 100
_CUT: Final = "…"

# Where a line ends: each reader counts by its own rule.
_BREAKS: Final[dict[Writing, re.Pattern[str]]] = {
    "yaml": re.compile("\r\n|[\n\r\x85\u2028\u2029]"),
    "json": re.compile("\r?\n"),
    "python": re.compile("\r\n|[\n\r]"),
}
_QUOTED: Final = re.compile(r""""(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?""")
_NAME: Final = re.compile(r"[^\s:,\[\]{}#]+(?=:(?:\s|$))")
_WORD: Final = re.compile(r"[^\s,\[\]{}#]+(?:(?<!:) +[^\s,\[\]{}#]+)*")


def with_excerpts(
    violations: Iterable[Violation],
    text: str,
    writing: Writing,
    clean: Callable[[str], str] = str,
) -> tuple[Violation, ...]:
    """Those that come first in the text with the lines around. `clean` takes secrets out, and
    keeps the ends of lines."""
    told = tuple(violations)
    first = {id(said) for said in in_order_of_text(told)[:MOST_EXCERPTS] if said.line is not None}
    if not first:
        return told
    written = _BREAKS[writing].split(text)
    lines = _BREAKS[writing].split(clean(text))
    if len(lines) != len(written):
        return told  # better none than those of another place
    return tuple(
        replace(said, excerpt=_around(said, written, lines)) if id(said) in first else said
        for said in told
    )


def _around(
    said: Violation, written: Sequence[str], lines: Sequence[str]
) -> tuple[SourceLine, ...]:
    here = min(said.line or 1, len(lines))
    first, last = max(1, here - LINES_AROUND), min(len(lines), here + LINES_AROUND)
    return tuple(
        _marked(said, number, lines[number - 1], is_whole=lines[here - 1] == written[here - 1])
        if number == here
        else SourceLine(number, _cut(lines[number - 1]))
        for number in range(first, last + 1)
        if number == here or lines[number - 1].strip()
    )


def _marked(said: Violation, number: int, line: str, *, is_whole: bool) -> SourceLine:
    column = said.column
    if column is None or said.is_around or not is_whole:
        return SourceLine(number, _cut(line, column or 1))
    begin, end = _span(line, min(column - 1, len(line)))
    start = max(0, begin - _BEFORE_MARK)
    stop = start + LONGEST_LINE
    before = (_CUT if start else "") + line[start:begin]
    marked = line[begin : min(end, stop)] + (_CUT if end > stop else "")
    after = line[end:stop] + (_CUT if end <= stop < len(line) else "")
    return SourceLine(number, *map(without_halves, (before, marked, after)))


def _span(line: str, begin: int) -> tuple[int, int]:
    """Of what stands there: a text in quotes, a plain one, or one sign."""
    begin += len(line[begin:]) - len(line[begin:].lstrip())
    for look in (_QUOTED, _NAME, _WORD):
        if hit := look.match(line, begin):
            return begin, hit.end()
    return begin, min(begin + 1, len(line))


def _cut(line: str, column: int = 1) -> str:
    start = max(0, column - 1 - _BEFORE_MARK)
    head = _CUT if start else ""
    tail = _CUT if len(line) > start + LONGEST_LINE else ""
    return without_halves(f"{head}{line[start : start + LONGEST_LINE]}{tail}")
