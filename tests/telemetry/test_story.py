"""What the events of a stream say as spans, and what of the runtime's spans goes on."""

import subprocess
import sys

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from airboss.model.events import (
    Event,
    Recorded,
    ToolEnded,
    ToolError,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from airboss.model.ids import PromptId, TurnId
from airboss.model.prompt_events import PromptAccepted
from airboss.model.run_events import RunAccepted, RunEnded, RunResumed, RunRetried
from airboss.model.traces import read_trace, trace_of
from airboss.telemetry.spans import SpanMaker
from airboss.telemetry.story import EndedSpan, StreamStory
from airboss.telemetry.wire import NotSpans, count_spans, of_the_runtime

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def told(story: StreamStory, *events: Event) -> list[EndedSpan]:
    spans = [story.hear(Recorded.of(n, n * 100, event)) for n, event in enumerate(events, 1)]
    return [span for span in spans if span]


def accepted(trace: str | None) -> RunAccepted:
    return RunAccepted(
        job="build", entry="e", cwd="/secret/place", user_input="mine", who="me", trace=trace
    )


def test_each_attempt_of_a_run_is_a_span_of_its_trace() -> None:
    failed = RunEnded(outcome="failed", reason="mine too")
    events = (
        accepted(GIVEN),
        RunResumed(reason="x"),
        failed,
        RunRetried(time=2, who="me"),
        RunEnded(outcome="succeeded", reason=""),
    )
    first, second = told(StreamStory("run_1"), *events)
    assert (first.name, first.failed, first.began, first.ended) == ("run build", True, 100, 300)
    assert first.context == trace_of("run_1", GIVEN)
    assert {first.parent, second.parent} == {read_trace(GIVEN).span}  # type: ignore[union-attr]
    assert (second.began, second.failed, second.attributes["airboss.attempt"]) == (400, False, 2)
    assert second.context.trace == first.context.trace
    assert second.context.span != first.context.span
    assert "mine" not in repr(first)
    assert "/secret" not in repr(first)
    open_minded = told(StreamStory("run_1", content=True), *events)[0]
    assert open_minded.attributes["airboss.input"] == "mine"


def test_calls_of_a_sub_agent_are_below_the_call_that_made_it() -> None:
    turn = TurnId("trn_1")
    spans = told(
        StreamStory("ses_1"),
        PromptAccepted(prompt=PromptId("prm_1"), text="words", who="me"),
        TurnStarted(turn=turn, prompt=PromptId("prm_1")),
        ToolStarted(block="a", name="task", arguments="{}"),
        ToolStarted(block="b", parent="a", name="view", arguments='{"path": "/secret"}'),
        ToolEnded(block="b", text="words", error=ToolError(message="words")),
        ToolEnded(block="a", text="words"),
        ToolEnded(block="never begun", text=""),
        TurnEnded(turn=turn, outcome="done"),
        TurnEnded(turn=turn, outcome="done"),
    )
    assert [span.name for span in spans] == ["tool view", "tool task", "turn"]
    view, task, whole = spans
    assert (view.parent, task.parent) == (task.context.span, whole.context.span)
    assert (whole.parent, whole.context) == (None, trace_of(turn, None))
    assert (view.failed, task.failed, whole.failed) == (True, False, False)
    assert "words" not in repr(spans)
    assert "/secret" not in repr(spans)


def test_what_a_trace_does_not_sample_is_left_out() -> None:
    spans = told(
        StreamStory("run_1"), accepted(GIVEN[:-1] + "0"), RunEnded(outcome="failed", reason="")
    )
    assert len(spans) == 1
    assert count_spans(SpanMaker("1").encoded(spans)) == 0


def test_of_the_runtimes_spans_numbers_and_names_go_on_and_no_texts() -> None:
    def text(key: str, value: str) -> KeyValue:
        return KeyValue(key=key, value=AnyValue(string_value=value))

    span = Span(name="chat m", status=Status(message="at /home/me: token"), trace_id=b"1" * 16)
    span.attributes.extend(
        [
            text("gen_ai.input.messages", "private"),
            text("gen_ai.request.model", "m"),
            text("brand.new", "private"),
            KeyValue(key="brand.new.count", value=AnyValue(int_value=3)),
        ]
    )
    span.events.add(name="exception").attributes.append(text("exception.message", "private"))
    noise, other = Span(name="session.timing.x"), Span(name="of a program of the agent's")
    scope = InstrumentationScope(name="airboss.runtime")
    sent = ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                scope_spans=[
                    ScopeSpans(scope=scope, spans=[span, noise]),
                    ScopeSpans(scope=InstrumentationScope(name="pytest"), spans=[other]),
                ]
            )
        ]
    ).SerializeToString()
    kept = of_the_runtime(sent, lambda said: said, content=False)
    assert count_spans(kept) == 1
    assert b"private" not in kept.SerializeToString()
    assert b"/home" not in kept.SerializeToString()
    one = kept.resource_spans[0].scope_spans[0].spans[0]
    assert [a.key for a in one.attributes] == ["gen_ai.request.model", "brand.new.count"]
    whole = of_the_runtime(sent, lambda said: said.replace("token", "***"), content=True)
    assert b"private" in whole.SerializeToString()
    assert b"token" not in whole.SerializeToString()
    with pytest.raises(NotSpans):
        of_the_runtime(b"nonsense", str, content=False)


def test_opentelemetrys_sdk_is_not_imported_where_nobody_traces() -> None:
    # FastAPI imports the API of OpenTelemetry wherever that is installed.
    check = (
        "import sys, airboss.app, airboss.http.api, airboss.runtime.sdk as sdk; sdk.load_sdk();"
        "from airboss.runtime.sdk_internals import tell_traces; tell_traces(lambda: None);"
        "import copilot.client; copilot.client.get_trace_context();"
        "heavy = 'opentelemetry.sdk', 'opentelemetry.proto', 'google.protobuf';"
        "assert not [name for name in sys.modules if name.startswith(heavy)]"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
