"""Spans as OpenTelemetry's SDK makes them, with the ids that are known before."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from airboss.telemetry.story import EndedSpan

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_MS: Final = 1_000_000
_LONGEST_TEXT: Final = 32 * 1024
_LIMITS: Final = SpanLimits(max_attribute_length=_LONGEST_TEXT)


class _KnownIds(IdGenerator):
    """Gives the ids that were put into it."""

    trace = span = 0

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span


class _Collected(SpanProcessor):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


class SpanMaker:
    """Makes spans of what has ended. What its trace does not sample is left out."""

    def __init__(self, version: str) -> None:
        self._ids, self._made = _KnownIds(), _Collected()
        python = ".".join(str(part) for part in sys.version_info[:3])
        resource = Resource(
            {
                "service.name": "airboss",
                "service.version": version,
                "telemetry.sdk.name": "opentelemetry",
                "telemetry.sdk.language": "python",
                "process.runtime.version": python,
            }
        )
        provider = TracerProvider(
            resource=resource,
            id_generator=self._ids,
            span_limits=_LIMITS,
            shutdown_on_exit=False,
        )
        provider.add_span_processor(self._made)
        self._tracer = provider.get_tracer("airboss", version)

    def encoded(self, ended: Iterable[EndedSpan]) -> "ExportTraceServiceRequest":
        for span in ended:
            self._make(span)
        made, self._made.spans = self._made.spans, []
        return encode_spans(made)

    def _make(self, ended: EndedSpan) -> None:
        if not ended.context.sampled:
            return
        self._ids.trace = int(ended.context.trace, 16)
        self._ids.span = int(ended.context.span, 16)
        span = self._tracer.start_span(
            ended.name,
            context=_context(ended),
            attributes=dict(ended.attributes),
            start_time=ended.began * _MS,
        )
        if ended.failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end_time=max(ended.began, ended.ended) * _MS)


def _context(ended: EndedSpan) -> "Context":
    """Below its parent; at the root of its trace where it has none."""
    parent = int(ended.parent or "0", 16)
    trace = int(ended.context.trace, 16) if parent else 0
    above = SpanContext(trace, parent, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(above))
