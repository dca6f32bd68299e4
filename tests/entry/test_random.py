"""Whatever somebody writes: a valid entry, or a violation in words."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from airboss.entry.chart import draw
from airboss.entry.drawing.mermaid import mermaid
from airboss.entry.drawing.svg import svg
from airboss.entry.drawing.terminal import terminal
from airboss.entry.json_text import parse_json, quick_json
from airboss.entry.load import Format, check_text
from airboss.entry.validate import Checked, check_entry, validate_entry
from airboss.entry.violations import EntryInvalid
from airboss.entry.yaml_text import parse_yaml
from tests.entry.example import Data, entry, par, ref, seq

TEXT = st.text(max_size=12) | st.sampled_from(
    ["plan", "build", "check", "all", "driving", "Ref", "Seq", "kind", "$ask", "$user-input", "$x"]
)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
FIELDS = st.sampled_from(
    [
        *("kind", "taskId", "works", "body", "condition", "preCondition", "postCondition"),
        *("trueWork", "falseWork", "work", "prompt", "model", "modelOverride", "jobs", "tasks"),
        *("criteria", "availability", "failureAction", "toolExecuted", "requireUserInput"),
        *("limits", "permissions", "category", "id", "grid", "keyword", "promptVariables"),
    ]
)
ANYTHING = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS | TEXT, inner, max_size=4),
    max_leaves=12,
)
REF: st.SearchStrategy[Data] = st.sampled_from([ref("plan"), ref("build")])


def group(inner: st.SearchStrategy[Data]) -> st.SearchStrategy[Data]:
    works = st.lists(inner, max_size=3)
    maybe = st.none() | inner
    return st.one_of(
        works.map(lambda parts: seq(*parts)),
        works.map(lambda parts: par(*parts)),
        st.tuples(inner, maybe, maybe).map(loop),
        st.tuples(inner, maybe, maybe).map(alt),
    )


def loop(parts: tuple[Data, Data | None, Data | None]) -> Data:
    body, before, after = parts
    more = {"preCondition": before and [True, before], "postCondition": after and [False, after]}
    return {"kind": "Loop", "body": body, **{name: part for name, part in more.items() if part}}


def alt(parts: tuple[Data, Data | None, Data | None]) -> Data:
    condition, yes, no = parts
    more = {"trueWork": yes, "falseWork": no}
    given = {name: part for name, part in more.items() if part}
    return {"kind": "Alt", "condition": condition, **given}


WORK: st.SearchStrategy[Data] = st.recursive(REF, group, max_leaves=12)


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside: list[tuple[Any, Any]] = [
        *(value.items() if hasattr(value, "items") else enumerate(value))
    ]
    found: list[tuple[Any, ...]] = []
    for step, part in inside:
        found.append((*place, step))
        if isinstance(part, dict | list):
            found += places(part, (*place, step))
    return found


PLACES = places(entry())
FORMATS: tuple[Format, ...] = ("json", "yaml")


def holds(data: object) -> Checked:
    """Both ways of asking agree, and every word can be written."""
    checked = check_entry(data)
    assert (checked.entry is None) == bool(checked.violations)
    json.dumps([told.to_wire() for told in checked.violations], ensure_ascii=False).encode()
    if checked.entry:
        assert validate_entry(data) == checked.entry
        return checked
    with pytest.raises(EntryInvalid) as caught:
        validate_entry(data)
    assert str(caught.value) == str(checked.violations[0])
    assert ": " in str(caught.value)
    assert str(caught.value).endswith(".")
    return checked


@settings(max_examples=60, deadline=None)
@given(ANYTHING)
def test_anything_is_an_entry_or_is_refused_in_words(data: object) -> None:
    holds(data)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PLACES), ANYTHING), min_size=1, max_size=3))
def test_a_bent_entry_is_valid_or_refused_in_words(bends: list[tuple[Any, Any]]) -> None:
    data: Any = entry()
    for (*way, last), value in bends:
        part = data
        try:
            for step in way:
                part = part[step]
            part[last] = value
        except (KeyError, IndexError, TypeError):
            continue
    holds(data)


@settings(max_examples=80, deadline=None)
@given(WORK)
def test_every_valid_job_has_a_chart_that_can_be_drawn(work: Data) -> None:
    data = entry()
    data["jobs"]["all"]["work"] = work
    checked = holds(data)
    if checked.entry is None:
        return
    graph, block = draw(checked.entry.jobs["all"].work)
    assert [node.id for node in graph.nodes] == list(range(len(graph.nodes)))
    for node in graph.nodes:
        assert all((arrow.to <= node.id) == arrow.loop_back for arrow in node.arrows or ())
    drawings = (mermaid(graph), svg(graph, block, "x"), terminal(graph, block))
    assert all(drawings)
    assert validate_entry(checked.entry) == checked.entry


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="{}[]:,\"\\ \n-&*<!|>'#%@`tfn01.eu$", max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for form in FORMATS:
        try:
            found = check_text(text, form).violations
        except EntryInvalid as error:
            found = error.violations
        assert found
        assert all(told.line is not None for told in found)


@settings(max_examples=60, deadline=None)
@given(ANYTHING)
def test_the_careful_reader_of_json_reads_what_json_reads(data: object) -> None:
    try:
        text = json.dumps(data, allow_nan=False)
    except ValueError:
        return
    assert parse_json(text).data == json.loads(text) or "\\ud" in text
    quick = quick_json(text)
    assert quick is None or quick[0] == json.loads(text)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(TEXT, TEXT | st.lists(TEXT, max_size=3), max_size=4))
@example({"<<": "in quotes it is a name like any other"})
def test_the_reader_of_yaml_reads_what_was_dumped(data: dict[str, object]) -> None:
    assert parse_yaml(yaml.safe_dump(data, default_style='"')).data == data
