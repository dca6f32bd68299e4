"""A check's result, and how it is shown: one line, and what to do."""

from dataclasses import dataclass
from typing import Final

from airboss.cli.doctor.checks import State
from airboss.cli.screen import Pen, visible, visible_line

_SIGNS: Final = {"ok": "✓", "warn": "!", "fail": "✗"}
_COLOURS: Final = {"ok": "green", "warn": "yellow", "fail": "red"}


@dataclass(frozen=True)
class Result:
    """A check's finding as the API words it too."""

    id: str
    state: State
    summary: str
    detail: str
    remedy: str
    # None where nothing was timed by itself.
    ms: int | None = None


def print_result(result: Result, pen: Pen) -> None:
    name, summary = visible_line(result.id), visible_line(result.summary)
    if not pen.is_terminal:
        cells = [result.state, name, summary, visible_line(result.remedy)]
        pen.line("\t".join(cells if result.ms is None else [*cells, f"{result.ms} ms"]))
        return
    sign = pen.styled(_SIGNS.get(result.state, "?"), _COLOURS.get(result.state, "bold"))
    took = "" if result.ms is None else " " + pen.styled(f"({result.ms} ms)", "dim")
    pen.line(f"{sign} {name:<22} {summary}{took}")
    indent = " " * 25
    for text in (result.detail, result.remedy if result.state != "ok" else ""):
        for line in visible(text).splitlines():
            pen.line(f"{indent}{pen.styled(line, 'dim') if text is result.detail else line}")
