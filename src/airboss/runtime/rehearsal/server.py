"""The rehearsal model on loopback: an ASGI app that plays a script, and the server around it."""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any, Self

from pydantic import ValidationError

from airboss.net.loopback import HOST, Peer, Receive, Scope, Send, listen, served
from airboss.runtime.rehearsal import wire
from airboss.runtime.rehearsal.completions import COMPLETIONS
from airboss.runtime.rehearsal.conversation import RehearsedConversation, read, weigh
from airboss.runtime.rehearsal.ledger import PlayLedger
from airboss.runtime.rehearsal.messages import MESSAGES
from airboss.runtime.rehearsal.player import (
    Drop,
    Reply,
    Sleep,
    continued,
    errand,
    focused,
    matching,
    play,
)
from airboss.runtime.rehearsal.responses import RESPONSES
from airboss.runtime.rehearsal.script import Script

BODY_LIMIT = 64 * 1024 * 1024
# Azure puts the name of a deployment into the path, or has the same paths below another root.
ROUTE = re.compile(
    r"/(?:openai/(?:deployments/[^/]+|v1)|v1)/(models|chat/completions|responses|messages)"
)
WIRES = {"chat/completions": COMPLETIONS, "responses": RESPONSES, "messages": MESSAGES}
# What makes a request another one, whatever its wire.
_SAYING = ("model", "messages", "input", "instructions", "system")
BATCH = 32  # chunks for one write: enough to be fast, few enough to let others in between


class RehearsalRefused(Exception):
    """An answer that is not a reply."""

    def __init__(self, status: int, message: str, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Gone(Exception):
    """Nobody listens any more."""


class Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.method, self.path = str(scope["method"]), str(scope["path"])
        found = ROUTE.fullmatch(self.path)
        # What is asked for, whoever's path it is; nothing where there is no such path.
        self.what = found[1] if found else ""
        self.peer: Peer = scope["client"]
        self._receive = receive
        self._send = send

    @property
    def key(self) -> str:
        """As OpenAI, Azure or Anthropic send it."""
        scheme, _, key = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return key
        return self.headers.get("api-key") or self.headers.get("x-api-key") or ""

    async def body(self) -> bytes:
        body = bytearray()
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Gone
            body += message.get("body", b"")
            if len(body) > BODY_LIMIT:
                raise RehearsalRefused(413, f"A request may have {BODY_LIMIT} bytes.", "too_large")
            more = message.get("more_body", False)
        return bytes(body)

    async def answer(self, status: int, content: dict[str, Any]) -> None:
        await self.start(status, b"application/json")
        await self.write(json.dumps(content).encode(), more=False)

    async def start(self, status: int, kind: bytes) -> None:
        headers = [(b"content-type", kind), (b"cache-control", b"no-store")]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, body: bytes, more: bool = True) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def wait(self, seconds: float) -> None:
        """Sleep, unless the other side leaves."""
        try:
            async with asyncio.timeout(seconds):
                await self._receive()
        except TimeoutError:
            return
        raise Gone


class RehearsalApp:
    """The script as an ASGI app. `cut` ends the connection to a peer without an ending."""

    def __init__(self, script: Script, key: str, cut: Callable[[Peer], None]):
        self._script = script
        self._key = key.encode()
        self._cut = cut
        self._ledger = PlayLedger(script)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send)
        spoken = WIRES.get(exchange.what, COMPLETIONS)
        try:
            await self._serve(exchange, spoken)
        except RehearsalRefused as refused:
            await exchange.answer(refused.status, spoken.refuse(str(refused), refused.code))
        except Gone:
            return

    async def _serve(self, exchange: Exchange, spoken: wire.Wire) -> None:
        if not secrets.compare_digest(exchange.key.encode(), self._key):
            raise RehearsalRefused(401, "This server answers only who has its key.", "no_key")
        match exchange.method, exchange.what:
            case "GET", "models":
                await exchange.answer(200, wire.model_list(self._script.models))
            case "POST", what if what in WIRES:
                await self._complete(exchange, spoken)
            case _:
                no = f"There is no {exchange.method} {exchange.path}."
                raise RehearsalRefused(404, no, "not_found")

    async def _complete(self, exchange: Exchange, spoken: wire.Wire) -> None:
        content, request = parse(await exchange.body(), spoken)
        talk = read(request.messages)
        fresh = exchange.headers.get("x-initiator") == "user"  # the runtime's retries say: agent
        reply = self._reply(talk, request.model, content, fresh)
        if failure := reply.failure:
            await rest(exchange, reply)
            raise RehearsalRefused(failure.status, failure.message, "rehearsed_failure")
        tokens = weigh(request.messages)
        answer = wire.Answer(reply, request.model, tokens, request.usage_apart)
        if request.stream:
            pace = wire.Pace(self._script.chunk_chars, self._script.chunk_ms / 1000)
            await self._stream(exchange, spoken.stream(answer, pace))
        else:
            await self._give(exchange, reply, spoken.whole(answer))

    def _reply(
        self, talk: RehearsedConversation, model: str, content: dict[str, Any], fresh: bool
    ) -> Reply:
        if reply := focused(self._script, talk) or errand(talk):
            return reply
        rule = continued(self._script, talk)
        if rule is None:
            number = self._choose(talk, model, content, fresh)
            rule = None if number is None else self._script.rules[number]
        return play(rule, talk)

    def _choose(
        self, talk: RehearsedConversation, model: str, content: dict[str, Any], fresh: bool
    ) -> int | None:
        if talk.answered:
            return None  # the turn was over, and a notice woke the agent: nothing begins again
        if talk.replies or not self._ledger.counts:
            return matching(self._script, talk, model, ())
        fingerprint = fingerprint_of(content)
        number = self._ledger.replayed(fingerprint, fresh)
        if number is None:
            number = matching(self._script, talk, model, self._ledger.spent())
            if number is not None:
                self._ledger.record(number, fingerprint)
        return number

    async def _give(self, exchange: Exchange, reply: Reply, whole: dict[str, Any]) -> None:
        await rest(exchange, reply)
        if any(isinstance(beat, Drop) for beat in reply.beats):
            await self._drop(exchange)
        await exchange.answer(200, whole)

    async def _stream(self, exchange: Exchange, frames: Iterator[wire.Frame]) -> None:
        await exchange.start(200, b"text/event-stream")
        batch: list[bytes] = []
        for frame in frames:
            if isinstance(frame, bytes) and len(batch) < BATCH:
                batch.append(frame)
                continue
            await exchange.write(b"".join(batch))
            batch = []
            match frame:
                case wire.Wait(seconds):
                    await exchange.wait(seconds)
                case wire.Cut():
                    await self._drop(exchange)
                case _:
                    batch.append(frame)
                    await asyncio.sleep(0)  # a write to a fast reader never yields by itself
        await exchange.write(b"".join(batch), more=False)

    async def _drop(self, exchange: Exchange) -> None:
        self._cut(exchange.peer)
        await exchange.wait(1)  # until the server noticed, or it would complain of a missing end
        raise Gone


def parse(body: bytes, spoken: wire.Wire) -> tuple[dict[str, Any], wire.ModelRequest]:
    try:
        content = json.loads(body)
        return content, spoken.read(content)
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in found["loc"])
        raise RehearsalRefused(400, f"{place or 'request'}: {found['msg']}.", "invalid") from error
    except (ValueError, RecursionError) as error:
        raise RehearsalRefused(400, f"The request is not JSON: {error}.", "invalid") from error


def fingerprint_of(content: dict[str, Any]) -> str:
    said = json.dumps([content.get(name) for name in _SAYING], sort_keys=True)
    return blake2b(said.encode(), digest_size=16).hexdigest()


async def rest(exchange: Exchange, reply: Reply) -> None:
    """All the waits of a reply that is not streamed."""
    for beat in reply.beats:
        if isinstance(beat, Sleep):
            await exchange.wait(beat.seconds)


class RehearsalServer:
    """Serves a script on 127.0.0.1 for as long as it is entered.

    async with RehearsalServer(script) as server:
        provider = {"type": "openai", "base_url": server.base_url, "api_key": server.api_key}
    """

    def __init__(self, script: Script, port: int = 0, api_key: str | None = None) -> None:
        self.script = script
        self.api_key = api_key or secrets.token_urlsafe(32)
        self._port = port
        self._life = self._serve()

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self._port}/v1"

    async def __aenter__(self) -> Self:
        await self._life.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        # A task group that is told of an error wraps it; untold, the error goes on as it is.
        await self._life.__aexit__(None, None, None)

    @asynccontextmanager
    async def _serve(self) -> AsyncGenerator[None]:
        listening = listen(self._port)
        self._port = listening.getsockname()[1]
        app = RehearsalApp(self.script, self.api_key, lambda peer: server.cut(peer))
        async with served(app, listening) as server:
            yield
