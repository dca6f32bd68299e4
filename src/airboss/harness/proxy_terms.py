"""What one call through the proxy may take, and how one is refused."""

import json
from dataclasses import dataclass
from typing import Any, Final

from airboss.net.loopback import Receive, Scope, Send

_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True)
class ProxyLimits:
    """What one call may take."""

    request_bytes: int = 32 * _MEGABYTE
    # A stream spends some hundred bytes on each token, and a long answer has a hundred thousand.
    answer_bytes: int = 64 * _MEGABYTE
    connect_seconds: float = 15.0
    # A model may think for long before it says anything.
    answer_seconds: float = 600.0


class ProxyRefused(Exception):
    """An answer of our own, in the provider's place."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def refuse(send: Send, refused: ProxyRefused) -> None:
    """As OpenAI and Anthropic both write it."""
    error = {"type": "api_error", "code": "airboss_proxy", "message": str(refused)}
    body = json.dumps({"type": "error", "error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def with_body(scope: Scope, receive: Receive, body: bytes) -> tuple[Scope, Receive]:
    """The same call with another body, which is there as a whole."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return left.pop() if left else await receive()

    sizes = (b"content-length", b"transfer-encoding")
    headers = [(name, value) for name, value in scope["headers"] if name not in sizes]
    headers.append((b"content-length", b"%d" % len(body)))
    return {**scope, "headers": headers}, again
