"""A world outside of a cage, on loopback: names lead to public addresses, as they would, and who is
connected to there is a server of the test. The guard is the real one, as strict as ever."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from airboss.cage_settings import CageProfile
from airboss.model.cage_events import EgressEvent, EgressRefused
from airboss.net.address_guard import Egress
from airboss.runtime.cage.host_request import HostAnswer, HostPermission, HostRequest
from airboss.runtime.cage.way_out import Bounds, WayOut
from tests.pauses import pauses

PUBLIC = "93.184.215.14"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def as_listed(asked: HostRequest) -> HostAnswer:
    """What the profile names, and nothing else."""
    return HostAnswer(asked.listed, "" if asked.listed else "It is not listed.", "profile")


@dataclass
class Outside:
    """`names` lead to addresses; `ports` of this machine stand for those of the world."""

    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    ports: dict[int, int] = field(default_factory=dict[int, int])
    looked_up: list[str] = field(default_factory=list[str])
    connected: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    told: list[EgressEvent] = field(default_factory=list[EgressEvent])

    def look_up(self, host: Any, port: Any, *_: Any, **__: Any) -> Any:
        self.looked_up.append(host)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        families = [socket.AF_INET6 if ":" in one else socket.AF_INET for one in self.names[host]]
        found = zip(families, self.names[host], strict=True)
        return [(family, socket.SOCK_STREAM, 6, "", (one, port)) for family, one in found]

    async def connect(self, address: str, port: int) -> Streams:
        self.connected.append((address, port))
        if address not in [one for found in self.names.values() for one in found]:
            raise ConnectionRefusedError
        return await asyncio.open_connection("127.0.0.1", self.ports[port])

    @property
    def refusals(self) -> list[tuple[str, int | None, str]]:
        refused = [one for one in self.told if isinstance(one, EgressRefused)]
        return [(one.host, one.port, one.why) for one in refused]


@dataclass
class Inside:
    """What is in the cage: it has one port, and knows nothing else."""

    way_out: WayOut
    port: int

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> Streams:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def says(self, said: bytes) -> bytes:
        """All that is answered until the other side ends."""
        reader, writer = await self.open()
        writer.write(said)
        async with asyncio.timeout(20):
            answer = await reader.read()
        writer.close()
        return answer

    async def curl(self, *words: str, **environ: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            "curl",
            *("-sS", "--max-time", "20", "-x", self.proxy, "--noproxy", ""),
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", **environ},
        )
        out, wrong = await process.communicate()
        return process.returncode or 0, out.decode(), wrong.decode()


@contextlib.asynccontextmanager
async def caged(
    outside: Outside,
    monkeypatch: pytest.MonkeyPatch,
    *hosts: str,
    permission: HostPermission = as_listed,
    bounds: Bounds | None = None,
) -> AsyncGenerator[Inside]:
    monkeypatch.setattr(socket, "getaddrinfo", outside.look_up)
    way_out = WayOut(
        CageProfile(hosts=hosts),
        permission,
        outside.told.append,
        Egress(),
        connect=outside.connect,
        bounds=bounds or Bounds(),
    )
    server = await asyncio.start_server(way_out.serve, "127.0.0.1", 0)
    try:
        yield Inside(way_out, server.sockets[0].getsockname()[1])
    finally:
        server.close()
        await way_out.close()


@contextlib.asynccontextmanager
async def served(handler: Handler, **options: Any) -> AsyncGenerator[int]:
    """A server of the world; gives its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await handler(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, **options)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        for seconds in pauses():
            if holds():
                return
            await asyncio.sleep(seconds)


def quick(**shorter: Any) -> Bounds:
    return replace(Bounds(), **shorter)
