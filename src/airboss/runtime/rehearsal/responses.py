"""OpenAI's responses: a request is a list of items, and so is an answer."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, Field

from airboss.runtime.rehearsal.conversation import (
    Function,
    Message,
    MessagePart,
    MessageToolCall,
)
from airboss.runtime.rehearsal.wire import (
    Answer,
    Cut,
    Frame,
    ModelRequest,
    Pace,
    SentCall,
    Template,
    TextBegun,
    TextEnded,
    TextKind,
    TextPiece,
    Wait,
    Wire,
    named_event,
    refusal,
)

_TEXTS = frozenset({"input_text", "output_text", "text"})
_DELTAS: dict[TextKind, str] = {
    "reasoning": "response.reasoning_summary_text",
    "text": "response.output_text",
}


class ResponseItem(BaseModel):
    """A message, a call of a tool, or what came of one. Others are passed over."""

    type: str = "message"
    role: str = ""
    content: str | list[MessagePart] | None = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""


class ResponsesRequest(BaseModel):
    model: str
    input: str | list[ResponseItem] = Field(min_length=1)
    instructions: str | None = None
    stream: bool = False


def _read(content: dict[str, Any]) -> ModelRequest:
    asked = ResponsesRequest.model_validate(content)
    given = (
        [ResponseItem(role="user", content=asked.input)]
        if isinstance(asked.input, str)
        else asked.input
    )
    system = [Message(role="system", content=asked.instructions)] if asked.instructions else []
    return ModelRequest(asked.model, [*system, *_messages(given)], asked.stream)


def _messages(items: Sequence[ResponseItem]) -> Iterator[Message]:
    """As chat completions have them: the calls of a reply belong to its message."""
    reply: Message | None = None
    for item in items:
        if item.type == "message" and item.role == "assistant":
            if reply is not None:
                yield reply
            reply = Message(role="assistant", content=_parts(item))
        elif item.type == "function_call":
            call = MessageToolCall(
                id=item.call_id, function=Function(name=item.name, arguments=item.arguments)
            )
            reply = reply or Message(role="assistant")
            reply = reply.model_copy(update={"tool_calls": [*(reply.tool_calls or []), call]})
        elif item.type in ("message", "function_call_output"):
            if reply is not None:
                yield reply
            reply = None
            yield Message(role=item.role or "tool", content=_parts(item))
    if reply is not None:
        yield reply


def _parts(item: ResponseItem) -> str | list[MessagePart] | None:
    if not isinstance(item.content, list):
        return item.content
    return [
        part.model_copy(update={"type": "text"}) if part.type in _TEXTS else part
        for part in item.content
    ]


def _stream(answer: Answer, pace: Pace) -> Iterator[Frame]:
    yield named_event(
        {"type": "response.created", "response": _response(answer, "in_progress", [])}
    )
    output: list[dict[str, Any]] = []
    piece: Template | None = None
    for beat in pace.play(answer):
        match beat:
            case TextBegun():
                yield from _opened(answer, beat)
                piece = _template(answer, beat)
            case TextPiece() if piece:
                yield piece.filled(beat.text)
            case TextPiece():
                raise ValueError("A text has to begin before it goes on.")
            case TextEnded():
                output.append(_text_item(answer, beat.kind, beat.number, beat.text))
                yield from _closed(answer, beat, output[-1])
            case Wait():
                yield beat
            case Cut():
                yield beat
                return
    for call in answer.calls():
        number = len(output)
        output.append(_call_item(call))
        yield from _called(call, number, output[-1])
    done = _response(answer, "completed", output)
    yield named_event({"type": "response.completed", "response": done})


def _whole(answer: Answer) -> dict[str, Any]:
    texts = [
        _text_item(answer, kind, number, text) for number, (kind, text) in enumerate(answer.texts())
    ]
    return _response(answer, "completed", [*texts, *map(_call_item, answer.calls())])


def _opened(answer: Answer, text: TextBegun) -> Iterator[bytes]:
    place = _place(answer, text.kind, text.number)
    item = _text_item(answer, text.kind, text.number, None)
    index = place["output_index"]
    yield named_event({"type": "response.output_item.added", "output_index": index, "item": item})
    kind = "content" if text.kind == "text" else "reasoning_summary"
    yield named_event(
        {"type": f"response.{kind}_part.added", **place, "part": _part(text.kind, "")}
    )


def _template(answer: Answer, text: TextBegun) -> Template:
    place, kind = _place(answer, text.kind, text.number), f"{_DELTAS[text.kind]}.delta"
    return Template(lambda letters: named_event({"type": kind, **place, "delta": letters}))


def _closed(answer: Answer, text: TextEnded, item: dict[str, Any]) -> Iterator[bytes]:
    place = _place(answer, text.kind, text.number)
    yield named_event({"type": f"{_DELTAS[text.kind]}.done", **place, "text": text.text})
    kind = "content" if text.kind == "text" else "reasoning_summary"
    part = _part(text.kind, text.text)
    yield named_event({"type": f"response.{kind}_part.done", **place, "part": part})
    index = place["output_index"]
    yield named_event({"type": "response.output_item.done", "output_index": index, "item": item})


def _called(call: SentCall, number: int, item: dict[str, Any]) -> Iterator[bytes]:
    begun = {**item, "arguments": "", "status": "in_progress"}
    place = {"item_id": item["id"], "output_index": number}
    yield named_event({"type": "response.output_item.added", "output_index": number, "item": begun})
    kind = "response.function_call_arguments"
    yield named_event({"type": f"{kind}.delta", **place, "delta": call.json})
    yield named_event({"type": f"{kind}.done", **place, "arguments": call.json})
    yield named_event({"type": "response.output_item.done", "output_index": number, "item": item})


def _place(answer: Answer, kind: TextKind, number: int) -> dict[str, Any]:
    index = "content_index" if kind == "text" else "summary_index"
    return {"item_id": _item_id(answer, kind, number), "output_index": number, index: 0}


def _item_id(answer: Answer, kind: TextKind, number: int) -> str:
    return f"{'msg' if kind == 'text' else 'rs'}_{answer.name}_{number}"


def _text_item(answer: Answer, kind: TextKind, number: int, text: str | None) -> dict[str, Any]:
    """Without a text it has just begun."""
    parts = [] if text is None else [_part(kind, text)]
    named = {"id": _item_id(answer, kind, number)}
    if kind == "reasoning":
        return {"type": "reasoning", **named, "summary": parts}
    status = "in_progress" if text is None else "completed"
    return {
        "type": "message",
        **named,
        "status": status,
        "role": "assistant",
        "content": parts,
    }


def _part(kind: TextKind, text: str) -> dict[str, Any]:
    if kind == "reasoning":
        return {"type": "summary_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": []}


def _call_item(call: SentCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{call.id}",
        "call_id": call.id,
        "name": call.tool,
        "arguments": call.json,
        "status": "completed",
    }


def _response(answer: Answer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    read, wrote = answer.prompt_tokens, answer.completion_tokens
    usage = {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": wrote,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + wrote,
    }
    return {
        "id": f"resp_{answer.name}",
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "model": answer.model,
        "output": output,
        "usage": usage if status == "completed" else None,
    }


RESPONSES = Wire(_read, _stream, _whole, refusal)
