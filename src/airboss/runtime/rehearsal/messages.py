"""Anthropic's messages: text, thoughts and calls are blocks of a message."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field, JsonValue

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
)

# Thoughts are signed by the service; nobody checks that of ours.
_SIGNATURE = "rehearsed"


class Block(BaseModel):
    """A text, an image, a call of a tool, or what came of one. Thoughts are passed over."""

    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, JsonValue] = Field(default_factory=dict)
    content: "str | list[Block] | None" = None


class MessageTurn(BaseModel):
    role: str
    content: str | list[Block]


class MessagesRequest(BaseModel):
    model: str
    messages: list[MessageTurn] = Field(min_length=1)
    system: str | list[Block] | None = None
    stream: bool = False


def _read(content: dict[str, Any]) -> ModelRequest:
    asked = MessagesRequest.model_validate(content)
    system = [Message(role="system", content=_texts(asked.system))] if asked.system else []
    messages = [message for turn in asked.messages for message in _messages(turn)]
    return ModelRequest(asked.model, [*system, *messages], asked.stream)


def _messages(turn: MessageTurn) -> Iterator[Message]:
    """As chat completions have them: what came of a tool is a message by itself."""
    if isinstance(turn.content, str):
        yield Message(role=turn.role, content=turn.content)
        return
    results = [block for block in turn.content if block.type == "tool_result"]
    for block in results:
        yield Message(role="tool", content=_texts(block.content))
    calls = [_call(block) for block in turn.content if block.type == "tool_use"]
    parts = [
        MessagePart(type=block.type, text=block.text)
        for block in turn.content
        if block.type in ("text", "image", "document")
    ]
    if parts or calls:
        yield Message(role=turn.role, content=parts, tool_calls=calls or None)


def _call(block: Block) -> MessageToolCall:
    function = Function(name=block.name, arguments=json.dumps(block.input))
    return MessageToolCall(id=block.id, function=function)


def _texts(content: str | list[Block] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    return "\n".join(block.text for block in content if block.type == "text")


def _stream(answer: Answer, pace: Pace) -> Iterator[Frame]:
    begun = {**_message(answer, []), "stop_reason": None}
    yield named_event({"type": "message_start", "message": begun})
    piece: Template | None = None
    for beat in pace.play(answer):
        match beat:
            case TextBegun():
                yield _begun(beat.number, _text_block(beat.kind, ""))
                piece = _template(beat)
            case TextPiece() if piece:
                yield piece.filled(beat.text)
            case TextPiece():
                raise ValueError("A text has to begin before it goes on.")
            case TextEnded():
                if beat.kind == "reasoning":
                    signed = {"type": "signature_delta", "signature": _SIGNATURE}
                    yield _delta(beat.number, signed)
                yield named_event({"type": "content_block_stop", "index": beat.number})
            case Wait():
                yield beat
            case Cut():
                yield beat
                return
    for number, call in enumerate(answer.calls(), len(answer.texts())):
        yield _begun(number, {**_call_block(call), "input": {}})
        yield _delta(number, {"type": "input_json_delta", "partial_json": call.json})
        yield named_event({"type": "content_block_stop", "index": number})
    stop = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
    usage = {"output_tokens": answer.completion_tokens}
    yield named_event({"type": "message_delta", "delta": stop, "usage": usage})
    yield named_event({"type": "message_stop"})


def _whole(answer: Answer) -> dict[str, Any]:
    texts = [_text_block(kind, text) for kind, text in answer.texts()]
    return _message(answer, [*texts, *map(_call_block, answer.calls())])


def _begun(number: int, block: dict[str, Any]) -> bytes:
    return named_event({"type": "content_block_start", "index": number, "content_block": block})


def _delta(number: int, delta: dict[str, Any]) -> bytes:
    return named_event({"type": "content_block_delta", "index": number, "delta": delta})


def _template(text: TextBegun) -> Template:
    kind = "text" if text.kind == "text" else "thinking"
    return Template(lambda letters: _delta(text.number, {"type": f"{kind}_delta", kind: letters}))


def _text_block(kind: TextKind, text: str) -> dict[str, Any]:
    if kind == "text":
        return {"type": "text", "text": text}
    return {"type": "thinking", "thinking": text, "signature": _SIGNATURE if text else ""}


def _call_block(call: SentCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}


def _stop_reason(answer: Answer) -> str:
    return "tool_use" if answer.reply.calls else "end_turn"


def _message(answer: Answer, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.name}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": _stop_reason(answer),
        "stop_sequence": None,
        "usage": {"input_tokens": answer.prompt_tokens, "output_tokens": answer.completion_tokens},
    }


def _refusal(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": code, "message": message}}


MESSAGES = Wire(_read, _stream, _whole, _refusal)
