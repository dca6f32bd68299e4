"""What goes to the collector: spans in OTLP, without what is not to leave this machine."""

import base64
import json
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from google.protobuf.json_format import MessageToDict, Parse, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from airboss.telemetry_settings import RUNTIME_SCOPE

# A hundred for each session, of parts of a millisecond.
_NOISE: Final = "session.timing."
# Texts that say nothing about what is worked on. Numbers and yes or no always pass.
_HARMLESS: Final = frozenset(
    (
        "error.type",
        "gen_ai.agent.name",
        "gen_ai.conversation.id",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.response.finish_reasons",
        "gen_ai.response.id",
        "gen_ai.response.model",
        "gen_ai.token.type",
        "gen_ai.tool.call.id",
        "gen_ai.tool.name",
        "gen_ai.tool.type",
        "github.copilot.agent.type",
        "github.copilot.initiator",
        "github.copilot.interaction_id",
        "github.copilot.permission.kind",
        "github.copilot.permission.result",
        "github.copilot.session.timing.outcome",
        "github.copilot.session.timing.segment",
        "github.copilot.turn_id",
        "service.instance.id",
        "service.name",
        "service.version",
        "telemetry.sdk.language",
        "telemetry.sdk.name",
        "telemetry.sdk.version",
    )
)
_OURS: Final = "airboss."
_BINARY_IDS: Final = ("traceId", "spanId", "parentSpanId")
_TEXTS: Final = ("string_value", "bytes_value", "array_value", "kvlist_value")

Redact = Callable[[str], str]


class NotSpans(Exception):
    """What was sent to us is no OTLP."""


def of_the_runtime(body: bytes, redact: Redact, *, content: bool) -> ExportTraceServiceRequest:
    """What a runtime sent, as it may go on; empty where nothing of it is worth that."""
    try:
        sent = ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise NotSpans from error
    for resource in sent.resource_spans:
        _keep_harmless(resource.resource.attributes, redact, content=content)
        for scope in resource.scope_spans:
            wanted = [span for span in scope.spans if _is_wanted(scope.scope.name, span)]
            del scope.spans[:]
            for span in wanted:
                _clean(span, redact, content=content)
            scope.spans.extend(wanted)
            _keep_harmless(scope.scope.attributes, redact, content=content)
        kept = [scope for scope in resource.scope_spans if scope.spans]
        del resource.scope_spans[:]
        resource.scope_spans.extend(kept)
    resources = [resource for resource in sent.resource_spans if resource.scope_spans]
    return ExportTraceServiceRequest(resource_spans=resources)


def _is_wanted(scope: str, span: Span) -> bool:
    return scope == RUNTIME_SCOPE and not span.name.startswith(_NOISE)


def _clean(span: Span, redact: Redact, *, content: bool) -> None:
    span.name = redact(span.name)
    span.status.message = redact(span.status.message) if content else ""
    span.trace_state = ""
    _keep_harmless(span.attributes, redact, content=content)
    for event in span.events:
        _keep_harmless(event.attributes, redact, content=content)
    for link in span.links:
        _keep_harmless(link.attributes, redact, content=content)


def _keep_harmless(attributes: Any, redact: Redact, *, content: bool) -> None:
    kept = [one for one in cast("Iterable[KeyValue]", attributes) if content or _is_harmless(one)]
    for one in kept:
        _redact_value(one.value, redact)
    del attributes[:]
    attributes.extend(kept)


def _is_harmless(attribute: KeyValue) -> bool:
    if attribute.value.WhichOneof("value") not in _TEXTS:
        return True
    return attribute.key in _HARMLESS or attribute.key.startswith(_OURS)


def _redact_value(value: AnyValue, redact: Redact) -> None:
    match value.WhichOneof("value"):
        case "string_value":
            value.string_value = redact(value.string_value)
        case "bytes_value":
            value.ClearField("bytes_value")
        case "array_value":
            for one in value.array_value.values:
                _redact_value(one, redact)
        case "kvlist_value":
            for pair in value.kvlist_value.values:
                _redact_value(pair.value, redact)
        case _:
            pass


def count_spans(message: ExportTraceServiceRequest) -> int:
    return sum(len(s.spans) for resource in message.resource_spans for s in resource.scope_spans)


def as_json(message: ExportTraceServiceRequest) -> bytes:
    """OTLP writes ids in hexadecimal digits and enumerations as numbers, unlike protobuf's JSON."""
    said = MessageToDict(message, use_integers_for_enums=True)
    for resource in said.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                for place in (span, *span.get("links", ())):
                    for name in _BINARY_IDS:
                        if name in place:
                            place[name] = base64.b64decode(place[name]).hex()
    return json.dumps(said, separators=(",", ":")).encode()


def rejected_in(answer: bytes, *, is_json: bool) -> int:
    """How many spans a collector threw away that took the others. None where it does not say so:
    many answer with nothing."""
    said = ExportTraceServiceResponse()
    try:
        if is_json:
            Parse(answer, said, ignore_unknown_fields=True)
        else:
            said.ParseFromString(answer)
    except (DecodeError, ParseError, RecursionError, ValueError):
        return 0
    return max(said.partial_success.rejected_spans, 0)
