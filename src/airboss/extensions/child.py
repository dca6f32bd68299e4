"""The process of one extension: started apart, heard within bounds, and ended whole.

It has a group of its own. What left that is found by a mark in its environment. The mark is not
the session's, by which an abort ends what the agent started.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from airboss.extensions.frames import BadMessage, FrameReader, frame
from airboss.programs import APART
from airboss.runtime.descendants import Descendants, process_table
from airboss.runtime.sweep import CHILDREN, EXTENSION, sweep_extensions

MOST_STDERR: Final = 64 << 10
# Of events that it has not read.
MOST_EVENTS: Final = 1 << 20
MOST_UNREAD: Final = 8 << 20
# Messages of one process; who sends more is read more slowly. So many bytes count as one more.
MOST_A_SECOND: Final = 2_000.0
A_PIECE: Final = 4 << 10
_AT_ONCE: Final = 4_000.0
_STDIN: Final = 0
_STDOUT: Final = 1
_STDERR: Final = 2
_STREAMS: Final = {_STDIN: "input", _STDOUT: "output"}
# What the pinned bootstrap says of each extension in JavaScript, whatever becomes of it.
_OF_THE_BOOTSTRAP: Final = (
    "[extension-bootstrap] importing",
    "[extension-bootstrap] starting",
    "[extension-resolver] resolver hook loaded",
)
_TERM_SECONDS: Final = 2.0
_CLOSE_SECONDS: Final = 0.3
# Who ends closes its streams first.
_ENDING_SECONDS: Final = 1.0


@dataclass(frozen=True)
class Launch:
    """What is run: its words, its environment and where."""

    command: Sequence[str]
    environ: Mapping[str, str]
    cwd: Path


@dataclass
class HeardPace:
    """How fast a process is heard. Time that it is silent counts for later, up to a bound."""

    left: float = _AT_ONCE
    since: float = field(default_factory=time.monotonic)

    def pause_behind(self, messages: float) -> float:
        """So many seconds it is not read, behind these."""
        now = time.monotonic()
        self.left = min(_AT_ONCE, self.left + (now - self.since) * MOST_A_SECOND) - messages
        self.since = now
        return max(0.0, -self.left / MOST_A_SECOND)


@dataclass
class Child(asyncio.SubprocessProtocol):
    """`hear` is called with each message and `ended` once, with the reason. Both return at once."""

    hear: Callable[[dict[str, Any]], None]
    ended: Callable[[str], None]
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    pid: int = 0
    descendants: Descendants = field(default_factory=Descendants)
    _errors: bytearray = field(default_factory=bytearray)
    _transport: asyncio.SubprocessTransport | None = None
    _stdin: asyncio.WriteTransport | None = None
    _frames: FrameReader = field(init=False)
    _exited: asyncio.Event = field(default_factory=asyncio.Event)
    _pace: HeardPace = field(default_factory=HeardPace)
    _is_over: bool = False

    def __post_init__(self) -> None:
        self._frames = FrameReader(self.keep)

    async def start(self, launch: Launch) -> None:
        """Raises `OSError` where it cannot be run."""
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            *launch.command,
            env={**launch.environ, EXTENSION: self.mark},
            cwd=launch.cwd,
            **APART,
        )
        self._stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        if not self._exited.is_set():
            await asyncio.to_thread(self.descendants.begin, self.pid)

    def _note_descendants(self) -> None:
        self.descendants.look(process_table())

    @property
    def is_over(self) -> bool:
        return self._is_over

    @property
    def last_words(self) -> str:
        """The last line that it wrote to its standard error."""
        lines = [line for line in self.log.splitlines() if line.strip()]
        lines = [line for line in lines if not line.startswith(_OF_THE_BOOTSTRAP)]
        return lines[-1].strip() if lines else ""

    @property
    def log(self) -> str:
        return self._errors.decode("utf-8", "replace")

    @property
    def unread(self) -> int:
        return self._stdin.get_write_buffer_size() if self._stdin else 0

    def say(self, message: dict[str, Any], *, may_be_dropped: bool = False) -> bool:
        """Whether it was put on its way."""
        if self._is_over or self._stdin is None or self._stdin.is_closing():
            return False
        if may_be_dropped and self.unread > MOST_EVENTS:
            return False
        self._stdin.write(frame(message))
        if self.unread > MOST_UNREAD:
            self.end(f"It left more than {MOST_UNREAD >> 20} MiB unread.")
            return False
        return True

    def end(self, reason: str) -> None:
        """It is not heard any more, and ended at once."""
        if not self._is_over:
            self._is_over = True
            self.kill()
            self.ended(reason)

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            if sys.platform != "win32" and self.pid:
                os.killpg(self.pid, signal.SIGKILL)
            elif self._transport is not None:
                self._transport.kill()

    async def stop(self) -> None:
        """Asked first, then made to; nothing that it started is left."""
        self._is_over = True
        if not self.is_started:
            return
        await asyncio.to_thread(self._note_descendants)
        if self._stdin is not None:
            self._stdin.close()
        if not await self.is_gone_within(_CLOSE_SECONDS):
            self.terminate()
            await self.is_gone_within(_TERM_SECONDS)
        await self.clear()

    @property
    def is_started(self) -> bool:
        return self._transport is not None

    def terminate(self) -> None:
        with contextlib.suppress(OSError):
            if self._transport is not None:
                self._transport.terminate()

    @property
    def returncode(self) -> int | None:
        return self._transport.get_returncode() if self._transport else None

    async def clear(self) -> None:
        """End what is left of it, whoever ended it."""
        await asyncio.to_thread(self._note_descendants)
        self.kill()
        await sweep_extensions(self.mark, self.descendants.noted)
        await self.is_gone_within(_TERM_SECONDS)
        if self._transport is not None:
            self._transport.close()
        CHILDREN.known.discard(self.pid)
        self.pid = 0  # another process may have it by now

    async def is_gone_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self._exited.is_set()

    # What asyncio tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """At once, so that whoever stops it in the middle of its start finds it."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self.pid = self._transport.get_pid()
        CHILDREN.known.add(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self.keep(data)
        elif seconds := self.take_output(data):
            self._hold_output(seconds)

    def take_output(self, data: bytes) -> float:
        """So many seconds nothing more should be read."""
        if self._is_over:
            return 0.0
        count = 0
        try:
            # The count is used behind the loop, also where a bad message ends it.
            for count, message in enumerate(self._frames.feed(data), 1):  # noqa: B007
                if self._is_over:
                    return 0.0
                self.hear(message)
        except BadMessage as bad:
            self.end(str(bad))
        return self._pace.pause_behind(count + len(data) / A_PIECE)

    def _hold_output(self, seconds: float) -> None:
        pipe = self._transport.get_pipe_transport(_STDOUT) if self._transport else None
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            pipe.pause_reading()
            asyncio.get_running_loop().call_later(seconds, pipe.resume_reading)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Who hears or says nothing any more would keep every call waiting."""
        del exc
        if fd in _STREAMS:
            loop = asyncio.get_running_loop()
            loop.call_later(_ENDING_SECONDS, self._after_closing, _STREAMS[fd])

    def _after_closing(self, stream: str) -> None:
        if not self._exited.is_set():
            self.end(f"It closed its standard {stream}, which is how it talks with Airboss.")

    def process_exited(self) -> None:
        self._exited.set()
        # What it wrote last is heard first.
        asyncio.get_running_loop().call_later(0.05, self._after_exit)

    def _after_exit(self) -> None:
        if not self._is_over:
            self.end(self._why_it_ended())

    def _why_it_ended(self) -> str:
        code = self.returncode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"It was ended by {signal.Signals(-code).name}."
        words = self.last_words
        if code and words:
            return f"It ended with exit code {code}: {words}"
        return f"It ended with exit code {code}." if code else "It ended by itself."

    def keep(self, data: bytes) -> None:
        self._errors += data[-MOST_STDERR:]
        del self._errors[:-MOST_STDERR]
