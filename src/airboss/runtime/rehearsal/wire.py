"""OpenAI's chat completions: what a request looks like, and a reply as the bytes of its answer."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, TypeAlias

from pydantic import BaseModel, Field

from airboss.runtime.rehearsal.conversation import Message
from airboss.runtime.rehearsal.player import Drop, FilledCall, PlayedText, Reason, Reply, Sleep
from airboss.runtime.rehearsal.script import RehearsalModel

DONE = b"data: [DONE]\n\n"


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    model: str
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None


@dataclass(frozen=True)
class Wait:
    """Nothing is sent for so long."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """The connection ends here, in the middle of the answer."""


Frame: TypeAlias = bytes | Wait | Cut


@dataclass(frozen=True)
class Answer:
    """A reply on its way to whoever asked for it."""

    reply: Reply
    model: str
    prompt_tokens: int
    id: str = field(default_factory=lambda: f"chatcmpl-{token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.reply.calls else "stop"

    @property
    def usage(self) -> dict[str, int]:
        letters = sum(len(b.text) for b in self.reply.beats if isinstance(b, Reason | PlayedText))
        letters += sum(len(json.dumps(call.arguments)) for call in self.reply.calls)
        completion = letters // 4 + 1
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
        }

    def tool_calls(self) -> list[dict[str, Any]]:
        return [self.tool_call(number, call) for number, call in enumerate(self.reply.calls)]

    def tool_call(self, number: int, call: FilledCall) -> dict[str, Any]:
        return {
            "index": number,
            "id": f"call_{self.reply.rule}_{self.reply.number}_{token_hex(4)}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
        }

    def chunk(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created}
        return event({**head, "model": self.model, "choices": choices, **more})

    def delta(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        return self.chunk([{"index": 0, "delta": delta, "finish_reason": finish_reason}])


def stream(answer: Answer, chunk_chars: int, pause: float, usage_apart: bool) -> Iterator[Frame]:
    """The answer as server-sent events, one for each chunk of text, with the waits between."""
    yield answer.delta({"role": "assistant"})
    text = {
        kind: answer.delta({kind: "\0"}).split(b'"\\u0000"')
        for kind in ("reasoning_text", "content")
    }
    for beat in answer.reply.beats:
        match beat:
            case Sleep(seconds):
                yield Wait(seconds)
            case Drop():
                yield Cut()
                return
            case Reason(words) | PlayedText(words):
                before, after = text[
                    "content" if isinstance(beat, PlayedText) else "reasoning_text"
                ]
                for start in range(0, len(words), chunk_chars):
                    piece = json.dumps(words[start : start + chunk_chars]).encode()
                    yield before + piece + after
                    if pause:
                        yield Wait(pause)
    for call in answer.tool_calls():
        yield answer.delta({"tool_calls": [call]})
    end: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": answer.finish_reason}
    if usage_apart:
        yield answer.chunk([end])
        yield answer.chunk([], usage=answer.usage)
    else:
        yield answer.chunk([end], usage=answer.usage)
    yield DONE


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": spoken(answer, PlayedText) or None}
    if reasoning := spoken(answer, Reason):
        message["reasoning_text"] = reasoning
    if answer.reply.calls:
        calls = answer.tool_calls()
        message["tool_calls"] = [{k: v for k, v in c.items() if k != "index"} for c in calls]
    return {
        "id": answer.id,
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
        "usage": answer.usage,
    }


def spoken(answer: Answer, kind: type[Reason] | type[PlayedText]) -> str:
    return "".join(beat.text for beat in answer.reply.beats if isinstance(beat, kind))


def event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content).encode() + b"\n\n"


def model_list(models: tuple[RehearsalModel, ...]) -> dict[str, Any]:
    known = {"object": "model", "created": 0, "owned_by": "rehearsal"}
    return {"object": "list", "data": [known | model.model_dump() for model in models]}


def refusal(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "rehearsal", "code": code}}
