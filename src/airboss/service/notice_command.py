"""A command of one's own that is run for each thing that arrives. It never holds the server."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import psutil

from airboss.model.inbox_events import InboxArrived
from airboss.service.notices import Notice, NotSent

_log = logging.getLogger("airboss.notices")

SECONDS: Final = 10.0
_MOST_OUTPUT: Final = 4096
_END_SECONDS: Final = 2.0
# Of its own: what it starts can be ended with it. Not a session: who sweeps after agents would
# take it for one of their orphans.
_APART: Final[dict[str, Any]] = {} if sys.platform == "win32" else {"process_group": 0}


@dataclass(frozen=True)
class CommandChannel:
    """Runs `words`, without a shell, in `environ`. A command that fails is not run again."""

    words: tuple[str, ...]
    environ: Mapping[str, str]
    folder: str
    seconds: float = SECONDS
    name: str = "command"
    waits: tuple[float, ...] = ()

    def wants(self, event: object) -> bool:
        return isinstance(event, InboxArrived)

    async def send(self, notice: Notice) -> None:
        about = {
            "AIRBOSS_ITEM": notice.item,
            "AIRBOSS_TITLE": notice.title,
            "AIRBOSS_URL": notice.url,
        }
        try:
            process = await asyncio.create_subprocess_exec(
                *self.words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env={**self.environ, **about},
                cwd=self.folder,
                **_APART,
            )
        except (OSError, ValueError) as error:
            raise NotSent(f"could not run {self.words[0]}: {error}", final=True) from error
        try:
            async with asyncio.timeout(self.seconds):
                said = await _talk(process, notice.body)
        except TimeoutError:
            text = f"{self.words[0]} timed out after {self.seconds:g} s"
            raise NotSent(text, final=True) from None
        finally:
            await asyncio.shield(_end(process))
        _log.debug("%s said: %s", self.words[0], said.decode("utf-8", "replace"))
        if process.returncode:
            text = f"{self.words[0]} exited with code {process.returncode}"
            raise NotSent(text, final=True)


async def _talk(process: asyncio.subprocess.Process, said: bytes) -> bytes:
    """Give it `said`, take what it says (the beginning is enough), and wait for its end."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_give(process, said))
        saying = group.create_task(_hear(process))
        group.create_task(process.wait())
    return saying.result()


async def _give(process: asyncio.subprocess.Process, said: bytes) -> None:
    if process.stdin is not None:
        with contextlib.suppress(ConnectionError):  # it does not want to know
            process.stdin.write(said)
            await process.stdin.drain()
        process.stdin.close()


async def _hear(process: asyncio.subprocess.Process) -> bytes:
    said = b""
    while process.stdout is not None and (piece := await process.stdout.read(_MOST_OUTPUT)):
        said = (said + piece)[:_MOST_OUTPUT]
    return said


async def _end(process: asyncio.subprocess.Process) -> None:
    """It and all that it started and that is still there."""
    await asyncio.to_thread(_kill, process.pid, is_over=process.returncode is not None)
    with contextlib.suppress(ProcessLookupError):
        if process.returncode is None:
            process.kill()
    # Whoever still holds its pipes was started elsewhere, and is not waited for.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()


def _kill(pid: int, *, is_over: bool) -> None:
    left: list[psutil.Process] = []
    if not is_over:
        with contextlib.suppress(psutil.Error):
            left = psutil.Process(pid).children(recursive=True)
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
