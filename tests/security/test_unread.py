"""Readers that do not read: they cost little, are cut off, and hold up no stop."""

import asyncio
import signal
import socket
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager
from urllib.parse import urlsplit

import psutil
import pytest

from tests.crash.witness import ask, start_session, until
from tests.portal import Portal
from tests.security.flood import is_cut, unread_socket
from tests.trials import share, trial

pytestmark = [pytest.mark.anyio, pytest.mark.alone, trial]

READERS = share(60, 300)
MORE_BYTES = READERS * 1024 * 1024
# The bound is five seconds; a machine that is busy with this crowd takes longer.
CUT_SECONDS = 20
STOP_SECONDS = 5
# More than a MiB for each reader in any case; reading them takes a server seconds.
WORDS = share(200_000, 500_000)
# A session with a long past, and one that goes on talking.
SCRIPT = f"""
models: [{{id: rehearsal, name: Rehearsal, multiplier: 0}}]
chunk_chars: 5000
chunk_ms: 5
rules:
  - when: "a long answer"
    steps: [{{say: "{"A long answer. " * 30_000}"}}]
  - when: "go on"
    steps: [{{say: "{"And so on. " * WORDS}"}}]
"""


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Portal, str]]:
    """A session behind which lie some MiB. The last test stops the server."""
    portal = Portal(tmp_path_factory.mktemp("talking"), script=SCRIPT)
    with portal.serving():
        yield portal, asyncio.run(session_with_a_past(portal))


async def session_with_a_past(portal: Portal) -> str:
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        for _ in range(6):
            seq = (await client.get(f"/api/v1/sessions/{session}")).json()["seq"]
            await ask(client, session, "a long answer")
            await until(client, session, "session.idle", seq)
    return session


@asynccontextmanager
async def unread(portal: Portal, *paths: str) -> AsyncGenerator[list[socket.socket]]:
    """Requests with the token, one for each path, whose answers nobody reads."""
    loop, port = asyncio.get_running_loop(), urlsplit(portal.url).port
    with ExitStack() as stack:
        connections = [stack.enter_context(unread_socket()) for _ in paths]
        for connection, path in zip(connections, paths, strict=True):
            await loop.sock_connect(connection, ("127.0.0.1", port))
            head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            request = f"{head}Authorization: Bearer {portal.token}\r\n\r\n"
            await loop.sock_sendall(connection, request.encode())
        yield connections


def feeds_of(session: str) -> list[str]:
    return [f"/api/v1/feed?follow={session}:0&follow=inbox:0"] * READERS


async def test_feeds_that_nobody_reads_cost_little_and_are_cut_off(
    talking: tuple[Portal, str],
) -> None:
    portal, session = talking
    server = psutil.Process(portal.pid)
    async with portal.client() as client:
        await ask(client, session, "go on")
        before = peak = server.memory_info().rss
        async with unread(portal, *feeds_of(session)) as left:
            until_then = time.monotonic() + CUT_SECONDS
            while left and time.monotonic() < until_then:
                assert (await client.get("/api/v1/sessions")).status_code == 200
                peak = max(peak, server.memory_info().rss)
                await asyncio.sleep(0.1)
                left = [connection for connection in left if not is_cut(connection)]
            assert left == []
        assert peak - before < MORE_BYTES
        assert (await client.get(f"/api/v1/sessions/{session}")).status_code == 200
    assert "Traceback" not in portal.log


async def test_a_stop_does_not_wait_for_feeds_that_nobody_reads(
    talking: tuple[Portal, str],
) -> None:
    portal, session = talking
    async with portal.client() as client:
        await ask(client, session, "go on")
        async with unread(portal, *feeds_of(session)):
            began = time.monotonic()
            portal.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(portal.process.wait, 30) == 0
            assert time.monotonic() - began < STOP_SECONDS
    assert "Traceback" not in portal.log
