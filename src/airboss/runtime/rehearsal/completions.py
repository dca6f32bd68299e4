"""OpenAI's chat completions, which Azure has too."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field

from airboss.runtime.rehearsal.conversation import Message
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
    refusal,
    unnamed_event,
)

DONE = b"data: [DONE]\n\n"
_FIELDS: dict[TextKind, str] = {"reasoning": "reasoning_text", "text": "content"}


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    model: str
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None


def _read(content: dict[str, Any]) -> ModelRequest:
    asked = ChatRequest.model_validate(content)
    apart = bool(asked.stream_options and asked.stream_options.include_usage)
    return ModelRequest(asked.model, asked.messages, asked.stream, apart)


def _stream(answer: Answer, pace: Pace) -> Iterator[Frame]:
    """One chunk for each piece of text, with the waits between."""
    yield _delta(answer, {"role": "assistant"})
    texts = {kind: _template(answer, name) for kind, name in _FIELDS.items()}
    for beat in pace.play(answer):
        match beat:
            case TextPiece():
                yield texts[beat.kind].filled(beat.text)
            case TextBegun() | TextEnded():
                pass
            case Wait():
                yield beat
            case Cut():
                yield beat
                return
    for number, call in enumerate(answer.calls()):
        yield _delta(answer, {"tool_calls": [{"index": number, **_tool_call(call)}]})
    end: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": _finish_reason(answer)}
    if answer.usage_apart:
        yield _chunk(answer, [end])
        yield _chunk(answer, [], usage=_usage(answer))
    else:
        yield _chunk(answer, [end], usage=_usage(answer))
    yield DONE


def _whole(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.spoken("text") or None}
    if reasoning := answer.spoken("reasoning"):
        message["reasoning_text"] = reasoning
    if answer.reply.calls:
        message["tool_calls"] = [_tool_call(call) for call in answer.calls()]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(answer)}
    return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def _template(answer: Answer, name: str) -> Template:
    return Template(lambda text: _delta(answer, {name: text}))


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    named = {"id": f"chatcmpl-{answer.name}", "object": kind}
    return {**named, "created": answer.created, "model": answer.model}


def _chunk(answer: Answer, choices: list[dict[str, Any]], **more: Any) -> bytes:
    head = _head(answer, "chat.completion.chunk")
    return unnamed_event({**head, "choices": choices, **more})


def _delta(answer: Answer, delta: dict[str, Any]) -> bytes:
    return _chunk(answer, [{"index": 0, "delta": delta, "finish_reason": None}])


def _finish_reason(answer: Answer) -> str:
    return "tool_calls" if answer.reply.calls else "stop"


def _tool_call(call: SentCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.json}
    return {"id": call.id, "type": "function", "function": function}


def _usage(answer: Answer) -> dict[str, int]:
    read, wrote = answer.prompt_tokens, answer.completion_tokens
    return {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}


COMPLETIONS = Wire(_read, _stream, _whole, refusal)
