"""Where work stands in a trace, as the W3C writes it. OpenTelemetry is not mentioned here.

The ids of spans are made of our own ids: whoever goes on with a run after a crash goes on with its
trace, and nothing about that has to be written down.
"""

import hashlib
import re
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

_HEADER: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_INVALID_VERSION: Final = "ff"


@dataclass(frozen=True)
class TraceContext:
    """One span of a trace, which others begin below."""

    trace: str
    span: str
    sampled: bool = True

    def __str__(self) -> str:
        return f"00-{self.trace}-{self.span}-{'01' if self.sampled else '00'}"

    def below(self, name: str) -> "TraceContext":
        return TraceContext(self.trace, span_id(name), self.sampled)


def read_trace(header: str | None) -> TraceContext | None:
    """A `traceparent`; nothing where it is none."""
    found = _HEADER.fullmatch((header or "").strip())
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    is_known = version == "00" and more is None
    if version == _INVALID_VERSION or not (is_known or version > "00"):
        return None
    if not int(trace, 16) or not int(span, 16):
        return None
    return TraceContext(trace, span, bool(int(flags, 16) & 1))


def trace_of(name: str, parent: str | TraceContext | None) -> TraceContext:
    """Of what has this id: below its parent, or at the beginning of a trace of its own."""
    above = parent if isinstance(parent, TraceContext) else read_trace(parent)
    return above.below(name) if above else TraceContext(_hex(name, 16), span_id(name))


def attempt_of(run: TraceContext, time: int) -> TraceContext:
    """Where a run stands in its trace: each retry of it is a span of its own."""
    return run if time == 1 else run.below(f"{run.span}@{time}")


def span_id(name: str) -> str:
    return _hex(f"span {name}", 8)


def _hex(name: str, length: int) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[: 2 * length]


# What is being worked on. Nothing where nobody traces.
current_trace: ContextVar[TraceContext | None] = ContextVar("current_trace", default=None)


@contextmanager
def traced(trace: TraceContext | None) -> Generator[None]:
    """All that is done inside belongs to it."""
    before = current_trace.set(trace)
    try:
        yield
    finally:
        current_trace.reset(before)


def asked_in() -> str | None:
    """For whoever writes down what was asked for."""
    trace = current_trace.get()
    return trace and str(trace)
