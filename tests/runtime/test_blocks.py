"""Blocks that are too long: told in part, and their deltas still add up to their end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airboss.model.events import (
    BlockDelta,
    Event,
    MessageEnded,
    ReasoningEnded,
    ToolEnded,
    ToolStarted,
)
from airboss.model.excerpt import MOST_OF_A_REASON, Gapped, mark_of
from airboss.model.redaction import MASK, Redactor
from airboss.runtime.signals import Compacted, Retrying, Signal, TurnFailed
from airboss.runtime.translate import Translator
from tests.runtime.test_translate import complete, delta, message, output, partial, raw, started

SECRET = "correct-horse-battery"
MOST = 4096
Told = list[Event | Signal | Compacted]


def tell(*heard: dict[str, Any]) -> Told:
    translator = Translator(Redactor((SECRET,)), most=MOST)
    return [told for event in heard for told in translator.hear(event)]


def ends(told: Told) -> list[MessageEnded | ReasoningEnded | ToolEnded]:
    return [one for one in told if isinstance(one, MessageEnded | ReasoningEnded | ToolEnded)]


def check(told: Told) -> None:
    """What holds for every block, wherever one begins to read."""
    for ended in ends(told):
        said = ""
        for one in told:
            if isinstance(one, BlockDelta) and one.block == ended.block:
                assert one.offset == len(said)
                said += one.text
        assert said == ended.text
        assert len(ended.text) <= MOST
        mark = mark_of(ended.left_out or 0)
        assert (mark in ended.text) == (ended.left_out is not None)


def reasoning(text: str) -> dict[str, Any]:
    return raw("assistant.reasoning_delta", reasoningId="r1", deltaContent=text)


def reasoned(text: str) -> dict[str, Any]:
    return raw("assistant.reasoning", reasoningId="r1", content=text)


sizes = st.lists(st.integers(0, 9000), max_size=8)


@settings(deadline=None)
@given(sizes=sizes)
def test_a_tools_deltas_add_up_to_its_end_however_much_it_says(sizes: list[int]) -> None:
    pieces = ["y\n" * size for size in sizes]
    said = [output(piece, number) for number, piece in enumerate(pieces)]
    told = tell(started(), *said, complete("Saved to a file.", detailedContent="Saved."))
    check(told)
    [ended] = ends(told)
    assert isinstance(ended, ToolEnded)
    assert ended.result
    assert ended.result.content == ended.text
    whole = "".join(pieces)
    assert (ended.left_out is None) == (len(whole) <= MOST or not whole)
    if whole:
        assert ended.result.detailed_content == "Saved."


@pytest.mark.parametrize(("said", "closed"), [(delta, message), (reasoning, reasoned)])
@settings(deadline=None)
@given(sizes=sizes, more=st.integers(0, 9000))
def test_a_texts_deltas_add_up_to_its_end_and_its_closing_text_is_not_told_again(
    said: Callable[[str], dict[str, Any]],
    closed: Callable[[str], dict[str, Any]],
    sizes: list[int],
    more: int,
) -> None:
    pieces = ["x" * size for size in sizes if size]
    whole = "".join(pieces) + "z" * more
    told = tell(*map(said, pieces), closed(whole))
    check(told)
    found = ends(told)
    assert len(found) == (1 if whole else 0)
    if len(whole) > MOST:
        left_out = found[0].left_out or 0
        assert len(found[0].text) - len(mark_of(left_out)) + left_out == len(whole)


def test_a_trimmed_closing_text_of_a_long_block_is_the_same_text() -> None:
    long = f"  {'think ' * 5000}\n"
    told = tell(
        *[reasoning(long[at : at + 100]) for at in range(0, len(long), 100)], reasoned(long.strip())
    )
    check(told)
    assert [ended.cut for ended in ends(told)] == [False]


def test_another_closing_text_of_a_long_block_is_told_in_a_block_of_its_own() -> None:
    told = tell(delta("x" * 10_000), message("y" * 10_000))
    check(told)
    assert [(ended.cut, ended.text[0]) for ended in ends(told)] == [(True, "x"), (False, "y")]


def test_output_that_comes_as_a_whole_each_time_is_told_once() -> None:
    whole = "".join(f"line {number}\n" for number in range(3000))
    parts = [partial(whole[:size]) for size in range(0, len(whole), 500)]
    told = tell(started(), *parts, complete(whole))
    check(told)
    [ended] = ends(told)
    kept = len(ended.text) - len(mark_of(ended.left_out or 0))
    assert kept + (ended.left_out or 0) == len(whole)
    assert ended.text.endswith("line 2999\n")


def test_a_message_whose_middle_was_never_read_is_counted() -> None:
    text = Gapped("a" * 5000, 10**9, "b" * 50_000)
    for heard in (
        [message(text)],
        [delta("a" * 100), message(text)],
        [delta("a" * 9000), message(text)],
    ):
        told = tell(*heard)
        check(told)
        [ended] = ends(told)
        assert (ended.left_out or 0) > 10**9
        assert ended.text.startswith("aaa")
        assert ended.text.endswith("bbb")


def test_all_that_a_tool_is_told_with_is_bounded() -> None:
    huge = "x" * 100_000
    begun = started("c" * 5000)
    begun["data"] = {
        **begun["data"],
        "toolName": "n" * 5000,
        "arguments": {"a": huge, "b": "whole"},
    }
    result = {"content": "done", "detailedContent": f"{huge} {SECRET} the end"}
    ended = raw("tool.execution_complete", toolCallId="c" * 5000, success=True, result=result)
    told = tell(begun, ended)
    check(told)
    start = told[0]
    assert isinstance(start, ToolStarted)
    assert len(start.block) < 100
    assert len(start.name) < 300
    assert json.loads(start.arguments)["b"] == "whole"
    assert len(start.arguments) <= MOST
    [end] = ends(told)
    assert end.block == start.block
    assert isinstance(end, ToolEnded)
    assert end.result
    detail = end.result.detailed_content or ""
    assert len(detail) <= MOST
    assert detail.endswith(f"{MASK} the end")
    error = raw(
        "tool.execution_complete", toolCallId="call_1", success=False, error={"message": huge}
    )
    [failed] = ends(tell(started(), error))
    assert isinstance(failed, ToolEnded)
    assert failed.error
    assert len(failed.error.message) <= MOST


def test_what_went_wrong_is_told_in_words_that_somebody_reads() -> None:
    huge = f"{'no ' * 100_000}{SECRET}"
    told = tell(
        raw("session.error", errorType="e" * 9000, message=huge, errorCode=huge),
        raw("assistant.turn_retry", reason=huge),
    )
    failed, retrying = told
    assert isinstance(failed, TurnFailed)
    assert isinstance(retrying, Retrying)
    for text in (failed.name, failed.message, failed.cause or "", retrying.reason):
        assert len(text) <= MOST_OF_A_REASON
        assert SECRET not in text
