"""One life of the agent runtime, from the start of its process to its death."""

import asyncio
import contextlib
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from airboss.errors import AirbossError, RuntimeUnavailable
from airboss.runtime.locate import Located
from airboss.runtime.sweep import sweep_orphans, sweep_session
from airboss.runtime.tap import Listener, Tap, is_lost
from airboss.store.places import Places

if TYPE_CHECKING:
    from copilot import CopilotClient

Answer = TypeVar("Answer")

ANSWER_SECONDS = 30.0


class Refused(RuntimeUnavailable):
    """The runtime is there and answered no."""


class Life:
    """A running process with its client. `dead` ends every wait on it, with the reason.

    `process` is what we started, a supervisor where there is one; `pid` is the runtime's own.
    """

    def __init__(
        self,
        client: "CopilotClient",
        process: "subprocess.Popen[bytes]",
        tap: Tap,
        mark: str,
        located: Located,
        pid: int | None = None,
        places: Places | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.client = client
        self.process = process
        self.tap = tap
        self.mark = mark
        self.located = located
        self.pid = process.pid if pid is None else pid
        self._places = places
        self.dead: asyncio.Future[str] = loop.create_future()
        self.buried = asyncio.Event()
        self.sessions: set[str] = set()
        self._mourners: dict[str, Callable[[str], None]] = {}
        self._left: set[asyncio.Future[Any]] = set()

    @property
    def alive(self) -> bool:
        return not self.dead.done()

    def join(self, session: str, hear: Listener) -> None:
        """From now on `session` hears its events, and what it starts is swept with this life."""
        self.sessions.add(session)
        self.tap.routes[session] = hear

    def mourn(self, session: str, lost: Callable[[str], None]) -> None:
        """`lost` is called with the reason when this life ends, or now where it has."""
        if self.dead.done():
            lost(self.dead.result())
        else:
            self._mourners[session] = lost

    async def outputs_of(self, session: str) -> Path | None:
        """A folder of its own for what a session's tools say at length. In the system's one for
        temporary files every user could read it."""
        if self._places is None:
            return None
        return await asyncio.to_thread(self._places.join, self.mark, session)

    def put_outputs_aside(self, *sessions: str) -> None:
        """The runtime deletes the outputs of a session that it closes, and one that is resumed
        would miss them. All, where none is named."""
        for session in sessions or tuple(self.tap.routes):
            if self._places is not None:
                with contextlib.suppress(OSError, AirbossError):
                    self._places.put_aside(session)

    def leave(self, session: str) -> None:
        self.tap.routes.pop(session, None)
        self._mourners.pop(session, None)

    async def sweep(self, session: str) -> None:
        """End what the session's agent left running. Whose an orphan without a mark is, nobody can
        say: such end when no other session is here."""
        await sweep_session(session)
        is_last = self.alive and not self.tap.routes.keys() - {session}
        if is_last and self.pid != self.process.pid:
            await sweep_orphans(self.process.pid, self.pid)

    @property
    def inhabitants(self) -> int:
        return len(self._mourners)

    def end(self, reason: str) -> None:
        """It is over: waits end, and every session hears why. What still comes is not heard."""
        if self.dead.done():
            return
        self.dead.set_result(reason)
        mourners = list(self._mourners.values())
        self._mourners.clear()
        self.tap.routes.clear()
        for lost in mourners:
            lost(reason)

    async def ask(self, call: Awaitable[Answer], seconds: float = ANSWER_SECONDS) -> Answer:
        """Wait for the SDK, but no longer than its process lives. No error of the SDK gets out."""
        task = asyncio.ensure_future(call)
        try:
            await asyncio.wait(
                {task, self.dead}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if task.done():
                return task.result()
        except AirbossError:
            raise
        except Exception as error:
            raise self._translated(error) from error
        finally:
            self.let_be(task)
        if self.dead.done():
            raise RuntimeUnavailable(self.dead.result())
        raise RuntimeUnavailable(f"The agent runtime did not answer within {seconds:g} s.")

    def let_be(self, task: "asyncio.Future[Any]") -> None:
        """Nobody waits for `task` any more. It is not cancelled: the SDK's reader answers what it
        was asked on its own thread, and an answer to a cancelled question is an error to it."""
        self._left.add(task)
        task.add_done_callback(self._forget)

    async def settle(self) -> None:
        """After the end: all that was asked has failed by now; what has not is ended."""
        if left := set(self._left):
            await asyncio.wait(left, timeout=1)
        for task in self._left:
            task.cancel()

    def _forget(self, task: "asyncio.Future[Any]") -> None:
        self._left.discard(task)
        if not task.cancelled():
            task.exception()

    def _translated(self, error: Exception) -> RuntimeUnavailable:
        if self.dead.done():
            return RuntimeUnavailable(self.dead.result())
        if is_lost(error):
            return RuntimeUnavailable("The agent runtime ended while it was asked.")
        return Refused(f"The agent runtime refused: {getattr(error, 'message', None) or error}")
