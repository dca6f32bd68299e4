"""A chart as one SVG picture that needs nothing else."""

import re
from html import escape
from typing import Final

from airboss.entry.chart import ChartGraph, ChartNode, ChartPart
from airboss.entry.drawing.layout import ArrowLine, Box, Layout, Point, lay_out, shown

_FILLS: Final = {
    "TaskNode": ("#cfe2ff", "#2563eb"),
    "CondNode": ("#fde68a", "#b45309"),
    "ParBegin": ("#111827", "#111827"),
    "ParEnd": ("#111827", "#111827"),
    "CondBegin": ("#fde68a", "#b45309"),
    "CondEnd": ("#fde68a", "#b45309"),
    "LoopEnd": ("#9ca3af", "#4b5563"),
    "AltEnd": ("#f9a8d4", "#be185d"),
}
_GREY: Final = "#6b7280"
# XML has no such characters.
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def svg(graph: ChartGraph, block: ChartPart, title: str) -> str:
    """The picture, with the title that a screen reader says."""
    page = lay_out(graph, block)
    parts = [_line(line) for line in page.lines]
    parts += [_node(node, box) for node, box in zip(graph.nodes, page.boxes, strict=True)]
    return "\n".join([*_head(page, title), *parts, "</g>", "</svg>"]) + "\n"


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _head(page: Layout, title: str) -> list[str]:
    width, height = round(page.width), round(page.height)
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{_text(title)}</title>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse">'
        f'<path d="M0 0 8 4 0 8z" fill="{_GREY}"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        '<g font-family="system-ui, sans-serif" font-size="13" text-anchor="middle">',
    ]


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _line(line: ArrowLine) -> str:
    drawn = (
        f'<polyline points="{_points(line.points)}" fill="none" stroke="{_GREY}" '
        'stroke-width="1.5" marker-end="url(#head)"/>'
    )
    if not line.arrow.label:
        return drawn
    (x, y), second = line.points[0], line.points[1]
    # Beside the first piece, where arrows of one node still go apart.
    x, y = (x + 20, y - 5) if line.arrow.loop_back else (x + 4, y + 13)
    anchor = "start"
    if second[0] == x - 4 and len(line.points) > 2 and line.points[2][0] < second[0]:
        x, anchor = x - 8, "end"
    return (
        f'{drawn}<text x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}" '
        f'font-size="11" fill="#374151">{line.arrow.label}</text>'
    )


def _node(node: ChartNode, box: Box) -> str:
    fill, stroke = _FILLS[node.kind]
    look = f'fill="{fill}" stroke="{stroke}"'
    left, right = box.x - box.width / 2, box.x + box.width / 2
    middle = box.middle
    match node.kind:
        case "CondNode":
            corners = (
                (left + 12, box.y),
                (right - 12, box.y),
                (right, middle),
                (right - 12, box.bottom),
                (left + 12, box.bottom),
                (left, middle),
            )
            shape = f'<polygon points="{_points(corners)}" {look}/>'
        case "CondEnd":
            corners = ((box.x, box.y), (right, middle), (box.x, box.bottom), (left, middle))
            shape = f'<polygon points="{_points(corners)}" {look}/>'
        case "LoopEnd":
            shape = f'<circle cx="{_number(box.x)}" cy="{_number(middle)}" r="8" {look}/>'
        case _:
            shape = (
                f'<rect x="{_number(left)}" y="{_number(box.y)}" width="{_number(box.width)}" '
                f'height="{_number(box.height)}" rx="3" {look}/>'
            )
    if node.label is None:
        return shape
    return (
        f'{shape}<text x="{_number(box.x)}" y="{_number(middle + 4.5)}" fill="#111827">'
        f"<title>{_text(node.label)}</title>{_text(shown(node.label))}</text>"
    )
