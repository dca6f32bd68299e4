"""Where work stands in a trace: read, derived, and the same after a crash."""

import pytest

from airboss.model.traces import (
    TraceContext,
    asked_in,
    attempt_of,
    current_trace,
    read_trace,
    trace_of,
    traced,
)

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_traceparent_is_read_and_written() -> None:
    header = f"00-{TRACE}-{SPAN}-01"
    assert read_trace(header) == TraceContext(TRACE, SPAN)
    assert str(read_trace(header)) == header
    assert read_trace(f" {header[:-1]}0 ") == TraceContext(TRACE, SPAN, sampled=False)
    assert read_trace(f"cc-{TRACE}-{SPAN}-03-later") == TraceContext(TRACE, SPAN)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "nonsense",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}",
    ],
)
def test_what_is_no_traceparent_is_nothing(header: str | None) -> None:
    assert read_trace(header) is None


def test_ids_are_the_same_whoever_makes_them_and_different_for_others() -> None:
    above = TraceContext(TRACE, SPAN, sampled=False)
    below = trace_of("run_1", above)
    assert below == trace_of("run_1", str(above))
    assert (below.trace, below.sampled) == (TRACE, False)
    alone = trace_of("run_1", None)
    assert alone == trace_of("run_1", "nonsense") != trace_of("run_2", None)
    assert alone.trace != TRACE
    retried = attempt_of(alone, 2)
    assert (retried.trace, attempt_of(alone, 1)) == (alone.trace, alone)
    assert retried.span not in (alone.span, attempt_of(alone, 3).span)
    assert read_trace(str(alone)) == alone


def test_what_is_done_inside_belongs_to_it() -> None:
    assert asked_in() is None
    with traced(TraceContext(TRACE, SPAN)):
        assert asked_in() == f"00-{TRACE}-{SPAN}-01"
        with traced(None):
            assert asked_in() is None
    assert current_trace.get() is None
