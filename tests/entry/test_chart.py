"""The flow chart of every shape, node by node."""

from typing import Any

import pytest

from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.chart import generate_chart_nodes
from airboss.entry.document import Seq, Work
from airboss.entry.violations import EntryInvalid
from airboss.entry.works import number


def nodes(work: Work) -> list[dict[str, Any]]:
    graph = generate_chart_nodes(number(work)).to_wire()
    assert list(graph) == ["nodes"]
    return graph["nodes"]


def task(node: int, name: str, work: int, *arrows: dict[str, Any]) -> dict[str, Any]:
    drawn = {"id": node, "hint": ["TaskNode", work], "label": name}
    return {**drawn, "arrows": [*arrows]} if arrows else drawn


def cond(node: int, name: str, work: int, *arrows: dict[str, Any]) -> dict[str, Any]:
    return {**task(node, name, work, *arrows), "hint": ["CondNode", work]}


def mark(node: int, hint: str, *arrows: dict[str, Any]) -> dict[str, Any]:
    drawn = {"id": node, "hint": hint}
    return {**drawn, "arrows": [*arrows]} if arrows else drawn


def to(node: int, label: str | None = None, *, back: bool = False) -> dict[str, Any]:
    arrow = {"to": node, "loopBack": back}
    return {**arrow, "label": label} if label else arrow


def test_a_ref_is_one_node_without_arrows() -> None:
    assert nodes(ref("a")) == [{"id": 0, "hint": ["TaskNode", 0], "label": "a"}]


def test_an_override_stands_behind_the_name() -> None:
    assert nodes(ref("a", category="coding"))[0]["label"] == "a (coding)"
    assert nodes(ref("a", model="gpt-5.2"))[0]["label"] == "a (gpt-5.2)"


def test_a_seq_joins_the_last_of_each_to_the_first_of_the_next() -> None:
    assert nodes(seq(ref("a"), ref("b"), ref("c"))) == [
        task(0, "a", 0, to(1)),
        task(1, "b", 1, to(2)),
        task(2, "c", 2),
    ]


def test_a_par_goes_from_its_begin_to_each_and_from_each_to_its_end() -> None:
    assert nodes(par(ref("a"), seq(ref("b"), ref("c")))) == [
        mark(0, "ParBegin", to(1), to(2)),
        task(1, "a", 0, to(4)),
        task(2, "b", 1, to(3)),
        task(3, "c", 2, to(4)),
        mark(4, "ParEnd"),
    ]


def test_marks_join_marks_where_groups_follow_each_other() -> None:
    assert nodes(seq(par(ref("a")), par(ref("b")))) == [
        mark(0, "ParBegin", to(1)),
        task(1, "a", 0, to(2)),
        mark(2, "ParEnd", to(3)),
        mark(3, "ParBegin", to(4)),
        task(4, "b", 1, to(5)),
        mark(5, "ParEnd"),
    ]


def test_a_loop_without_conditions_goes_to_its_end() -> None:
    assert nodes(loop(ref("a"))) == [task(0, "a", 0, to(1)), mark(1, "LoopEnd")]


@pytest.mark.parametrize(
    ("value", "on", "off"), [(True, "true", "false"), (False, "false", "true")]
)
def test_a_condition_before_goes_to_the_body_or_to_the_end(value: bool, on: str, off: str) -> None:
    assert nodes(loop(ref("a"), before=(value, ref("c")))) == [
        cond(0, "c", 0, to(1, on), to(2, off)),
        task(1, "a", 1, to(2)),
        mark(2, "LoopEnd"),
    ]


@pytest.mark.parametrize(
    ("value", "on", "off"), [(True, "true", "false"), (False, "false", "true")]
)
def test_a_condition_after_goes_back_or_to_the_end(value: bool, on: str, off: str) -> None:
    assert nodes(loop(ref("a"), after=(value, ref("c")))) == [
        task(0, "a", 1, to(1)),
        cond(1, "c", 0, to(0, on, back=True), to(2, off)),
        mark(2, "LoopEnd"),
    ]


def test_a_loop_with_both_conditions_goes_back_to_the_first() -> None:
    work = loop(ref("a"), before=(True, ref("b")), after=(False, ref("c", category="x")))
    assert nodes(work) == [
        cond(0, "b", 0, to(1, "true"), to(3, "false")),
        task(1, "a", 2, to(2)),
        cond(2, "c (x)", 1, to(0, "false", back=True), to(3, "true")),
        mark(3, "LoopEnd"),
    ]


def test_a_seq_of_several_as_condition_stands_between_its_own_marks() -> None:
    assert nodes(loop(ref("a"), before=(True, seq(ref("b"), ref("c"))))) == [
        mark(0, "CondBegin", to(1)),
        task(1, "b", 0, to(2)),
        task(2, "c", 1, to(3)),
        mark(3, "CondEnd", to(4, "true"), to(5, "false")),
        task(4, "a", 2, to(5)),
        mark(5, "LoopEnd"),
    ]


def test_a_loop_goes_back_to_the_mark_of_its_condition() -> None:
    work = loop(ref("a"), before=(True, seq(ref("b"), ref("c"))), after=(True, ref("d")))
    assert nodes(work)[5] == cond(5, "d", 2, to(0, "true", back=True), to(6, "false"))


def test_a_condition_of_one_task_is_that_task_also_in_a_sequence() -> None:
    alone, one = ref("a"), Seq(works=(ref("a"),))
    assert (
        nodes(alt(one))
        == nodes(alt(alone))
        == [
            cond(0, "a", 0, to(1, "true"), to(1, "false")),
            mark(1, "AltEnd"),
        ]
    )
    for before, after in (((True, one), (True, alone)), ((False, one), (False, alone))):
        assert nodes(loop(ref("b"), before=before)) == nodes(loop(ref("b"), before=after))
        assert nodes(loop(ref("b"), after=before)) == nodes(loop(ref("b"), after=after))


def test_any_other_condition_stands_as_it_is() -> None:
    assert nodes(alt(par(ref("a"), ref("b")), true=ref("c"))) == [
        mark(0, "ParBegin", to(1), to(2)),
        task(1, "a", 0, to(3)),
        task(2, "b", 1, to(3)),
        mark(3, "ParEnd", to(4, "true"), to(5, "false")),
        task(4, "c", 2, to(5)),
        mark(5, "AltEnd"),
    ]
    assert nodes(alt(loop(ref("a"))))[1] == mark(1, "LoopEnd", to(2, "true"), to(2, "false"))


def test_an_alternative_goes_both_ways_to_its_end() -> None:
    assert nodes(alt(ref("c"), true=ref("t"), false=ref("f"))) == [
        cond(0, "c", 0, to(1, "true"), to(2, "false")),
        task(1, "t", 1, to(3)),
        task(2, "f", 2, to(3)),
        mark(3, "AltEnd"),
    ]


def test_an_absent_branch_goes_straight_to_the_end() -> None:
    assert nodes(alt(ref("c"), true=ref("t"))) == [
        cond(0, "c", 0, to(1, "true"), to(2, "false")),
        task(1, "t", 1, to(2)),
        mark(2, "AltEnd"),
    ]
    assert nodes(alt(ref("c"), false=ref("f"))) == [
        cond(0, "c", 0, to(2, "true"), to(1, "false")),
        task(1, "f", 1, to(2)),
        mark(2, "AltEnd"),
    ]
    assert nodes(alt(ref("c"))) == [
        cond(0, "c", 0, to(1, "true"), to(1, "false")),
        mark(1, "AltEnd"),
    ]


def test_loops_inside_loops_keep_their_own_ends() -> None:
    inner = loop(ref("a"), after=(False, ref("b")))
    assert nodes(loop(inner, after=(False, ref("c")))) == [
        task(0, "a", 2, to(1)),
        cond(1, "b", 1, to(0, "false", back=True), to(2, "true")),
        mark(2, "LoopEnd", to(3)),
        cond(3, "c", 0, to(0, "false", back=True), to(4, "true")),
        mark(4, "LoopEnd"),
    ]


@pytest.mark.parametrize("group", [seq(), par()])
def test_a_group_without_works_has_no_chart(group: Work) -> None:
    with pytest.raises(EntryInvalid, match="should have at least one element"):
        generate_chart_nodes(group)
