"""Charts made visible: readable, and safe whatever a label holds."""

import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.chart import draw
from airboss.entry.document import Work
from airboss.entry.drawing.layout import Box, lay_out
from airboss.entry.drawing.mermaid import escaped, mermaid
from airboss.entry.drawing.svg import svg
from airboss.entry.drawing.terminal import terminal
from airboss.entry.works import number

REVIEW = loop(
    seq(ref("build"), alt(ref("is big"), true=par(ref("a"), ref("b", category="x")))),
    before=(True, seq(ref("look"), ref("ask"))),
    after=(False, ref("is good")),
)
SHAPES = [
    ref("a"),
    seq(ref("a"), ref("b")),
    REVIEW,
    seq(ref("plan"), REVIEW, par(REVIEW, ref("z"))),
]
NASTY = 'a"]; click n0 "javascript:x" <b>&amp; `#35;`\n\x1b[31m \u2028é 漢'


def test_a_terminal_shows_what_belongs_together() -> None:
    assert terminal(*draw(number(seq(ref("plan"), REVIEW)))) == (
        "■ plan\n"
        "┌ loop\n"
        "│ ■ look\n"
        "│ ■ ask\n"
        "├ true: (otherwise exit)\n"
        "│ ■ build\n"
        "│ ┌ if\n"
        "│ │ ◆ is big\n"
        "│ ├ true:\n"
        "│ │ ┌ in parallel\n"
        "│ │ │ ■ a\n"
        "│ │ ├ and\n"
        "│ │ │ ■ b (x)\n"
        "│ │ └\n"
        "│ ├ false:\n"
        "│ │ (nothing)\n"
        "│ └\n"
        "├ then\n"
        "│ ◆ is good\n"
        "└ false: repeat\n"
    )


def test_a_terminal_without_lines_gets_plain_ones() -> None:
    drawn = terminal(*draw(number(loop(ref("a"), after=(True, ref("b"))))), plain=True)
    assert drawn == "+ loop\n| * a\n+ then\n| ? b\n+ true: repeat\n"


def test_a_loop_without_conditions_is_a_frame() -> None:
    assert terminal(*draw(number(loop(ref("a"))))) == "┌ loop\n│ ■ a\n└\n"


def test_mermaid_has_a_line_for_each_node_and_arrow() -> None:
    work = seq(par(ref("a"), ref("b")), loop(ref("c"), after=(False, ref("d"))))
    drawn = mermaid(draw(number(work))[0])
    assert drawn.splitlines()[:-3] == [
        "flowchart TD",
        '  n0["all of"]:::mark',
        '  n1["a"]:::TaskNode',
        '  n2["b"]:::TaskNode',
        '  n3["all done"]:::mark',
        '  n4["c"]:::TaskNode',
        '  n5{{"d"}}:::CondNode',
        '  n6((" ")):::mark',
        "  n0 --> n1",
        "  n0 --> n2",
        "  n1 --> n3",
        "  n2 --> n3",
        "  n3 --> n4",
        "  n4 --> n5",
        "  n5 -.->|false| n4",
        "  n5 -->|true| n6",
    ]


def test_a_label_in_mermaid_stays_a_label() -> None:
    said = escaped(NASTY)
    assert set(said) & set("\"<>[]{}`&|'\n\x1b\u2028") == set()
    assert said == (
        "a#34;#93;#59; click n0 #34;javascript#58;x#34; #60;b#62;#38;amp#59; "
        "#96;#35;35#59;#96; #91;31m é 漢"
    )


@pytest.mark.parametrize("work", [*SHAPES, ref(NASTY), ref("x" * 500)])
def test_an_svg_is_whole_and_needs_nothing_else(work: Work) -> None:
    graph, block = draw(number(work))
    text = svg(graph, block, NASTY)
    root = ET.fromstring(text)  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert len(root.findall(f".//{space}polyline")) == sum(len(n.arrows or ()) for n in graph.nodes)
    labels = [node.label for node in graph.nodes if node.label]
    shown = [title.text for title in root.findall(f".//{space}text/{space}title")]
    assert [(text or "").replace("\ufffd", "\x1b") for text in shown] == labels
    assert {element.tag.removeprefix(space) for element in root.iter()} <= {
        *("svg", "title", "defs", "marker", "path", "rect", "g"),
        *("polyline", "text", "polygon", "circle"),
    }
    assert "href" not in text
    assert text.count("://") == 1


def apart(one: Box, other: Box) -> bool:
    return (
        one.bottom <= other.y
        or other.bottom <= one.y
        or abs(one.x - other.x) >= (one.width + other.width) / 2
    )


@pytest.mark.parametrize("work", SHAPES)
def test_nodes_lie_apart_and_on_the_page(work: Work) -> None:
    page = lay_out(*draw(number(work)))
    assert all(apart(one, other) for one, other in combinations(page.boxes, 2))
    assert all(box.x - box.width / 2 >= 0 and box.bottom <= page.height for box in page.boxes)
    assert all(0 <= x <= page.width for line in page.lines for x, _ in line.points)


@pytest.mark.parametrize("work", SHAPES)
def test_arrows_go_up_only_where_they_go_back(work: Work) -> None:
    for line in lay_out(*draw(number(work))).lines:
        assert (line.points[-1][1] < line.points[0][1]) == line.arrow.loop_back
