"""(e) What the server weighs, and (f) how soon it is ready."""

import asyncio
import contextlib
import socket
import time
from pathlib import Path

import psutil

from bench.figures import spread
from bench.portal import portal_session
from bench.table import Line, Say
from bench.wire import Address
from bench.workshop import (
    Server,
    Source,
    airboss,
    command,
    environment,
    prepare,
    rehearsal,
    running,
    until_ready,
)

SESSIONS = (0, 10, 50)
SETTLE_SECONDS = 3.0


def _megabytes(pid: int) -> float:
    return psutil.Process(pid).memory_info().rss / 2**20


async def measure_memory(folder: Path, quick: bool, say: Say) -> list[Line]:
    """Open means: with a viewer, and after a turn."""
    sizes: dict[int, float] = {}
    async with rehearsal(folder) as source, airboss(folder, source) as server:
        await asyncio.sleep(
            SETTLE_SECONDS
        )  # until the SDK, loaded behind the first answers, is there
        for count in SESSIONS:
            sizes[count] = await _with_sessions(server, source, count)
            say(f"{count} sessions: {sizes[count]:.1f} MB")
    most = max(SESSIONS)
    each = (sizes[most] - sizes[0]) / most
    words = ", ".join(f"{count}: {size:.0f} MB" for count, size in sizes.items())
    met = sizes[0] <= 100 and each <= 0.5
    found = f"{words}; {each:.2f} MB a session"
    goal = "≤ 100 MB, ≤ 0.5 MB a session"
    return [Line("e", "the server's memory with so many open sessions", found, goal, met)]


async def _with_sessions(server: Server, source: Source, count: int) -> float:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(count):
            session = await stack.enter_async_context(portal_session(server, source))
            await session.turn("say yes")
        await asyncio.sleep(0.5)
        return _megabytes(server.pid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def measure_start(folder: Path, quick: bool, say: Say) -> list[Line]:
    """From the start of the process to the first `ready`; the first start makes the folder."""
    data, work = prepare(folder)
    taken: list[float] = []
    for _ in range(4 if quick else 10):
        taken.append(await _start(data, work))
        say(f"ready after {taken[-1]:.2f} s")
    rest = spread(taken[1:])
    found = f"{rest.words(' s', 2)}; in an empty folder {taken[0]:.2f} s"
    return [Line("f", "from start to /readyz", found, "≤ 1.5 s", rest.middle <= 1.5)]


async def _start(data: Path, work: Path) -> float:
    port, token = _free_port(), "a-token-for-the-benchmark-only-00000000"
    environ = {**environment(()), "AIRBOSS_TOKEN": token}
    began = time.perf_counter()
    async with running(*command(data, work, port), environ=environ, log=data / "serve.log"):
        await until_ready(Address(port, token))
        return time.perf_counter() - began
