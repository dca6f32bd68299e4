"""A stand-in for the model's service on loopback: the agent runtime in front of it is the real one.

It speaks as one's own provider (`/v1/chat/completions`) and as Copilot's service (`/models`,
`/chat/completions`, …). What the model does is written in the prompt, so a test reads as a story:

    say WORD WORD …        one chunk a word             think TEXT ;; say …  reasoning first
    shell COMMAND          one bash call, then "done"   call NAME JSON       any tool call
    flood N                N chunks                     wait [WORD …]        words, then nothing
    fail STATUS            an HTTP error                agent PROMPT         a sub-agent
    break WORD … ;; say …  words, a cut connection, and at the second asking the rest
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from tests.runtime import mcp_server

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

USER: dict[str, Any] = {
    "login": "someone",
    "access_type_sku": "copilot_enterprise_seat_quota",
    "copilot_plan": "enterprise",
    "chat_enabled": True,
    "assigned_date": "2026-01-01T00:00:00Z",
    "quota_snapshots": {},
}

AUTO: dict[str, Any] = {
    "available_models": ["gpt-5-mini"],
    "selected_model": "gpt-5-mini",
    "session_token": "made-up",
    "discounted_costs": {},
}


def model(name: str) -> dict[str, Any]:
    limits = {
        "max_context_window_tokens": 128000,
        "max_output_tokens": 16000,
        "max_prompt_tokens": 112000,
    }
    return {
        "id": name,
        "name": name,
        "object": "model",
        "vendor": "stand-in",
        "version": name,
        "preview": False,
        "model_picker_enabled": True,
        "capabilities": {
            "family": name,
            "type": "chat",
            "tokenizer": "o200k_base",
            "limits": limits,
            "supports": {"streaming": True, "tool_calls": True, "parallel_tool_calls": True},
        },
        "supported_endpoints": ["/chat/completions"],
        "billing": {"is_premium": True, "multiplier": 1},
        "policy": {"state": "enabled", "terms": ""},
    }


@dataclass
class Stage:
    """The stand-in and what it saw."""

    models: tuple[str, ...] = ("claude-sonnet-4.5", "gpt-5-mini")
    answering: str | None = None
    tokens: list[str] = field(default_factory=list[str])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    refused: frozenset[str] = frozenset()
    # Tokens whose requests are too many: 429.
    limited: frozenset[str] = frozenset()
    # Models that are at their limit: 429, with a time that nobody waits for.
    busy: frozenset[str] = frozenset()
    # By token, the models that it is offered; else all.
    offered: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    broken: int = 0
    port: int = 0
    # Of GitHub's own MCP server: the methods that were asked of it, and the tools called.
    mcp_methods: list[str] = field(default_factory=list[str])
    mcp_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def provider(self) -> dict[str, Any]:
        return {"type": "openai", "base_url": f"{self.address}/v1", "api_key": "provider-key-123"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.tokens.append(headers.get("authorization", ""))
        body = await _body(receive)
        if self.tokens[-1].removeprefix("Bearer ") in self.refused:
            await _json(send, {"message": "Bad credentials"}, 401)
            return
        token = self.tokens[-1].removeprefix("Bearer ")
        if scope["path"].endswith("/chat/completions") and token in self.limited:
            await _json(send, {"error": {"message": "Too many."}}, 429, ("retry-after", "1"))
            return
        match scope["path"]:
            case "/models" | "/v1/models":
                offered = self.offered.get(token, self.models)
                await _json(send, {"data": [model(name) for name in offered]})
            case "/models/session":  # which model `auto` is
                await _json(send, {**AUTO, "expires_at": int(time.time()) + 3600})
            case "/copilot_internal/user":
                await _json(send, USER)
            case "/chat/completions" | "/v1/chat/completions":
                await self._complete(json.loads(body), send)
            case "/mcp/readonly" if body:
                asked = json.loads(body)
                self.mcp_methods.append(asked["method"])
                said = mcp_server.answer(asked, self.mcp_calls)
                await _json(send, said or {}, 202 if said is None else 200)
            case _:
                await _json(send, {"message": "Not Found"}, 404)

    async def _complete(self, asked: dict[str, Any], send: Send) -> None:
        self.requests.append(asked)
        if asked["model"] in self.busy:
            said = {"message": "Too many.", "code": "rate_limited"}
            await _json(send, {"error": said}, 429, ("retry-after", "600"))
            return
        verb, _, rest = _prompt(asked["messages"]).partition(" ")
        if verb == "fail":
            await _json(send, {"error": {"message": "The service said no."}}, int(rest))
            return
        head = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        name = self.answering or asked["model"]
        if verb == "break":
            words, _, after = rest.partition(" ;; ")
            self.broken += 1
            verb, _, rest = (f"cut {words}" if self.broken == 1 else after).partition(" ")
        frames = [_chunk(name, delta) for delta in _deltas(verb, rest, _answers(asked["messages"]))]
        for start in range(0, len(frames), _AT_ONCE):
            await _send(send, *frames[start : start + _AT_ONCE])
        if verb == "cut":
            return
        if verb == "wait":
            await asyncio.sleep(600)
        reason = "tool_calls" if verb in {"shell", "call", "agent"} else "stop"
        if _answers(asked["messages"]):
            reason = "stop"
        await _send(send, _chunk(name, {}, reason))
        await _send(send, {**_frame(name), "choices": [], "usage": _USAGE})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


_AT_ONCE = 20
_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _frame(name: str) -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": name}


def _deltas(verb: str, rest: str, answers: int) -> list[dict[str, Any]]:
    if answers:
        return [{"role": "assistant", "content": "done"}]
    match verb:
        case "shell":
            return [_call("bash", {"command": rest, "description": "as asked"})]
        case "call":
            name, _, arguments = rest.partition(" ")
            return [_call(name, json.loads(arguments))]
        case "agent":
            task = {"agent_type": "general-purpose", "name": "helper", "description": "help"}
            return [_call("task", {**task, "prompt": rest, "mode": "sync"})]
        case "flood":
            return [{"content": f"abcdefghij{place} "} for place in range(int(rest))]
        case "think":
            thought, _, said = rest.partition(" ;; ")
            thoughts = [{"reasoning_text": word + " "} for word in thought.split()]
            verb, _, rest = said.partition(" ")
            return [*thoughts, *_deltas(verb, rest, answers)]
        case "say" | "wait" | "cut":
            return [{"role": "assistant", "content": word + " "} for word in rest.split()]
        case _:
            return [{"role": "assistant", "content": "Hello"}, {"content": " there"}]


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}


def _prompt(messages: list[dict[str, Any]]) -> str:
    """The last request; the runtime puts the time before it."""
    asked = [message["content"] for message in messages if message["role"] == "user"][-1]
    text = asked if isinstance(asked, str) else "".join(part.get("text", "") for part in asked)
    return text.rpartition("</current_datetime>")[2].strip().partition("\n")[0]


def _answers(messages: list[dict[str, Any]]) -> int:
    """How often the model has spoken since the last request."""
    roles = [message["role"] for message in messages]
    last = len(roles) - roles[::-1].index("user")
    return roles[last:].count("assistant")


def _chunk(name: str, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {**_frame(name), "choices": [choice]}


async def _send(send: Send, *frames: dict[str, Any]) -> None:
    lines = "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames)
    await send({"type": "http.response.body", "body": lines.encode(), "more_body": True})


async def _json(send: Send, answer: object, status: int = 200, *more: tuple[str, str]) -> None:
    head = [(b"content-type", b"application/json")]
    head += [(name.encode(), value.encode()) for name, value in more]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


async def _body(receive: Receive) -> bytes:
    whole = b""
    while True:
        message = await receive()
        whole += message.get("body", b"")
        if not message.get("more_body"):
            return whole


@asynccontextmanager
async def on_stage(stage: Stage) -> AsyncGenerator[Stage]:
    """Serve `stage` on a free port of the loopback while the block lasts."""
    config = uvicorn.Config(
        stage, host="127.0.0.1", port=0, log_level="critical", lifespan="off", ws="none"
    )
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server._serve())  # pyright: ignore[reportPrivateUsage]  # no signals
        while not server.started:  # noqa: ASYNC110  # it has no event for this
            await asyncio.sleep(0.01)
        stage.port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield stage
        finally:
            server.should_exit = True
