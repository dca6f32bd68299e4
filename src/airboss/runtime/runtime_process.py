"""One process of the agent runtime, from its start to its end. It does not start the next one."""

import asyncio
import contextlib
import subprocess
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from airboss.background import Background, ignore_failure
from airboss.errors import AirbossError, RuntimeUnavailable
from airboss.runtime.locate import Located
from airboss.runtime.repeats import without_repeats
from airboss.runtime.sdk_internals import is_lost
from airboss.runtime.sdk_wire import AskHook, Listener, SdkWire
from airboss.runtime.sweep import sweep_orphans, sweep_session
from airboss.store.places import Places

if TYPE_CHECKING:
    from copilot import CopilotClient

    from airboss.runtime.cage.launch import RunningCage

Answer = TypeVar("Answer")

ANSWER_SECONDS = 30.0


class RuntimeRefused(RuntimeUnavailable):
    """The runtime is there and answered no."""


class RuntimeProcess:
    """A running process with its client. `ended` ends every wait on it, with the reason.

    `child` is what we started, a supervisor where there is one; `pid` is the runtime's own. One
    that somebody else started, at `url`, has neither: it is never ended by us.
    """

    def __init__(
        self,
        client: "CopilotClient",
        child: "subprocess.Popen[bytes] | None",
        wire: SdkWire,
        mark: str,
        located: Located | None,
        pid: int | None = None,
        places: Places | None = None,
        url: str | None = None,
        cage: "RunningCage | None" = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.client = client
        self.child = child
        self.wire = wire
        self.mark = mark
        self.located = located
        self.pid = child.pid if pid is None and child is not None else pid
        self.url = url
        # The walls around it.
        self.cage = cage
        self._places = places
        self.ended: asyncio.Future[str] = loop.create_future()
        self.cleaned_up = asyncio.Event()
        self.sessions: set[str] = set()
        self._when_lost: dict[str, Callable[[str], None]] = {}
        self._leaving = 0
        # Called when a session has left.
        self.on_change: Callable[[], None] = lambda: None
        # Whether there may be orphans without a mark.
        self._may_have_orphans = False
        self._calls = Background("runtime calls")

    @property
    def alive(self) -> bool:
        return not self.ended.done()

    def join(
        self,
        session: str,
        hear: Listener,
        ask_hook: AskHook | None = None,
        wanted: frozenset[str] = frozenset(),
    ) -> None:
        """From now on `session` hears its events, and what it starts is swept with this process.
        `wanted` are its hooks beside the one before each call."""
        self.sessions.add(session)
        self.wire.known.add(session)
        self.wire.routes[session] = without_repeats(hear)
        if ask_hook is not None:
            self.wire.hooks[session] = ask_hook
            if wanted:
                self.wire.wanted[session] = wanted

    def want(self, session: str, wanted: frozenset[str]) -> None:
        """The session has other hooks from now on."""
        if session in self.wire.hooks:
            self.wire.wanted[session] = wanted

    def when_lost(self, session: str, lost: Callable[[str], None]) -> None:
        """`lost` is called with the reason when this process ends, or now where it has."""
        if self.ended.done():
            lost(self.ended.result())
        else:
            self._when_lost[session] = lost

    async def outputs_of(self, session: str) -> Path | None:
        """A folder of its own for what a session's tools say at length. In the system's one for
        temporary files every user could read it."""
        if self._places is None:
            return None
        return await asyncio.to_thread(self._places.join, self.mark, session)

    def put_outputs_aside(self, *sessions: str) -> None:
        """The runtime deletes the outputs of a session that it closes, and one that is resumed
        would miss them. All, where none is named."""
        for session in sessions or tuple(self.wire.routes):
            if self._places is not None:
                with contextlib.suppress(OSError, AirbossError):
                    self._places.put_aside(session)

    def forget(self, session: str) -> None:
        self.wire.routes.pop(session, None)
        self.wire.hooks.pop(session, None)
        self.wire.wanted.pop(session, None)
        self._when_lost.pop(session, None)

    async def sweep(self, session: str, *, keeps_servers: bool = False) -> None:
        """End what the session's agent left running, its MCP servers too or not. Whose an orphan
        without a mark is, nobody can say: such end when no other session is here."""
        self._may_have_orphans = True
        await sweep_session(session, self.pid if keeps_servers else None)
        await self.sweep_orphans(session)

    async def sweep_orphans(self, session: str) -> None:
        """The same of a session whose agent started nothing: others may have, before it."""
        is_last = self.alive and not self.wire.routes.keys() - {session}
        if self.child is None or self.pid is None:
            return
        if is_last and self._may_have_orphans and self.pid != self.child.pid:
            self._may_have_orphans = False
            reaper = self.child.pid if self.cage is None else self.cage.reaper
            await sweep_orphans(reaper, self.pid)

    @property
    def open_sessions(self) -> int:
        return len(self._when_lost)

    @property
    def in_use(self) -> int:
        return len(self._when_lost) + self._leaving

    @contextlib.contextmanager
    def leaving(self) -> Generator[None]:
        """While a session is closed it counts still: the runtime writes its history down."""
        self._leaving += 1
        try:
            yield
        finally:
            self._leaving -= 1
            self.on_change()

    def end(self, reason: str) -> None:
        """It is over: waits end, and every session hears why. What still comes is not heard."""
        if self.ended.done():
            return
        self.ended.set_result(reason)
        said = list(self._when_lost.values())
        self._when_lost.clear()
        self.wire.routes.clear()
        self.wire.hooks.clear()
        self.wire.wanted.clear()
        for lost in said:
            lost(reason)

    async def ask(
        self, call: Coroutine[Any, Any, Answer], seconds: float = ANSWER_SECONDS
    ) -> Answer:
        """Wait for the SDK, but no longer than its process lives. No error of the SDK gets out."""
        if self._calls.is_closed:
            call.close()
            raise RuntimeUnavailable(self.ended.result())
        task = self.begin(call)
        try:
            await asyncio.wait(
                {task, self.ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if task.done():
                return task.result()
        except AirbossError:
            raise
        except Exception as error:
            raise self._translated(error) from error
        if self.ended.done():
            raise RuntimeUnavailable(self.ended.result())
        raise RuntimeUnavailable(f"The agent runtime did not answer within {seconds:g} s.")

    def begin(self, call: Coroutine[Any, Any, Answer]) -> "asyncio.Task[Answer]":
        """Ask the SDK. Whoever stops waiting does not cancel it: the SDK's reader answers what it
        was asked on its own thread, and an answer to a cancelled question is an error to it."""
        task = self._calls.call(call)
        task.add_done_callback(ignore_failure)
        return task

    async def settle(self) -> None:
        """After the end: all that was asked has failed by now; what has not is ended."""
        await self._calls.close(seconds=1)
        await self.wire.close()

    def _translated(self, error: Exception) -> RuntimeUnavailable:
        if self.ended.done():
            return RuntimeUnavailable(self.ended.result())
        if is_lost(error):
            return RuntimeUnavailable("The agent runtime ended while it was asked.")
        return RuntimeRefused(
            f"The agent runtime refused: {getattr(error, 'message', None) or error}"
        )
