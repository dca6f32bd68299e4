"""How much a request may be: its address, its headers, its body, and the time all that takes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.types import Message, Receive, Scope

from airboss.http.crowd import STRANGER_SECONDS
from airboss.http.refusals import RefusedAnswer

Headers = Mapping[bytes, Sequence[bytes]]


@dataclass(frozen=True)
class RequestBounds:
    """The server below refuses a head of more than 64 KiB by itself, without our words."""

    address_bytes: int = 8 * 1024
    headers: int = 100
    header_bytes: int = 32 * 1024
    body_bytes: int = 4 * 1024 * 1024
    # Of images in a request, beside all else.
    image_bytes: int = 34 * 1024 * 1024
    # Of an entry's text as JSON has it, beside all else.
    entry_bytes: int = 16 * 1024 * 1024
    # Of those who have not shown a token yet.
    stranger_body_bytes: int = 4 * 1024
    body_seconds: float = 30.0
    stranger_body_seconds: float = STRANGER_SECONDS
    # So long a refused caller may go on sending, so that it gets to read why.
    linger_seconds: float = 1.0


class CallerGone(Exception):
    """Nobody waits for the answer any more."""


def gather(scope: Scope) -> dict[bytes, list[bytes]]:
    """All values of each header: a doubled one must not hide behind its twin."""
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name, []).append(value)
    return found


def check_head(scope: Scope, headers: Headers, bounds: RequestBounds, body_bytes: int) -> None:
    address = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if address > bounds.address_bytes:
        raise RefusedAnswer(
            414,
            "address_too_long",
            f"The URL is too long. The limit is {bounds.address_bytes} bytes.",
        )
    if len(scope["headers"]) > bounds.headers:
        raise RefusedAnswer(
            431, "too_many_headers", f"Too many headers. The limit is {bounds.headers}."
        )
    if sum(len(name) + len(value) for name, value in scope["headers"]) > bounds.header_bytes:
        raise RefusedAnswer(
            431,
            "headers_too_large",
            f"The headers are too large. The limit is {bounds.header_bytes} bytes in total. In a "
            "browser, try deleting the cookies of this site.",
        )
    if not scope["path"].startswith("/"):
        raise RefusedAnswer(400, "bad_target", "The request target must begin with a slash.")
    lengths = headers.get(b"content-length", ())
    if len(lengths) > 1 or not all(length.isdigit() and len(length) < 20 for length in lengths):
        raise RefusedAnswer(400, "bad_length", "Content-Length must be a single number.")
    # A proxy in front might go by the other one, and take the rest for a request of its own.
    if lengths and b"transfer-encoding" in headers:
        raise RefusedAnswer(
            400, "bad_length", "Send either Content-Length or Transfer-Encoding, not both."
        )
    if lengths and int(lengths[0]) > body_bytes:
        raise _too_large(body_bytes)


def has_body(headers: Headers) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", [b"0"]) != [b"0"]


async def read_body(receive: Receive, body_bytes: int, seconds: float) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise CallerGone
                body += message.get("body", b"")
                if len(body) > body_bytes:
                    raise _too_large(body_bytes)
                more = message.get("more_body", False)
    except TimeoutError:
        raise RefusedAnswer(
            408, "body_too_slow", f"The body did not arrive within {seconds:g} seconds."
        ) from None
    return bytes(body)


def replay(body: bytes, receive: Receive) -> Receive:
    """The body once, in one piece; then whatever else the server has to say."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return first.pop() if first else await receive()

    return replayed


async def linger(receive: Receive, seconds: float) -> None:
    """A connection that is closed while its caller still sends loses the answer on its way."""
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                more = (await receive()).get("more_body", False)
    except TimeoutError:
        pass


def _too_large(body_bytes: int) -> RefusedAnswer:
    return RefusedAnswer(
        413, "body_too_large", f"The body is too large. The limit is {body_bytes} bytes."
    )
