"""What a browser is told with every answer, and an answer that is dressed so on its way out."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from starlette.types import Message, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# Of what a stranger may have made: nothing in it runs, wherever it is opened.
SANDBOX = "sandbox; default-src 'none'"
# So long a reader may take to hear that its stream ends.
_LAST_WORD_SECONDS = 1.0
_OURS = frozenset(name for name, _ in SECURITY_HEADERS)


class StreamCut(OSError):
    """Said to an app that goes on after its reader was cut off."""


class DressedAnswer:
    """Passes on what the app says, at once. Before each further piece it asks who reads it."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self._is_stream = False
        self._goes_on = False
        # Whether the reader may go on; without one, nobody is asked.
        self.may_go_on: Callable[[], Awaitable[bool]] | None = None
        # Told of an answer that has no end of its own, and may say nothing for long.
        self.on_stream: Callable[[], object] | None = None
        self.started = False
        self.was_cut = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": self._dress(message)}
            if self._is_stream and self.on_stream is not None:
                self.on_stream()
        elif self._goes_on and self.may_go_on is not None and not await self.may_go_on():
            await self.cut()
            raise StreamCut("This reader is no longer allowed to read.")
        self._goes_on = self._is_stream or message.get("more_body", False)
        await self._send(message)

    def _dress(self, message: Message) -> list[tuple[bytes, bytes]]:
        kept: list[tuple[bytes, bytes]] = []
        is_cached, policy = False, POLICY.encode()
        for name, value in message.get("headers", ()):
            if (name, value) == (b"content-security-policy", SANDBOX.encode()):
                policy = value
            if name in _OURS or name.startswith(b"access-control-"):
                continue
            kept.append((name, value))
            if name == b"content-type":
                self._is_stream = value.startswith(b"text/event-stream")
            is_cached = is_cached or name == b"cache-control"
        kept.append((b"content-security-policy", policy))
        kept.extend(SECURITY_HEADERS[1:])
        kept.append((b"x-request-id", self._request_id.encode()))
        if not is_cached:
            kept.append((b"cache-control", b"no-store"))
        return kept

    async def cut(self) -> None:
        """Ends a stream as a whole one, so that its reader comes back and is refused in words. Any
        other answer stays unfinished, so that nobody takes a part of it for all."""
        if self.was_cut:
            return
        self.was_cut = True
        if self._is_stream:
            with contextlib.suppress(TimeoutError):  # its reader does not read
                async with asyncio.timeout(_LAST_WORD_SECONDS):
                    end = {"type": "http.response.body", "body": b"", "more_body": False}
                    await self._send(end)
