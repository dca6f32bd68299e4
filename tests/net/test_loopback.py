"""A server for this machine alone."""

import asyncio
import socket

import pytest

from airboss.errors import SettingsInvalid
from airboss.net.loopback import HOST, Receive, Scope, Send, listen, served

pytestmark = pytest.mark.anyio


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    del scope, receive
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def test_small_writes_do_not_wait_for_one_another() -> None:
    listening = listen()
    port = listening.getsockname()[1]
    async with served(_nothing, listening) as server:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204")
        [connection] = server.connections()
        sock = connection.transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()


def test_a_port_that_is_taken_is_refused_in_words() -> None:
    with listen() as taken, pytest.raises(SettingsInvalid, match=r"^Port \d+ cannot be used: "):
        listen(taken.getsockname()[1])
