"""How uvicorn serves us: no header is waited for without end, no address is logged."""

import asyncio
import logging
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from airboss.http.headers import SECURITY_HEADERS

HEAD_SECONDS = 15.0
LINGER_SECONDS = 1.0

_log = logging.getLogger("airboss.perimeter")


class BoundedProtocol(H11Protocol):
    """Uvicorn bounds the size of a request's head, but not the time it takes to come."""

    head_seconds = HEAD_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Whatever the loggers say: its lines hold whole addresses, with what is in their queries.
        self.access_log = False
        self._is_over = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        _send_at_once(transport)
        self._bound_head()

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._bound_head()
        else:
            self._unbound_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unbound_head()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP is refused below the perimeter: with its headers and in its log."""
        peer = f"{self.client[0]}:{self.client[1]}" if self.client else "somebody"
        _log.warning("Refused a request from %s: 400 not valid HTTP", peer)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = f"{msg}\n".encode()
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
                *SECURITY_HEADERS,
            ]
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        # A caller that is still sending would lose the answer if we closed at once.
        self._is_over = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _unsupported_upgrade_warning(self) -> None:
        """There are no WebSockets on purpose, and two lines for each that is tried help nobody."""

    def _bound_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def _unbound_head(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def _send_at_once(transport: asyncio.Transport) -> None:
    """The head and the body of an answer are two writes: the second would wait 40 ms for the first.
    asyncio does this by itself only for sockets that were made with the protocol's number."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def uvicorn_options() -> dict[str, Any]:
    """For `uvicorn.Config`, whose defaults log query strings and believe X-Forwarded-For."""
    return {
        "http": BoundedProtocol,
        "ws": "none",
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
    }
