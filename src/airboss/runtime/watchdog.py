"""Notices within 2 s that a runtime died or hangs, and does not take our slowness for that."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import psutil

from airboss.runtime.runtime_process import RuntimeProcess
from airboss.runtime.sdk_internals import is_lost

PING_EVERY = 0.4
PING_LIMIT = 1.0
# How much later than a broken pipe the end of its process may show.
_EXIT_LAG = 0.05
_CODE_LOOKS = 10
# A silent runtime that used this much of a processor is busy, or starved by others.
_CPU_SECONDS = 0.03
# How often one that owes an answer is looked at.
_LOOK = 0.1
# Beyond this a timer that came late says that our own loop was held.
_LAG = 0.2
# However busy we or it are, this long a silence is a hang.
_PATIENCE = 10.0
_SIGNALS = 128


async def watch(process: RuntimeProcess) -> str:
    """Return why this process is over, when it is."""
    async with _exit_of(process) as exited:
        while True:
            await asyncio.wait(
                {exited, process.ended}, timeout=PING_EVERY, return_when=asyncio.FIRST_COMPLETED
            )
            if process.ended.done():
                return process.ended.result()
            child = process.child
            if exited.done() or (child is not None and child.poll() is not None):
                code = await _code_of(process)
                return (
                    f"The agent runtime died ({_ending(code, in_cage=process.cage is not None)})."
                )
            if not await _answers(process, exited):
                await asyncio.wait({exited}, timeout=_EXIT_LAG)
                if not exited.done():
                    where = f" at {process.url} ended, or" if process.url else ""
                    return f"The agent runtime{where} stopped responding."


async def _answers(process: RuntimeProcess, exited: "asyncio.Future[None]") -> bool:
    """Whether it answers a ping, or is gone, which is for others to say."""
    # Of one that somebody else started it is not seen whether it computes.
    limit = _PATIENCE if process.pid is None else PING_LIMIT
    loop = asyncio.get_running_loop()
    began = sign_at = loop.time()
    sign: tuple[int, int] | None = None  # taken only where the answer is late
    ping = process.begin(process.client.ping())
    while True:
        before = loop.time()
        await asyncio.wait(
            {ping, exited, process.ended}, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED
        )
        if ping.done():
            return _answered(ping)
        if exited.done() or process.ended.done():
            return True
        now, seen = loop.time(), _sign(process)
        if sign is not None and seen[0] != sign[0]:  # no silence at all
            began = now
        if seen != sign or now - before > _LOOK + _LAG:
            sign, sign_at = seen, now
        if now - sign_at > limit and await _threads_are_busy():
            sign_at = loop.time()
        over = now - sign_at > limit or now - began > _PATIENCE
        if over and not ping.done():
            return False


def _sign(process: RuntimeProcess) -> tuple[int, int]:
    """Changes while it lives, even where a ping has to wait: it says things, computes, or would do
    so if others left it a processor."""
    if process.pid is None:
        return process.wire.heard, 0
    return process.wire.heard, int(processor_seconds(process.pid) / _CPU_SECONDS)


def processor_seconds(pid: int) -> float:
    """What it had of processors, and what it waited for one, where the system tells that."""
    try:
        used = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return used.user + used.system + _waited(pid)


def _waited(pid: int) -> float:
    waited = 0
    with contextlib.suppress(OSError, ValueError, IndexError):  # not Linux, or just gone
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as told:
                waited += int(told.read().split()[1])
    return waited / 1e9


def _answered(ping: "asyncio.Future[Any]") -> bool:
    """An error that the runtime itself sent is an answer; a broken pipe to it is none."""
    error = ping.exception()
    return error is None or not is_lost(error)


async def _threads_are_busy() -> bool:
    """The SDK writes on the loop's threads: where none was free, no ping was sent."""
    loop = asyncio.get_running_loop()
    asked = loop.time()
    await asyncio.wait({loop.run_in_executor(None, time.monotonic)}, timeout=_LAG)
    return loop.time() - asked > _LAG / 4


@asynccontextmanager
async def _exit_of(process: RuntimeProcess) -> AsyncGenerator["asyncio.Future[None]"]:
    """Done at the moment the runtime or its supervisor ends, where the system can say so; else
    polling finds it."""
    loop = asyncio.get_running_loop()
    exited: asyncio.Future[None] = loop.create_future()
    watched: list[int] = []

    def over() -> None:
        for descriptor in watched:
            loop.remove_reader(descriptor)
        if not exited.done():
            exited.set_result(None)

    try:
        own = () if process.child is None else (process.child.pid, process.pid)
        for pid in {pid for pid in own if pid is not None}:
            with contextlib.suppress(AttributeError, OSError):
                watched.append(os.pidfd_open(pid))
                loop.add_reader(watched[-1], over)
        yield exited
    finally:
        for descriptor in watched:
            loop.remove_reader(descriptor)
            os.close(descriptor)


async def _code_of(process: RuntimeProcess) -> int | None:
    """A supervisor ends as the runtime did, but clears up before."""
    for _ in range(_CODE_LOOKS if process.child is not None else 0):
        if process.child is not None and (code := process.child.poll()) is not None:
            return code
        await asyncio.sleep(_EXIT_LAG / _CODE_LOOKS)
    return process.child.poll() if process.child is not None else None


def _ending(code: int | None, *, in_cage: bool = False) -> str:
    if code is None:
        return "for an unknown reason"
    if in_cage and code > _SIGNALS:  # said by the outer process
        code = _SIGNALS - code
    return f"signal {-code}" if code < 0 else f"exit code {code}"
