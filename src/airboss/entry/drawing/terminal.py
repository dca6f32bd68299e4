"""A chart drawn with letters, with a frame around what belongs together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from airboss.entry.chart import ChartGraph, ChartPart

_LINES: Final = ("┌", "├", "└", "│", "■", "◆")
_PLAIN_LINES: Final = ("+", "+", "+", "|", "*", "?")


def terminal(
    graph: ChartGraph, block: ChartPart, show: Callable[[str], str] = str, *, plain: bool = False
) -> str:
    """The drawing. `show` makes labels safe for the terminal; `plain` keeps to ASCII."""
    top, middle, bottom, side, task, condition = _PLAIN_LINES if plain else _LINES
    pen = _Pen(graph, show, top, middle, bottom, side, task, condition)
    return "\n".join(pen.lines(block)) + "\n"


@dataclass(frozen=True)
class _Pen:
    graph: ChartGraph
    show: Callable[[str], str]
    top: str
    middle: str
    bottom: str
    side: str
    task: str
    condition: str

    def lines(self, block: ChartPart | None) -> list[str]:
        if block is None:
            return ["(nothing)"]
        match block.kind:
            case "node":
                node = self.graph.nodes[block.first]
                sign = self.condition if node.kind == "CondNode" else self.task
                return [f"{sign} {self.show(node.label or '')}"]
            case "seq" | "cond":
                return [line for part in block.parts for line in self.lines(part)]
            case "par":
                return self._par(block)
            case "loop":
                return self._loop(block)
            case "alt":
                return self._alt(block)

    def _inside(self, block: ChartPart | None) -> list[str]:
        return [f"{self.side} {line}" for line in self.lines(block)]

    def _label(self, start: int, *, back: bool) -> str:
        """What the way that does not leave the loop is called."""
        arrows = self.graph.nodes[start].arrows or ()
        return next((a.label or "" for a in arrows if a.loop_back == back), "")

    def _par(self, block: ChartPart) -> list[str]:
        lines = [f"{self.top} in parallel"]
        for number, part in enumerate(block.parts):
            lines += [f"{self.middle} and"] if number else []
            lines += self._inside(part)
        return [*lines, self.bottom]

    def _loop(self, block: ChartPart) -> list[str]:
        before, body, after = block.parts
        lines = [f"{self.top} loop"]
        if before:
            lines += self._inside(before)
            lines.append(f"{self.middle} {self._label(before.last, back=False)}: (otherwise exit)")
        lines += self._inside(body)
        if not after:
            return [*lines, self.bottom]
        again = self._label(after.last, back=True)
        return [
            *lines,
            f"{self.middle} then",
            *self._inside(after),
            f"{self.bottom} {again}: repeat",
        ]

    def _alt(self, block: ChartPart) -> list[str]:
        condition, yes, no = block.parts
        return [
            f"{self.top} if",
            *self._inside(condition),
            f"{self.middle} true:",
            *self._inside(yes),
            f"{self.middle} false:",
            *self._inside(no),
            self.bottom,
        ]
