"""A small HTTP server on this machine's own address, inside somebody else's event loop."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, MutableMapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final, TypeAlias

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from airboss.errors import SettingsInvalid

HOST: Final = "127.0.0.1"
_BACKLOG: Final = 512
_PIECE: Final = 1 << 16
# Longer than the runtime keeps a connection that it does not use: it could write to one that ends.
_IDLE_SECONDS: Final = 120

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
LoopbackApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Peer: TypeAlias = tuple[str, int] | None


class QuietConnection(H11Protocol):
    """Writes no access log. uvicorn's own option would silence the portal's in this process too."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.access_log = False


class LoopbackServer(uvicorn.Server):
    """It says when it is ready, and leaves signals alone."""

    def __init__(self, app: LoopbackApp) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                interface="asgi3",
                proxy_headers=False,
                http=QuietConnection,
                ws="none",
                lifespan="off",
                log_config=None,
                server_header=False,
                date_header=False,
                timeout_keep_alive=_IDLE_SECONDS,
            )
        )
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def cut(self, peer: Peer) -> None:
        """End the connection with this peer, whatever it is doing."""
        for connection in self.connections():
            if connection.client == peer:
                connection.transport.close()

    def finish(self) -> None:
        self.should_exit = True
        for connection in self.connections():
            connection.transport.close()

    def connections(self) -> list[QuietConnection]:
        return [c for c in self.server_state.connections if isinstance(c, QuietConnection)]


@asynccontextmanager
async def served(app: LoopbackApp, listening: socket.socket) -> AsyncGenerator[LoopbackServer]:
    """For as long as it is entered; entered and left by one task."""
    server = LoopbackServer(app)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve([listening]))
        try:
            await server.ready.wait()
            yield server
        finally:
            server.finish()


def listen(port: int = 0) -> socket.socket:
    # With its protocol by name, or asyncio leaves small writes to wait for one another, 40 ms long.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise SettingsInvalid(f"Port {port} cannot be used: {error.strerror}.") from error
    return listening


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """What is read there is written here, and so is its end."""
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
