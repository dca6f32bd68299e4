"""A chart as Mermaid text."""

import re
from typing import Final

from airboss.entry.chart import Arrow, ChartGraph, ChartNode

_SHAPES: Final = {
    "TaskNode": '["{}"]',
    "CondNode": '{{{{"{}"}}}}',
    "CondEnd": '{{"{}"}}',
    "LoopEnd": '(("{}"))',
}
_MARKS: Final = {
    "ParBegin": "all of",
    "ParEnd": "all done",
    "CondBegin": "condition",
    "CondEnd": "?",
    "LoopEnd": " ",
    "AltEnd": " ",
}
_STYLES: Final = (
    "classDef TaskNode fill:#cfe2ff,stroke:#2563eb,color:#111",
    "classDef CondNode fill:#fef3c7,stroke:#b45309,color:#111",
    "classDef mark fill:#e5e7eb,stroke:#4b5563,color:#111",
)
# Everything that Mermaid or HTML could take for more than a letter goes by its number.
_SIGN: Final = re.compile(r"[^\w .,/()-]", re.ASCII)
_SPACES: Final = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")


def mermaid(graph: ChartGraph) -> str:
    """The text, with one line for each node and each arrow."""
    lines = ["flowchart TD"]
    lines += [f"  {_node(node)}" for node in graph.nodes]
    for node in graph.nodes:
        lines += [f"  {_arrow(node.id, arrow)}" for arrow in node.arrows or ()]
    lines += [f"  {style}" for style in _STYLES]
    return "\n".join(lines) + "\n"


def _node(node: ChartNode) -> str:
    label = escaped(node.label) if node.label is not None else _MARKS.get(node.kind, " ")
    shape = _SHAPES.get(node.kind, '["{}"]').format(label)
    style = node.kind if node.kind in ("TaskNode", "CondNode") else "mark"
    return f"n{node.id}{shape}:::{style}"


def _arrow(start: int, arrow: Arrow) -> str:
    line = "-.->" if arrow.loop_back else "-->"
    label = f"|{arrow.label}|" if arrow.label else ""
    return f"n{start} {line}{label} n{arrow.to}"


def escaped(text: str) -> str:
    """A label that stays a label, whatever is in it."""
    line = _SPACES.sub(" ", text)
    return _SIGN.sub(lambda hit: hit[0] if ord(hit[0]) > 0x9F else f"#{ord(hit[0])};", line)
