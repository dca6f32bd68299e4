"""Where runtimes send their spans: an address on this machine that nobody else knows.

They are answered at once, and never learn where the collector is or what lets one in there.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airboss.background import Background
from airboss.net.loopback import HOST, Receive, Scope, Send, listen, served
from airboss.telemetry.wire import NotSpans, Redact, of_the_runtime

if TYPE_CHECKING:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_NONCE_BYTES: Final = 12
_MOST_BYTES: Final = 4 * 1024 * 1024
_EMPTY: Final = b""


@dataclass
class SpanDoor:
    """Takes spans, and nothing else: of what a runtime measures we have our own figures."""

    put: "Callable[[ExportTraceServiceRequest], None]"
    redact: Redact
    content: bool = False
    url: str = ""
    _nonce: str = field(default_factory=lambda: secrets.token_hex(_NONCE_BYTES), repr=False)
    _host: str = ""
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _background: Background = field(default_factory=lambda: Background("telemetry"))

    async def open(self) -> None:
        listening = listen()
        self._host = f"{HOST}:{listening.getsockname()[1]}"
        self.url = f"http://{self._host}/{self._nonce}"
        ready = asyncio.Event()

        async def live() -> None:
            async with served(self._answer, listening):
                ready.set()
                await self._over.wait()

        self._background.start(live(), "door")
        await ready.wait()

    async def close(self) -> None:
        self._over.set()
        await self._background.close()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            status = await self._take(scope, receive)
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": _EMPTY})

    async def _take(self, scope: Scope, receive: Receive) -> int:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        path = scope["raw_path"].decode("latin-1")
        if hosts != [self._host.encode()] or not path.startswith(f"/{self._nonce}/"):
            return 404
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return 400
            body += message.get("body", _EMPTY)
            more = message.get("more_body", False)
            if len(body) > _MOST_BYTES:
                return 413
        if path == f"/{self._nonce}/v1/traces":
            try:
                self.put(of_the_runtime(bytes(body), self.redact, content=self.content))
            except NotSpans:
                return 400
        return 200
