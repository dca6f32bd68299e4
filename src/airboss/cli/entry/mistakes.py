"""A mistake of an entry in the terminal: its place, the lines around it, what to write instead."""

from collections.abc import Iterator

from airboss.cli.screen import Pen, visible_line
from airboss.entry.violations import SourceLine, Violation
from airboss.model.hidden import visible


def tell_mistake(said: Violation, file: str, pen: Pen) -> None:
    """Its first line is as tools read it: file, line, column, message."""
    places = (str(place) for place in (said.line, said.column) if place is not None)
    hint = f" {said.hint}" if said.hint else ""
    head = visible_line(f"{':'.join((file, *places))}: {said}{hint}")
    pen.line(pen.styled(head, "bold"))
    width = len(str(said.excerpt[-1].line)) if said.excerpt else 0
    for line in said.excerpt:
        for text, style in _lines(line, width, is_here=line.line == said.line):
            pen.line(pen.styled(text, *style))
    for text in _fix(said):
        pen.line(f"  {pen.styled(text, 'cyan')}")


def _lines(line: SourceLine, width: int, *, is_here: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    before, marked, after = (_shown(part) for part in (line.before, line.marked, line.after))
    sign = ">" if is_here else " "
    yield (
        f"{sign} {line.line:>{width}} | {before}{marked}{after}".rstrip(),
        () if is_here else ("dim",),
    )
    if marked:
        yield f"  {'':>{width}} | {'':>{len(before)}}{'^' * len(marked)}", ("red",)


def _shown(part: str) -> str:
    return visible(part.replace("\t", "    "))


def _fix(said: Violation) -> Iterator[str]:
    if said.advice:
        yield visible_line(said.advice)
    if said.example:
        yield f"  {visible_line(said.example)}"
