"""Crowds of connections that hold a server up: real sockets, which come back when they are cut."""

import asyncio
import contextlib
import resource
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import airboss

_ASSETS = Path(airboss.__file__).parent / "static" / "assets"
# Who was cut comes back after a moment: a crowd of 1,500 is a flood, and not a test of the kernel.
_AGAIN_SECONDS = 3.0
_SMALLEST_WINDOW = 4096


@contextmanager
def descriptor_limit(soft: int) -> Generator[None]:
    """What is started meanwhile begins with so many descriptors, as on most machines."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


def largest_asset() -> str:
    found = max(_ASSETS.iterdir(), key=lambda file: file.stat().st_size)
    return f"/assets/{found.name}"


def slow_requests(port: int) -> tuple[bytes, ...]:
    """What strangers begin with: a head that does not end, a body that does not come, nothing at
    all, and answers that nobody reads."""
    host = f"Host: 127.0.0.1:{port}\r\n"
    body = f"POST /api/v1/signin HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
    answer = f"GET {largest_asset()} HTTP/1.1\r\n{host}\r\n"
    return (
        f"GET / HTTP/1.1\r\n{host}X-Slow: ".encode(),
        f"{body}Content-Length: 1000\r\n\r\n{{".encode(),
        b"",
        (answer * 10).encode(),
    )


@dataclass
class Flood:
    """How many there are, and how often one of them was cut."""

    port: int
    open: int = 0
    cut: int = 0

    async def hold(self, sent: bytes) -> None:
        """One of the crowd, until it is cancelled."""
        while True:
            with contextlib.suppress(OSError):
                await self._connect(sent)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _connect(self, sent: bytes) -> None:
        loop = asyncio.get_running_loop()
        with unread_socket() as connection:
            await loop.sock_connect(connection, ("127.0.0.1", self.port))
            await loop.sock_sendall(connection, sent)
            self.open += 1
            try:
                while not is_cut(connection):  # noqa: ASYNC110 - the kernel knows, and tells nobody
                    await asyncio.sleep(0.5)
            finally:
                self.open -= 1
            self.cut += 1


def unread_socket() -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    # Little is taken into the kernel's own memory, on the reader's side.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALLEST_WINDOW)
    return connection


def is_cut(connection: socket.socket) -> bool:
    """Looks without taking anything: what is there stays unread."""
    try:
        return connection.recv(1, socket.MSG_PEEK) == b"" or _has_error(connection)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _has_error(connection: socket.socket) -> bool:
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0


@asynccontextmanager
async def flooded(port: int, count: int) -> AsyncGenerator[Flood]:
    """So many slow strangers, of every kind, until the end."""
    flood, sent = Flood(port), islice(cycle(slow_requests(port)), count)
    async with asyncio.TaskGroup() as group:
        crowd = [group.create_task(flood.hold(one)) for one in sent]
        try:
            yield flood
        finally:
            for one in crowd:
                one.cancel()
