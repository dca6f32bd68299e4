"""The lines around each mistake, with the place marked. Of a huge file only those are looked at."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from airboss.entry.violations import (
    SourceLine,
    Violation,
    Writing,
    in_order_of_text,
    without_halves,
)
from airboss.model.excerpt import EDGE
from airboss.model.redaction import MASK

# Nobody reads more at once; the others keep their line and their words.
MOST_EXCERPTS: Final = 50
LINES_AROUND: Final = 2
LONGEST_LINE: Final = 160
_BEFORE_MARK: Final = 100
_CUT: Final = "…"
_PIECE: Final = 64 * 1024

# Where a line ends: each reader counts by its own rule.
BREAKS: Final[dict[Writing, re.Pattern[str]]] = {
    "yaml": re.compile("\r\n|[\n\r\x85\u2028\u2029]"),
    "json": re.compile("\r?\n"),
    "python": re.compile("\r\n|[\n\r]"),
}
_QUOTED: Final = re.compile(r""""(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?""")
_NAME: Final = re.compile(r"[^\s:,\[\]{}#]+(?=:(?:\s|$))")
_WORD: Final = re.compile(r"[^\s,\[\]{}#]+(?:(?<!:) +[^\s,\[\]{}#]+)*")

# Where secrets are in a text.
Secrets: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]


class _Span(NamedTuple):
    begin: int
    end: int


def _no_secrets(_text: str) -> Iterable[tuple[int, int]]:
    return ()


def with_excerpts(
    violations: Iterable[Violation], text: str, writing: Writing, secrets: Secrets = _no_secrets
) -> tuple[Violation, ...]:
    """Those that come first in the text with the lines around, without secrets."""
    told = tuple(violations)
    first = [said for said in in_order_of_text(told)[:MOST_EXCERPTS] if said.line is not None]
    if not first:
        return told
    last = max(said.line or 1 for said in first) + LINES_AROUND
    paper = _Paper(text, _lines(text, BREAKS[writing], last), secrets)
    chosen = {id(said) for said in first}
    return tuple(
        replace(said, excerpt=paper.around(said)) if id(said) in chosen else said for said in told
    )


def _lines(text: str, breaks: re.Pattern[str], last: int) -> list[_Span]:
    """Where each line begins and ends, as far as anybody asks."""
    found: list[_Span] = []
    begin = 0
    for piece in _pieces(text):
        for hit in breaks.finditer(text, *piece):
            found.append(_Span(begin, hit.start()))
            begin = hit.end()
            if len(found) == last:
                return found
    return [*found, _Span(begin, len(text))]


def _pieces(text: str) -> Iterator[_Span]:
    """One after the other: a search in the whole of a huge line would let nobody else work."""
    begin = 0
    while begin < len(text):
        end = min(begin + _PIECE, len(text))
        if text[end - 1] == "\r" and text.startswith("\n", end):
            end += 1  # the two are one line end
        yield _Span(begin, end)
        begin = end


@dataclass(frozen=True)
class _Paper:
    """A text, where its lines are, and what of it nobody is shown."""

    text: str
    lines: Sequence[_Span]
    secrets: Secrets

    def around(self, said: Violation) -> tuple[SourceLine, ...]:
        here = min(said.line or 1, len(self.lines))
        first, last = max(1, here - LINES_AROUND), min(len(self.lines), here + LINES_AROUND)
        numbers = [
            number
            for number in range(first, last + 1)
            if number == here or not self._is_blank(self.lines[number - 1])
        ]
        return tuple(
            self._marked(said, number) if number == here else self._plain(number)
            for number in numbers
        )

    def _is_blank(self, line: _Span) -> bool:
        return not self.text[line.begin : min(line.end, line.begin + LONGEST_LINE)].strip()

    def _plain(self, number: int, column: int = 1) -> SourceLine:
        line = self.lines[number - 1]
        shown = self._shown(line, column)
        [part] = self._told(line, shown, shown)
        return SourceLine(number, part)

    def _marked(self, said: Violation, number: int) -> SourceLine:
        line = self.lines[number - 1]
        if said.column is None or said.is_around:
            return self._plain(number, said.column or 1)
        shown = self._shown(line, said.column)
        mark = self._mark(line, shown, said.column)
        parts = (_Span(shown.begin, mark.begin), mark, _Span(mark.end, shown.end))
        return SourceLine(number, *self._told(line, shown, *parts))

    def _shown(self, line: _Span, column: int) -> _Span:
        """What of a line has room; the column is in it."""
        begin = line.begin + max(0, min(column - 1, line.end - line.begin) - _BEFORE_MARK)
        return _Span(begin, min(line.end, begin + LONGEST_LINE))

    def _mark(self, line: _Span, shown: _Span, column: int) -> _Span:
        """What stands there: a text in quotes, a plain one, or one sign."""
        begin = min(line.begin + column - 1, shown.end)
        while begin < shown.end and self.text[begin].isspace():
            begin += 1
        for look in (_QUOTED, _NAME, _WORD):
            if hit := look.match(self.text, begin, shown.end):
                return _Span(begin, hit.end())
        return _Span(begin, min(begin + 1, shown.end))

    def _told(self, line: _Span, shown: _Span, *parts: _Span) -> list[str]:
        """The parts of what is shown, without secrets, and marked where the line is cut."""
        hidden = self._hidden(shown)
        texts = [self._without(part, hidden, shown) for part in parts]
        if shown.begin > line.begin:
            texts[0] = _CUT + texts[0]
        if shown.end < line.end:
            texts[-1] += _CUT
        return [without_halves(text) for text in texts]

    def _hidden(self, shown: _Span) -> list[_Span]:
        """The secrets that reach into it. Their ends may be far away: a key has many lines."""
        start = max(0, shown.begin - EDGE)
        found = self.secrets(self.text[start : shown.end + EDGE])
        spans = (_Span(begin + start, end + start) for begin, end in found)
        return [span for span in spans if span.begin < shown.end and span.end > shown.begin]

    def _without(self, part: _Span, hidden: Sequence[_Span], shown: _Span) -> str:
        said: list[str] = []
        at = part.begin
        for secret in hidden:
            if secret.end <= part.begin or secret.begin >= part.end:
                continue
            said.append(self.text[at : max(at, secret.begin)])
            # Told once, where it begins or comes into sight.
            if secret.begin >= part.begin or part.begin == shown.begin:
                said.append(MASK)
            at = min(secret.end, part.end)
        return "".join((*said, self.text[at : part.end]))
