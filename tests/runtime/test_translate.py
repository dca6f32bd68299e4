"""Raw events of the runtime, as they were recorded, and what we tell of them."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airboss.model.events import (
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    ToolDelta,
    ToolEnded,
    ToolError,
    ToolResult,
    ToolStarted,
)
from airboss.model.redaction import MASK, Redactor
from airboss.runtime.signals import (
    Compacted,
    ModelAnswered,
    ModelReplaced,
    Retrying,
    Signal,
    TurnBegan,
    TurnFailed,
    TurnIdle,
    UsageSeen,
)
from airboss.runtime.translate import UNFINISHED_TOOL, Translator, same_model

AGENT = "48c30aa8-cce1-44e5-a4c9-024305a1d8c6"
SECRET = "correct-horse-battery"


def raw(kind: str, agent: str | None = None, /, **data: Any) -> dict[str, Any]:
    envelope = {"type": kind, "id": "e1", "timestamp": "2026-11-15T08:25:46.708Z", "data": data}
    return envelope if agent is None else {**envelope, "agentId": agent}


def delta(text: str, message: str = "m1") -> dict[str, Any]:
    return raw("assistant.message_delta", messageId=message, deltaContent=text)


def message(content: str, name: str = "m1", **more: Any) -> dict[str, Any]:
    return raw("assistant.message", messageId=name, content=content, toolRequests=[], **more)


def started(call: str = "call_1", agent: str | None = None, **more: Any) -> dict[str, Any]:
    arguments = {"command": "ls", "description": "look"}
    return raw(
        "tool.execution_start",
        agent,
        toolCallId=call,
        toolName="bash",
        arguments=arguments,
        **more,
    )


def output(text: str, sequence: int) -> dict[str, Any]:
    return raw(
        "tool.shell_output", toolCallId="call_1", stream="stdout", text=text, sequence=sequence
    )


def partial(text: str) -> dict[str, Any]:
    return raw("tool.execution_partial_result", toolCallId="call_1", partialOutput=text)


def complete(content: str, **more: Any) -> dict[str, Any]:
    result = {"content": content, "detailedContent": content, **more}
    return raw("tool.execution_complete", toolCallId="call_1", success=True, result=result)


def tell(
    heard: Iterable[Mapping[str, Any]], translator: Translator | None = None
) -> list[Event | Signal | Compacted]:
    translator = translator or Translator(Redactor((SECRET,)))
    return [told for event in heard for told in translator.hear(event)]


def test_a_message_is_a_start_its_deltas_and_an_end() -> None:
    assert tell([delta("Hello "), delta("you"), message("Hello you")]) == [
        MessageStarted(block="m1"),
        MessageDelta(block="m1", offset=0, text="Hello "),
        MessageDelta(block="m1", offset=6, text="you"),
        MessageEnded(block="m1", text="Hello you"),
    ]


def test_what_the_closing_text_has_more_is_said_before_the_end() -> None:
    assert tell([delta("Hello"), message("Hello you")])[2:] == [
        MessageDelta(block="m1", offset=5, text=" you"),
        MessageEnded(block="m1", text="Hello you"),
    ]


def test_a_closing_text_that_differs_is_told_whole_in_a_block_of_its_own() -> None:
    assert tell([delta("Helo"), message("Hello")]) == [
        MessageStarted(block="m1"),
        MessageDelta(block="m1", offset=0, text="Helo"),
        MessageEnded(block="m1", text="Helo", cut=True),
        MessageStarted(block="m1~2"),
        MessageDelta(block="m1~2", offset=0, text="Hello"),
        MessageEnded(block="m1~2", text="Hello"),
    ]


def test_a_message_without_deltas_is_told_and_an_empty_one_is_not() -> None:
    assert tell([message("Hello"), message("", "m2")]) == [
        MessageStarted(block="m1"),
        MessageDelta(block="m1", offset=0, text="Hello"),
        MessageEnded(block="m1", text="Hello"),
    ]


def test_a_reasoning_closes_behind_the_message_and_its_trimmed_text_is_no_difference() -> None:
    thought = raw("assistant.reasoning_delta", reasoningId="r1", deltaContent="let me ")
    closing = raw("assistant.reasoning", reasoningId="r1", content="let me", rte=False)
    assert tell([thought, delta("Hi"), message("Hi"), closing]) == [
        ReasoningStarted(block="r1"),
        ReasoningDelta(block="r1", offset=0, text="let me "),
        MessageStarted(block="m1"),
        MessageDelta(block="m1", offset=0, text="Hi"),
        MessageEnded(block="m1", text="Hi"),
        ReasoningEnded(block="r1", text="let me "),
    ]


def test_a_retry_cuts_what_was_streamed_and_a_late_end_of_it_is_passed_over() -> None:
    retry = raw("assistant.turn_retry", turnId="0", model="x", reason="streaming_error")
    assert tell(
        [delta("one "), retry, delta("two", "m2"), message("two", "m2"), message("on")]
    ) == [
        MessageStarted(block="m1"),
        MessageDelta(block="m1", offset=0, text="one "),
        MessageEnded(block="m1", text="one ", cut=True),
        Retrying("streaming error"),
        MessageStarted(block="m2"),
        MessageDelta(block="m2", offset=0, text="two"),
        MessageEnded(block="m2", text="two"),
    ]


def test_a_message_that_was_given_up_is_cut_when_the_next_begins() -> None:
    told = tell([delta("one "), delta("two", "m2")])
    assert told[2] == MessageEnded(block="m1", text="one ", cut=True)


def test_a_shells_output_comes_in_pieces_and_its_repetitions_are_passed_over() -> None:
    tail = "<shellId: 0 completed with exit code 0>"
    heard = [
        started(),
        output("a\n", 0),
        partial("a\n"),
        output("b\n", 1),
        output("b\n", 1),
        partial("a\nb\n"),
        complete(f"a\nb\n{tail}"),
    ]
    whole = f"a\nb\n{tail}"
    assert tell(heard) == [
        ToolStarted(
            block="call_1", name="bash", arguments='{"command": "ls", "description": "look"}'
        ),
        ToolDelta(block="call_1", offset=0, text="a\n"),
        ToolDelta(block="call_1", offset=2, text="b\n"),
        ToolDelta(block="call_1", offset=4, text=tail),
        ToolEnded(block="call_1", text=whole, result=ToolResult(content=whole)),
    ]


def test_a_tool_that_only_repeats_its_growing_output_is_told_the_new_of_it() -> None:
    told = tell([started(), partial("1"), partial("1"), partial("12"), complete("123")])
    assert told[1:] == [
        ToolDelta(block="call_1", offset=0, text="1"),
        ToolDelta(block="call_1", offset=1, text="2"),
        ToolDelta(block="call_1", offset=2, text="3"),
        ToolEnded(block="call_1", text="123", result=ToolResult(content="123")),
    ]


def test_a_result_that_differs_from_what_was_streamed_is_kept_beside_it() -> None:
    told = tell([started(), output("ID=******\n", 0), complete("ID=17\n<done>")])
    outcome = ToolResult(content="ID=******\n", detailed_content="ID=17\n<done>")
    assert told[-1] == ToolEnded(block="call_1", text="ID=******\n", result=outcome)


def test_a_failed_tool_says_why() -> None:
    error = {"message": "Tool 'nosuch' does not exist.", "code": "failure"}
    failed = raw("tool.execution_complete", toolCallId="call_1", success=False, error=error)
    assert tell([started(), failed])[-1] == ToolEnded(
        block="call_1",
        text="",
        error=ToolError(message="Tool 'nosuch' does not exist.", code="failure"),
    )


def test_a_sub_agents_tools_hang_below_its_call_even_with_the_same_id() -> None:
    told = tell(
        [
            started(),
            started("call_1", AGENT, parentToolCallId="call_1"),
            raw("assistant.message_delta", AGENT, messageId="m9", deltaContent="inner"),
            raw(
                "assistant.message",
                AGENT,
                messageId="m9",
                content="inner",
                model="x",
                parentToolCallId="call_1",
            ),
            raw("tool.shell_output", AGENT, toolCallId="call_1", text="hi", sequence=0),
            complete("outer"),
        ]
    )
    assert [(type(event).__name__, getattr(event, "block", None)) for event in told] == [
        ("ToolStarted", "call_1"),
        ("ToolStarted", "call_1~2"),
        ("SubAgentSaid", "m9"),
        ("ToolDelta", "call_1~2"),
        ("ToolDelta", "call_1"),
        ("ToolEnded", "call_1"),
    ]
    assert [event.parent for event in told if isinstance(event, ToolStarted)] == [None, "call_1"]


def test_a_turn_begins_once_and_idle_closes_all_that_is_open() -> None:
    turn = raw("assistant.turn_start", turnId="0")
    idle = raw("session.idle", mode="interactive", aborted=True)
    told = tell([raw("user.message", content="hi"), turn, started(), delta("x"), turn, idle])
    assert [told[0], *told[2:]] == [
        TurnBegan(),
        MessageStarted(block="m1"),
        MessageDelta(block="m1", offset=0, text="x"),
        MessageEnded(block="m1", text="x", cut=True),
        ToolEnded(block="call_1", text="", error=ToolError(message=UNFINISHED_TOOL), cut=True),
        TurnIdle(aborted=True),
    ]


def test_a_failure_and_a_models_use_are_signals() -> None:
    error = raw("session.error", errorType="query", message=f"400 {SECRET}", statusCode=400)
    use = raw("assistant.usage", AGENT, model="x", inputTokens=10, outputTokens=5, cost=0.5)
    assert tell([error, use]) == [
        TurnFailed("query", f"400 {MASK}", 400),
        UsageSeen("x", 10, 5, 0.5, sub_agent=True),
    ]


def test_a_failure_without_a_reason_has_that_of_the_warning_before_it_in_its_turn() -> None:
    turn, idle = raw("user.message", content="hi"), raw("session.idle")
    warning = raw(
        "session.warning", warningType="x", message=f"The tools of {SECRET} are too many."
    )
    silent = raw("session.error", errorType="query", message="No response was returned. Retry.")
    other = raw("session.error", errorType="query", message="400 no")
    story = [warning, turn, silent, warning, silent, other, idle, turn, silent]
    failures = [one.message for one in tell(story) if isinstance(one, TurnFailed)]
    nothing = "No response was returned. Retry."
    assert failures == [nothing, f"The tools of {MASK} are too many.", "400 no", nothing]


def test_a_call_that_is_told_twice_is_counted_once() -> None:
    """By its place in its session: a service may give the same id to two calls."""

    def use(session: str, sequence: int) -> dict[str, Any]:
        told = {"sourceSessionId": session, "sequence": sequence, "usageId": "c1"}
        return raw("assistant.usage", model="x", inputTokens=1, accounting=told)

    calls = [use("one", 1), use("one", 2), use("one", 1), use("two", 1), use("one", 2)]
    assert tell(calls) == [UsageSeen("x", 1, 0, 0.0, sub_agent=False)] * 3


def test_another_model_is_named_once_a_turn_and_only_where_it_matters() -> None:
    change = raw("session.model_change", newModel="gpt-5-mini", cause="model_unavailable")
    answer = message("", model="gpt-5-mini")
    own = tell([change, answer])
    assert own == [ModelAnswered("gpt-5-mini")]
    idle = raw("session.idle")
    told = tell([change, answer, idle, answer], Translator(Redactor(), "gpt-4.1"))
    assert [event for event in told if isinstance(event, ModelReplaced)] == [
        ModelReplaced("gpt-4.1", "gpt-5-mini", "model_unavailable"),
        ModelReplaced("gpt-4.1", "gpt-5-mini", "another model answered"),
    ]


def test_a_switch_that_was_wanted_replaces_no_model() -> None:
    change = raw("session.model_change", newModel="auto", cause="rate_limit_auto_switch")
    told = tell([change, message("", model="gpt-5-mini")], Translator(Redactor(), "gpt-4.1"))
    assert told == [ModelAnswered("gpt-5-mini")]


@pytest.mark.parametrize(
    ("asked", "got", "same"),
    [
        ("gpt-4.1", "gpt-4.1-2025-04-14", True),
        ("claude-sonnet-4", "claude-sonnet-4-20250514", True),
        ("gpt-4.1", "GPT-4.1", True),
        ("auto", "anything", True),
        ("gpt-4.1", "gpt-4.1-mini", False),
        ("gpt-5", "gpt-5-mini", False),
    ],
)
def test_a_dated_release_is_the_model_that_was_asked_for(asked: str, got: str, same: bool) -> None:
    assert same_model(asked, got) is same


def test_unknown_and_malformed_events_are_counted_and_passed_over() -> None:
    translator = Translator(Redactor())
    odd: list[dict[str, Any]] = [
        raw("session.telepathy"),
        {"type": "assistant.message_delta"},
        {"type": "assistant.message_delta", "data": {"messageId": 3}},
        {"type": "assistant.message_delta", "data": None},
        {"type": "tool.execution_complete", "data": []},
        {},
    ]
    told = tell(odd, translator)
    assert told == []
    assert translator.close() == []
    assert translator.passed_over == {
        "session.telepathy": 1,
        "malformed assistant.message_delta": 3,
        "malformed tool.execution_complete": 1,
        "None": 1,
    }


def test_secrets_leave_texts_arguments_results_and_errors() -> None:
    start = started() | {"data": {**started()["data"], "arguments": {"key": [SECRET]}}}
    told = tell(
        [
            delta("It is correct-"),
            delta("horse-battery."),
            message(f"It is {SECRET}."),
            start,
            output(f"{SECRET}\n", 0),
            complete(f"{SECRET}\n"),
        ]
    )
    assert SECRET not in repr(told)
    [ended] = [event for event in told if isinstance(event, MessageEnded)]
    assert ended == MessageEnded(block="m1", text=f"It is {MASK}.")


PIECES = st.lists(st.sampled_from(["a", "gh", "p_", "secret ", SECRET, SECRET[:9], "\n", "ü"]))


@given(pieces=PIECES, rest=st.sampled_from(["", " more", SECRET]), other=st.booleans())
def test_the_deltas_of_every_block_add_up_to_its_end(
    pieces: list[str], rest: str, other: bool
) -> None:
    whole = "x" + "".join(pieces) + rest if other else "".join(pieces) + rest
    heard = [
        *(delta(piece) for piece in pieces),
        message(whole),
        started(),
        *(output(piece, place) for place, piece in enumerate(pieces)),
        complete(whole),
        raw("session.idle"),
    ]
    said: dict[str, str] = {}
    ended: dict[str, str] = {}
    for told in tell(heard):
        match told:
            case MessageStarted() | ToolStarted():
                assert told.block not in said
                said[told.block] = ""
            case MessageDelta() | ToolDelta():
                assert told.offset == len(said[told.block])
                assert told.text
                said[told.block] += told.text
            case MessageEnded() | ToolEnded():
                ended[told.block] = told.text
            case _:
                pass
    assert said == ended
    assert SECRET not in "".join(said.values())


def test_a_compaction_is_told_where_it_worked_and_was_the_agents_own() -> None:
    """LOOP-9: it arms the guard."""
    done = raw("session.compaction_complete", success=True)
    failed = raw("session.compaction_complete", success=False)
    told = tell([done, failed, {**done, "agentId": "helper"}])
    assert [type(said).__name__ for said in told] == [
        "Compacted",
        "CompactionEnded",
        "CompactionEnded",
    ]
    assert told[0] == Compacted()
