"""A command of one's own that is run for each thing that arrives. It never holds the server."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import psutil

from airboss.model.inbox_events import InboxArrived
from airboss.programs import APART, give, hear
from airboss.service.notices import Notice, NotSent

_log = logging.getLogger("airboss.notices")

SECONDS: Final = 10.0
_MOST_OUTPUT: Final = 4096
_END_SECONDS: Final = 2.0


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
                **APART,
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
    heard = bytearray()
    async with asyncio.TaskGroup() as group:
        group.create_task(give(process, said))
        group.create_task(hear(process.stdout, heard, _MOST_OUTPUT))
        group.create_task(process.wait())
    return bytes(heard)


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
