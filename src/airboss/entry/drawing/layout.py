"""Where the nodes and arrows of a chart lie on a page. Colours are not known here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from unicodedata import east_asian_width

from airboss.entry.chart import Arrow, ChartGraph, ChartNode, ChartPart

Point: TypeAlias = tuple[float, float]

LETTER: Final = 7.5
MOST_LETTERS: Final = 40
GAP: Final = 36.0
SPACE: Final = 24.0
LANE: Final = 36.0
MARGIN: Final = 16.0
_SIZES: Final = {"LoopEnd": (16.0, 16.0), "CondEnd": (22.0, 22.0)}
_BAR: Final = (64.0, 8.0)
_BARS: Final = ("ParBegin", "ParEnd")


@dataclass(frozen=True)
class Box:
    """A node's place: the middle of its upper edge, and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True)
class ArrowLine:
    """An arrow's way, in straight pieces."""

    arrow: Arrow
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Layout:
    """A whole page."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[ArrowLine, ...]


def shown(label: str) -> str:
    return label if len(label) <= MOST_LETTERS else label[: MOST_LETTERS - 1] + "…"


def lay_out(graph: ChartGraph, block: ChartPart) -> Layout:
    drawing = _Drawing(graph)
    width, height = drawing.size(block)
    drawing.place(block, MARGIN + width / 2, MARGIN)
    boxes = tuple(drawing.boxes[node.id] for node in graph.nodes)
    lines = [drawing.line(node, arrow) for node in graph.nodes for arrow in node.arrows or ()]
    return Layout(width + 2 * MARGIN, height + 2 * MARGIN, boxes, tuple(lines))


@dataclass
class _Drawing:
    graph: ChartGraph
    boxes: dict[int, Box] = field(default_factory=dict[int, Box])
    # Arrows that go round something: the column that they take.
    columns: dict[tuple[int, Arrow], float] = field(default_factory=dict[tuple[int, Arrow], float])
    _sizes: dict[int, Point] = field(default_factory=dict[int, Point])

    def size(self, block: ChartPart | None) -> Point:
        """Width and height of a block; an absent one is as wide as the arrow that passes."""
        if block is None:
            return LANE, 0.0
        if id(block) not in self._sizes:
            self._sizes[id(block)] = self._measure(block)
        return self._sizes[id(block)]

    def _measure(self, block: ChartPart) -> Point:
        match block.kind:
            case "node":
                return _node_size(self.graph.nodes[block.first])
            case "seq":
                return self._stacked([self.size(part) for part in block.parts])
            case "par":
                row = _beside([self.size(part) for part in block.parts])
                return self._stacked([_BAR, row, _BAR])
            case "cond":
                ends = [self._mark(block.first), self._mark(block.last)]
                return self._stacked([ends[0], self.size(block.parts[0]), ends[1]])
            case "loop":
                parts = [self.size(part) for part in block.parts if part]
                width, height = self._stacked([*parts, self._mark(block.last)])
                return width + 2 * LANE, height
            case "alt":
                row = _beside([self.size(part) for part in block.parts[1:]])
                return self._stacked([self.size(block.parts[0]), row, self._mark(block.last)])

    def _mark(self, node: int) -> Point:
        return _node_size(self.graph.nodes[node])

    @staticmethod
    def _stacked(sizes: Sequence[Point]) -> Point:
        return max(w for w, _ in sizes), sum(h for _, h in sizes) + GAP * (len(sizes) - 1)

    def place(self, block: ChartPart, x: float, y: float) -> None:
        """Put a block below `y`, with its middle at `x`."""
        match block.kind:
            case "node":
                self._put(block.first, x, y)
            case "seq":
                self._column(block.parts, x, y)
            case "cond":
                self._put(block.first, x, y)
                below = self._column(block.parts, x, self.boxes[block.first].bottom + GAP)
                self._put(block.last, x, below)
            case "par":
                width, height = self.size(block)
                self._put(block.first, x, y, width)
                self._row(block.parts, x, y + _BAR[1] + GAP)
                self._put(block.last, x, y + height - _BAR[1], width)
            case "loop":
                self._loop(block, x, y)
            case "alt":
                self._alt(block, x, y)

    def _put(self, node: int, x: float, y: float, width: float | None = None) -> None:
        own, height = _node_size(self.graph.nodes[node])
        self.boxes[node] = Box(x, y, width or own, height)

    def _column(self, parts: Sequence[ChartPart | None], x: float, y: float) -> float:
        """One below the other; gives where the next may begin."""
        for part in parts:
            if part:
                self.place(part, x, y)
                y += self.size(part)[1] + GAP
        return y

    def _row(self, parts: Sequence[ChartPart | None], x: float, y: float) -> list[float]:
        """One beside the other; gives the middle of each."""
        sizes = [self.size(part) for part in parts]
        left = x - _beside(sizes)[0] / 2
        middles: list[float] = []
        for part, (width, _) in zip(parts, sizes, strict=True):
            middles.append(left + width / 2)
            if part:
                self.place(part, middles[-1], y)
            left += width + SPACE
        return middles

    def _loop(self, block: ChartPart, x: float, y: float) -> None:
        before, _, after = block.parts
        self._put(block.last, x, self._column(block.parts, x, y))
        half = self.size(block)[0] / 2
        for part, column in ((before, x - half + 8), (after, x + half - 8)):
            for arrow in (self.graph.nodes[part.last].arrows or ()) if part else ():
                goes_round = arrow.loop_back if part is after else arrow.to == block.last
                if part and goes_round:
                    self.columns[part.last, arrow] = column

    def _alt(self, block: ChartPart, x: float, y: float) -> None:
        condition, *branches = block.parts
        y = self._column([condition], x, y)
        middles = self._row(branches, x, y)
        tallest = max(self.size(branch)[1] for branch in branches)
        self._put(block.last, x, y + tallest + GAP)
        arrows = self.graph.nodes[condition.last].arrows or () if condition else ()
        for arrow, branch, middle in zip(arrows, branches, middles, strict=True):
            if condition and branch is None:
                self.columns[condition.last, arrow] = middle

    def line(self, node: ChartNode, arrow: Arrow) -> ArrowLine:
        start, end = self.boxes[node.id], self.boxes[arrow.to]
        column = self.columns.get((node.id, arrow))
        if arrow.loop_back and column is not None:
            side = start.x + start.width / 2
            turn = end.y - GAP / 2
            points = [(side, start.middle), (column, start.middle), (column, turn), (end.x, turn)]
            return ArrowLine(arrow, (*points, (end.x, end.y)))
        if column is not None:
            high, low = start.bottom + GAP / 2, end.y - GAP / 2
            round_it = [(start.x, high), (column, high), (column, low), (end.x, low)]
            return ArrowLine(arrow, ((start.x, start.bottom), *round_it, (end.x, end.y)))
        return ArrowLine(arrow, self._short(node, start, arrow, end))

    def _short(self, node: ChartNode, start: Box, arrow: Arrow, end: Box) -> tuple[Point, ...]:
        """Straight down, or with one step aside."""
        left = end.x if node.kind in _BARS else start.x
        right = start.x if self.graph.nodes[arrow.to].kind in _BARS else end.x
        if left == right:
            return (left, start.bottom), (right, end.y)
        is_end = self.graph.nodes[arrow.to].kind == "AltEnd"
        turn = end.y - GAP / 2 if is_end else start.bottom + GAP / 2
        return (left, start.bottom), (left, turn), (right, turn), (right, end.y)


def _beside(sizes: Sequence[Point]) -> Point:
    return sum(w for w, _ in sizes) + SPACE * (len(sizes) - 1), max(h for _, h in sizes)


def _node_size(node: ChartNode) -> Point:
    if node.label is None:
        return _SIZES.get(node.kind, _BAR)
    letters = sum(2 if east_asian_width(sign) in "WF" else 1 for sign in shown(node.label))
    return max(80.0, letters * LETTER + 32), 34.0
