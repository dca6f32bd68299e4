"""How a client's process is ended: first asking, then not."""

import asyncio
import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from airboss.runtime.sdk_internals import close_pipes, join_readers, process_of

if TYPE_CHECKING:
    from copilot import CopilotClient

DEATH_SECONDS: Final = 2.0


async def abandon(client: "CopilotClient") -> None:
    """Kill the client's process, wait for its end, and close what the SDK leaves open."""
    process = process_of(client)
    if process is not None:
        await asyncio.to_thread(_end, process, client)
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.force_stop(), DEATH_SECONDS)
    if process is not None:
        close_pipes(process)


def let_go(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """It ends by itself when nobody speaks to it any more."""
    with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
        if process.stdin is not None:
            process.stdin.close()
        process.wait(seconds)


def _end(process: "subprocess.Popen[bytes]", client: "CopilotClient") -> None:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        if sys.platform == "linux":  # a supervisor takes all below it along
            process.terminate()
            process.wait(DEATH_SECONDS / 2)
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait(DEATH_SECONDS)
        join_readers(client, DEATH_SECONDS / 4)
