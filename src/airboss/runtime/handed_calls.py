"""HTTP calls that a runtime hands to us over its own wire, in the place of making them itself.

That is how one without any network reaches its models. Each call is served as a small HTTP server
would serve it; who serves it knows nothing of the wire. The other side may be hostile: what it says
is checked, and how much of it is kept is bounded.
"""

import asyncio
import base64
import binascii
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from airboss.background import Background
from airboss.net.loopback import Peer, Receive, Scope, Send
from airboss.runtime.frames import CALL_BODY, MOST_BODY_BYTES

# Serves one call as an ASGI app does; the last argument cuts its answer off.
ServeCall: TypeAlias = Callable[[Scope, Receive, Send, Callable[[Peer], None]], Awaitable[None]]

# What the runtime is told that its services are called: names that lead nowhere by themselves.
MODEL_HOST: Final = "model.caged.invalid"
COPILOT_HOST: Final = "copilot.caged.invalid"

_CALL_HEAD: Final = "llmInference.httpRequestStart"
_METHODS: Final = frozenset({_CALL_HEAD, CALL_BODY})
_OURS: Final = "airboss-call-"
# More agents at once than one process has.
_MOST_CALLS: Final = 64
_MOST_KEPT_BYTES: Final = 4 * MOST_BODY_BYTES
# So many messages wait for the loop, and behind them the runtime; but not for a loop that ends.
_MOST_WAITING: Final = 4
_ROOM_SECONDS: Final = 10.0
_LONGEST_ADDRESS: Final = 16 * 1024
_MOST_HEADERS: Final = 200
_CUT: Final = "The answer was cut off."

_log = logging.getLogger(__name__)


def caged_environment(user_port: int) -> dict[str, str]:
    """What a runtime without a network is told of Copilot's service: its calls are handed over, but
    for the one that asks who it is, which it makes itself, at this port."""
    return {
        "COPILOT_API_URL": f"http://{COPILOT_HOST}",
        "COPILOT_DEBUG_GITHUB_API_URL": f"http://127.0.0.1:{user_port}",
    }


class CallWire(Protocol):
    """The way back to the runtime."""

    def send_at_once(self, message: Mapping[str, Any]) -> bool: ...

    async def send(self, message: dict[str, Any]) -> None: ...


class _Said(BaseModel):
    """What the runtime says of a call; what else it says is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    request: str = Field(alias="requestId", max_length=200)


class _Head(_Said):
    method: str = Field(pattern="^[A-Za-z]{1,20}$")
    url: str = Field(max_length=_LONGEST_ADDRESS)
    headers: dict[str, list[str]] = Field(max_length=_MOST_HEADERS)
    transport: Literal["http", "websocket"] | None = None

    def scope(self, size: int) -> Scope:
        """A ValueError where it is no address, or a header that nobody may send."""
        if b" " in _plain(self.url):
            raise ValueError("An address has no space.")
        parts = urlsplit(self.url)
        headers = [
            (_plain(name.lower()), _plain(value))
            for name, values in self.headers.items()
            if name.lower() not in ("host", "content-length", "transfer-encoding")
            for value in values
        ]
        headers.append((b"host", parts.netloc.encode()))
        if size or self.method.upper() == "POST":
            headers.append((b"content-length", b"%d" % size))
        return {
            "type": "http",
            "method": self.method.upper(),
            "raw_path": parts.path.encode(),
            "path": parts.path,
            "query_string": parts.query.encode(),
            "headers": headers,
            "client": (self.request, 0),
        }


class _Chunk(_Said):
    data: str | bytes = ""
    binary: bool | None = None
    end: bool | None = None
    cancel: bool | None = None

    @property
    def body(self) -> bytes:
        raw = self.data.encode("utf-8", "replace") if isinstance(self.data, str) else self.data
        return base64.b64decode(raw, validate=True) if self.binary else raw


def _plain(text: str) -> bytes:
    if not text.isascii() or not text.isprintable():
        raise ValueError("A header or an address has a character that none may have.")
    return text.encode()


@dataclass
class HandedCall:
    """One call: its body as it comes, and its answer as it goes."""

    request: str
    # Until the runtime has it.
    tell: Callable[[str, Mapping[str, Any]], Awaitable[None]] = field(repr=False)
    head: _Head | None = None
    body: bytearray = field(default_factory=bytearray, repr=False)
    # Of the body, also of what is not kept.
    size: int = 0
    is_whole: bool = False
    is_served: bool = False
    is_begun: bool = False
    is_answered: bool = False
    gone: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    _is_read: bool = False

    async def receive(self) -> dict[str, Any]:
        if not self._is_read:
            self._is_read = True
            body, self.body = bytes(self.body), bytearray()
            return {"type": "http.request", "body": body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        if self.is_answered or self.gone.is_set():
            return
        if message["type"] == "http.response.start":
            await self._begin(message["status"], message["headers"])
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        self.is_answered = not more
        if body or not more:
            said = base64.b64encode(body).decode("ascii")
            await self._say("Chunk", data=said, binary=True, end=not more)

    async def cut_off(self) -> None:
        """Half an answer is not taken for a whole one."""
        if not self.is_answered:
            self.is_answered = True
            with contextlib.suppress(OSError, RuntimeError):  # the runtime is gone too
                if not self.is_begun:
                    await self._begin(502, [])
                await self._say("Chunk", data="", end=True, error={"message": _CUT})
        self.gone.set()

    async def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.is_begun = True
        named: dict[str, list[str]] = {}
        for name, value in headers:
            named.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        await self._say("Start", status=status, headers=named)

    async def _say(self, what: str, **said: object) -> None:
        await self.tell(f"llmInference.httpResponse{what}", {"requestId": self.request} | said)


class HandedCalls:
    """The calls of one process. `hear` is called on the reader's thread, all else on the loop."""

    def __init__(self, serve: ServeCall, loop: asyncio.AbstractEventLoop) -> None:
        self._serve = serve
        self._loop = loop
        self._open: dict[str, HandedCall] = {}
        # What was said and is not acknowledged yet.
        self._told: dict[str, asyncio.Future[None]] = {}
        self._number = 0
        self._kept = 0
        self._room = threading.Semaphore(_MOST_WAITING)
        self._is_warned = False
        self._background = Background("handed calls")

    def hear(self, connection: CallWire, message: Mapping[str, Any]) -> bool:
        """Whether the message was one of a call."""
        method, number = message.get("method"), message.get("id")
        if method is None and isinstance(number, str) and number.startswith(_OURS):
            self._soon(self._arrived, number)
            return True
        if method not in _METHODS:
            return False
        waited = self._room.acquire(timeout=_ROOM_SECONDS)
        is_heard = self._soon(self._take, connection, method, message.get("params"), waited)
        if waited and not is_heard:
            self._room.release()
        nothing: dict[str, Any] = {}
        answer = {"jsonrpc": "2.0", "id": number, "result": nothing}
        if number is not None and not connection.send_at_once(answer):
            self._soon(lambda: self._start(connection.send(answer), "acknowledge"))
        return True

    def _soon(self, work: Callable[..., object], *given: Any) -> bool:
        try:
            self._loop.call_soon_threadsafe(work, *given)
        except RuntimeError:  # the loop is closed
            return False
        return True

    def _start(self, work: Any, name: str) -> None:
        self._background.start_if_open(work, name)

    def _arrived(self, number: str) -> None:
        if (told := self._told.get(number)) is not None and not told.done():
            told.set_result(None)

    def _take(self, connection: CallWire, method: str, params: Any, waited: bool) -> None:
        if waited:
            self._room.release()
        try:
            said = (_Head if method == _CALL_HEAD else _Chunk).model_validate(params)
            body = said.body if isinstance(said, _Chunk) else b""
        except (ValidationError, binascii.Error) as error:
            if not self._is_warned:
                self._is_warned = True
                _log.warning("The agent runtime handed over a call that is none: %s", type(error))
            return
        call = self._open.get(said.request)
        if call is None and isinstance(said, _Chunk) and said.cancel:
            return  # of a call that is over
        if call is None:
            call = HandedCall(said.request, self._teller(connection))
            if len(self._open) >= _MOST_CALLS:
                if isinstance(said, _Head):
                    why = f"There are {_MOST_CALLS} calls already."
                    self._start(_refuse(call, 503, why), "refuse")
                return
            self._open[said.request] = call
        self._take_in(call, said, body)

    def _take_in(self, call: HandedCall, said: _Said, body: bytes) -> None:
        if isinstance(said, _Chunk) and said.cancel:
            self._left(call)
            return
        if call.is_served:
            return
        if isinstance(said, _Head):
            call.head = said
        elif isinstance(said, _Chunk):
            self._keep(call, body)
            call.is_whole = call.is_whole or bool(said.end)
        if call.is_whole and call.head is not None:
            call.is_served = True
            self._start(self._answer(call, call.head), "answer")

    def _teller(self, connection: CallWire) -> Callable[[str, Mapping[str, Any]], Awaitable[None]]:
        async def tell(method: str, params: Mapping[str, Any]) -> None:
            """The runtime takes up messages at the same time: one that is sent before the last is
            acknowledged may overtake it."""
            self._number += 1
            number, arrived = f"{_OURS}{self._number}", self._loop.create_future()
            self._told[number] = arrived
            try:
                message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                await connection.send(message)
                await arrived
            finally:
                del self._told[number]

        return tell

    def _keep(self, call: HandedCall, body: bytes) -> None:
        """What is too much is counted, and refused by who serves the call."""
        call.size += len(body)
        if call.size <= MOST_BODY_BYTES and self._kept + len(body) <= _MOST_KEPT_BYTES:
            self._kept += len(body)
            call.body += body
        else:
            call.size = max(call.size, MOST_BODY_BYTES + 1)

    async def _answer(self, call: HandedCall, head: _Head) -> None:
        size = len(call.body)
        try:
            if (scope := _scope_of(head, call.size)) is not None:
                await self._serve(scope, call.receive, call.send, lambda _: self._cut(call))
            else:
                await _refuse(call, 400, "This is no call that can be passed on.")
        finally:
            self._kept -= size
            if not call.gone.is_set():
                await call.cut_off()
            self._forget(call)

    def _cut(self, call: HandedCall) -> None:
        self._start(call.cut_off(), "cut")

    def _left(self, call: HandedCall) -> None:
        """The runtime does not listen any more."""
        call.gone.set()
        if not call.is_served:
            self._kept -= len(call.body)
            self._forget(call)

    def _forget(self, call: HandedCall) -> None:
        self._open.pop(call.request, None)

    async def close(self) -> None:
        for call in list(self._open.values()):
            self._left(call)
        await self._background.close(seconds=1)


def _scope_of(head: _Head, size: int) -> Scope | None:
    try:
        return None if head.transport == "websocket" else head.scope(size)
    except ValueError:
        return None


async def _refuse(call: HandedCall, status: int, why: str) -> None:
    kind = [(b"content-type", b"text/plain")]
    await call.send({"type": "http.response.start", "status": status, "headers": kind})
    await call.send({"type": "http.response.body", "body": why.encode()})
