"""How uvicorn serves us: nobody is waited for without end, no address is logged."""

import asyncio
import contextlib
import logging
import socket
import struct
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.h11_impl import H11Protocol

from airboss.http.crowd import CONNECTION, STRANGER_SECONDS, Crowd
from airboss.http.headers import SECURITY_HEADERS
from airboss.http.refusals import RefusalLog

HEAD_SECONDS = 15.0
# Longer than the 5 s for which common clients keep a connection: else some write to one that ends.
_IDLE_SECONDS = 12
LINGER_SECONDS = 1.0
# Of a server that stops: so long somebody may take to read what is left.
LAST_WORDS_SECONDS = 0.5
# Of an answer, the kernel keeps so much that is not on its way yet: what nobody reads stays with
# whoever made it, who notices.
_UNSENT_BYTES = 128 * 1024

_NOT_AT_ALL = struct.pack("ii", 1, 0)

# Says once more, for each, that a request is not HTTP: strangers would fill the disk with it.
logging.getLogger("uvicorn.error").addFilter(
    lambda record: record.msg != "Invalid HTTP request received."
)


class _Counted(h11.Connection):
    """Knows how many bytes it gave to be sent."""

    given = 0

    def send_with_data_passthrough(self, event: h11.Event) -> list[bytes] | None:
        parts = super().send_with_data_passthrough(event)
        self.given += sum(map(len, parts or ()))
        return parts


class BoundedProtocol(H11Protocol):
    """Uvicorn bounds the size of a request's head, but neither the time that it takes to come, nor
    the time in which an answer is read, nor how many there are."""

    head_seconds = HEAD_SECONDS
    stranger_seconds = STRANGER_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, crowd: Crowd, refusals: RefusalLog, **options: Any) -> None:
        super().__init__(*args, **options)
        # Whatever the loggers say: its lines hold whole addresses, with what is in their queries.
        self.access_log = False
        self._is_over = False
        self._crowd = crowd
        self._refusals = refusals
        self._counted = self.conn = _Counted(h11.SERVER)
        self.app_state = {**self.app_state, CONNECTION: self}

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        # Under TLS it would be eight times that.
        transport.set_write_buffer_limits(HIGH_WATER_LIMIT)
        _send_at_once(transport)
        self._bound_head()
        self._crowd.enter(self)

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._bound_head()
        else:
            self._unbound_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.remove(self)
        self._unbound_head()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        super().shutdown()
        self.loop.call_later(LAST_WORDS_SECONDS, self._cut_if_unread)

    def _cut_if_unread(self) -> None:
        if self in self.connections and self.taken() is not None:
            self.cut()

    # What the crowd knows of it.

    def recognise(self) -> None:
        self._crowd.recognise(self)

    @property
    def is_served(self) -> bool:
        cycle: Any = self.cycle  # none before the first request
        is_asked = cycle is not None and not cycle.response_complete and not cycle.more_body
        return is_asked and not self.flow.write_paused

    @property
    def is_idle(self) -> bool:
        cycle: Any = self.cycle
        is_answered = cycle is None or cycle.response_complete
        return is_answered and self.taken() is None

    def taken(self) -> int | None:
        waiting = self.transport.get_write_buffer_size()
        return self._counted.given - waiting if waiting else None

    def cut(self) -> None:
        """At once, here and in the kernel: to close waits until somebody has read what is left."""
        connection: socket.socket | None = self.transport.get_extra_info("socket")
        if connection is not None:
            with contextlib.suppress(OSError):  # the other side was faster
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NOT_AT_ALL)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP is refused below the perimeter: with its headers and in its log."""
        self._refusals.note_malformed(self.client)
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
            known = self._crowd.is_known(self)
            seconds = self.head_seconds if known else self.stranger_seconds
            self._deadline = self.loop.call_later(seconds, self._give_up)

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
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)


def uvicorn_options(crowd: Crowd) -> dict[str, Any]:
    """For `uvicorn.Config`, whose defaults log query strings and believe X-Forwarded-For."""
    return {
        "http": partial(BoundedProtocol, crowd=crowd, refusals=RefusalLog()),
        "ws": "none",
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "timeout_keep_alive": _IDLE_SECONDS,
    }
