"""Programs of somebody's own, run beside the server: each apart, talked to, and ended whole."""

import asyncio
import contextlib
import os
import signal
import sys
from typing import Any, Final, Protocol

# A group of its own, so that what it starts ends with it. Not a session: who sweeps after agents
# would take it for one of their orphans.
APART: Final[dict[str, Any]] = {} if sys.platform == "win32" else {"process_group": 0}
_PIECE: Final = 65536


class RunningProgram(Protocol):
    """One that runs, here or in a cage: as asyncio has it."""

    @property
    def returncode(self) -> int | None: ...

    @property
    def stdin(self) -> asyncio.StreamWriter | None: ...

    @property
    def stdout(self) -> asyncio.StreamReader | None: ...

    @property
    def stderr(self) -> asyncio.StreamReader | None: ...

    async def wait(self) -> int: ...

    def kill(self) -> None: ...


async def give(process: RunningProgram, said: bytes) -> None:
    if process.stdin is not None:
        with contextlib.suppress(ConnectionError):  # it does not want to know
            process.stdin.write(said)
            await process.stdin.drain()
        process.stdin.close()


async def hear(pipe: asyncio.StreamReader | None, heard: bytearray, most: int) -> None:
    """The beginning; the rest is read and forgotten, so that its writer comes to an end."""
    while pipe is not None and (piece := await pipe.read(_PIECE)):
        heard += piece[: most - len(heard)]


async def hear_the_rest(process: RunningProgram) -> None:
    """Of one that was left in the middle of its words. Whoever waits for its end without this may
    wait for ever: a pipe that is full is not looked at any more, and its end is not noticed."""
    await hear(process.stdout, bytearray(), 0)


def end_group(process: asyncio.subprocess.Process) -> None:
    """It, and what it started and left in its group."""
    with contextlib.suppress(OSError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()
