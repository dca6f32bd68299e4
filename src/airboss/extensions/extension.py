"""One extension of one session: its life from start to end, what it brings, and what it is asked.

starting → running → restarting → failed | stopped. A crash fails what it was asked. It starts again
a little later; the fifth crash in ten minutes is the last one.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from airboss.background import Background
from airboss.errors import AirbossError
from airboss.extensions.calls import CallCut, Calls, requested, withdrawn
from airboss.extensions.child import Child, Launch
from airboss.extensions.joined import BroughtTool, Joined, NotLetIn, joined
from airboss.extensions.launch import CannotLaunch
from airboss.extensions.peer import Peer, RpcFailure, RpcRefusal
from airboss.extensions.shelf import ExtensionFile
from airboss.harness.extension_door import ExtensionDoor
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.extension_events import ExtensionEnded, ExtensionRefused, ExtensionStarted
from airboss.runtime.descendants import Descendants
from airboss.runtime.tools import OutsideCall, ToolRefusal, ToolSaid

# Makes what runs it, which calls these with each message and at its end, and says how.
MakeChild: TypeAlias = Callable[
    [Callable[[dict[str, Any]], None], Callable[[str], None]], Awaitable[tuple[Child, Launch]]
]
State: TypeAlias = Literal["starting", "running", "restarting", "failed", "stopped"]

JOIN_SECONDS: Final = 10.0
RESTART_SECONDS: Final = (1.0, 2.0, 4.0, 8.0)
_CRASH_WINDOW_SECONDS: Final = 600.0
# So long a call waits for one that starts again.
_UP_SECONDS: Final = 5.0
_ALIVE_SECONDS: Final = 2.0
_RELOADED: Final = "it was reloaded"


class HookLate(Exception):
    """It did not answer in time."""


class HookFailed(Exception):
    """It failed, for this reason."""


@dataclass
class HostedExtension:
    """`launch` says how it is started, `admit` whether it may have its names (a reason where it may
    not), and `changed` is called when what it offers has changed."""

    file: ExtensionFile
    door: ExtensionDoor
    launch: MakeChild
    admit: Callable[["HostedExtension"], Awaitable[str | None]]
    changed: Callable[[], None]
    # Answers what else it asks.
    handle: Callable[["HostedExtension", str, Mapping[str, Any]], Awaitable[object]]
    state: State = "starting"
    reason: str = ""
    joined: Joined = field(default_factory=Joined)
    # The first attempt is over, whatever came of it.
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    # What it said and nobody keeps.
    passing_words: str = ""
    # It has asked to join, or will not; and whether it has.
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    has_come: bool = False
    _child: Child | None = None
    _peer: Peer | None = None
    _calls: Calls = field(default_factory=Calls)
    _crashes: deque[float] = field(default_factory=deque[float])
    _up: asyncio.Event = field(default_factory=asyncio.Event)
    _beside: Background = field(init=False)

    def __post_init__(self) -> None:
        self._beside = Background("extension", f"{self.name} of {self.door.session}")

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def is_running(self) -> bool:
        return self.state == "running"

    @property
    def is_there(self) -> bool:
        """Its tools are offered also while it starts again."""
        return self.state in ("running", "restarting")

    @property
    def is_guard(self) -> bool:
        """Its hooks before a call are asked, and say no by being away: also while it starts, if it
        had such before a reload."""
        return self.state in ("starting", "running", "restarting")

    def follow(self, former: "HostedExtension") -> None:
        """What that one watched over, this one does from now on, and not first when it joins."""
        self.joined = Joined(hooks=former.joined.hooks)

    @property
    def mark(self) -> str | None:
        return self._child.mark if self._child else None

    @property
    def descendants(self) -> Descendants | None:
        return self._child.descendants if self._child else None

    @property
    def log(self) -> str:
        return self._child.log if self._child else ""

    # Its life.

    def start(self) -> None:
        self._beside.start(self._start(), "start")

    async def _start(self) -> None:
        self.has_come = False
        try:
            child, launch = await self.launch(self._hear, self._ended)
            self._child = child
            self._peer = Peer(self.door.session, child, self._answer, self._beside)
            await child.start(launch)
        except CannotLaunch as cannot:
            self._refuse(str(cannot))
            return
        except AirbossError as error:  # its cage may be there a moment later
            self._ended(str(error))
            return
        except OSError as error:
            self._refuse(f"It could not be started: {error}")
            return
        await asyncio.sleep(JOIN_SECONDS)
        if self._child is child and not self.has_come:
            child.end(f"It did not join within {JOIN_SECONDS:g} s.")

    def _hear(self, message: dict[str, Any]) -> None:
        if self._peer is not None:
            self._peer.hear(message)

    async def _join(self, params: Mapping[str, Any]) -> dict[str, Any]:
        if self.has_come:
            raise RpcRefusal("It has joined already.")
        self.has_come = True
        try:
            return await self._let_in(params)
        finally:  # whatever came of it, nobody waits any longer
            self.arrived.set()
            self.settled.set()

    async def _let_in(self, params: Mapping[str, Any]) -> dict[str, Any]:
        child = self._child
        try:
            brought = joined(params)
        except NotLetIn as error:
            self._refuse(str(error))
            raise RpcRefusal(str(error)) from None
        before, self.joined = self.joined, brought
        self.arrived.set()
        if (no := await self.admit(self)) is not None:
            self.joined = before
            self._refuse(no)
            raise RpcRefusal(no)
        workspace = await self.door.workspace()
        # It, or the session, may have ended meanwhile.
        if child is None or child.is_over or self.state in ("failed", "stopped"):
            raise RpcRefusal("The session has ended.")
        self.state, self.reason = "running", ""
        self._up.set()
        self.door.tell(
            ExtensionStarted(
                name=self.name,
                scope=self.file.scope,
                language=self.file.language,
                digest=self.file.copy_digest,
                tools=tuple(brought.tools),
                hooks=tuple(brought.hooks),
            )
        )
        self.changed()
        return {
            "sessionId": self.door.session,
            "workspacePath": workspace,
            "cwd": str(self.door.cwd),
            "capabilities": {"ui": {"elicitation": True}},
            "openCanvases": [],
        }

    def _refuse(self, reason: str) -> None:
        """It may not work here, however often it is started."""
        self.state, self.reason = "failed", self._clean(reason)
        self.settled.set()
        self.arrived.set()
        self.door.tell(ExtensionRefused(name=self.name, reason=self.reason))
        if self._child is not None and not self._beside.is_closed:
            self._beside.start(self._leave(self._child), "leave")
        self.changed()

    async def _leave(self, child: Child) -> None:
        await asyncio.sleep(0)  # its refusal goes out first
        await child.stop()

    def _ended(self, reason: str) -> None:
        """It crashed, or was ended for what it did."""
        if self.state in ("failed", "stopped"):
            return
        self._fall(reason)
        now = time.monotonic()
        while self._crashes and now - self._crashes[0] > _CRASH_WINDOW_SECONDS:
            self._crashes.popleft()
        self._crashes.append(now)
        number = len(self._crashes)
        delay = RESTART_SECONDS[number - 1] if number <= len(RESTART_SECONDS) else None
        self.state = "failed" if delay is None else "restarting"
        self.reason = self._clean(reason)
        self.settled.set()
        self.arrived.set()
        self.door.tell(
            ExtensionEnded(name=self.name, reason=self.reason, crashed=True, restart_in=delay)
        )
        if not self._beside.is_closed:
            self._beside.start(self._again(self._child, delay), "restart")
        self.changed()

    def _fall(self, reason: str) -> None:
        self._up.clear()
        told = f"The extension {self.name} failed: {self._clean(reason)}"
        self._calls.cut(told)
        if self._peer is not None:
            self._peer.give_up(told)

    async def _again(self, child: Child | None, delay: float | None) -> None:
        if child is not None:
            await child.clear()
        if delay is not None:
            await asyncio.sleep(delay)
            if self.state == "restarting":
                await self._start()

    async def stop(self, reason: str = "", *, is_reload: bool = False) -> None:
        """Twice is as good as once."""
        was, self.state = self.state, "stopped"
        self._up.clear()
        self.settled.set()
        self.arrived.set()
        told = f"The extension {self.name} was {'reloaded' if is_reload else 'stopped'}."
        self._calls.cut(told)
        if self._peer is not None:
            self._peer.give_up(told)
        await self._beside.close(cancel=True, seconds=1)
        if self._child is not None:
            await self._child.stop()
        if was == "running":
            why = reason or (_RELOADED if is_reload else "")
            self.door.tell(ExtensionEnded(name=self.name, reason=why or told))

    def _clean(self, text: str) -> str:
        return excerpt(self.door.redactor, text, MOST_OF_A_REASON)

    # What it asks.

    async def _answer(self, method: str, params: Mapping[str, Any]) -> object:
        match method:
            case "connect":
                return {"ok": True, "protocolVersion": 3, "version": "airboss"}
            case "session.resume":
                return await self._join(params)
            case "session.tools.handlePendingToolCall":
                return {"success": self._calls.answer(params)}
            case "session.detach":
                self._beside.start(self._detached(), "detach")
                return {"success": True}
            case _:
                return await self.handle(self, method, params)

    async def _detached(self) -> None:
        """It has left by its own wish, and is not started again."""
        if self.state in ("failed", "stopped"):
            return
        self._fall("It has left the session.")
        self.state, self.reason = "stopped", "It has left the session."
        self.settled.set()
        self.arrived.set()
        self.door.tell(ExtensionEnded(name=self.name, reason=self.reason))
        self.changed()
        if self._child is not None:
            await self._child.stop()

    def want(self, kind: str) -> None:
        """It listens to one more kind of events."""
        self.joined = Joined(self.joined.tools, self.joined.hooks, self.joined.events | {kind})

    # What it is asked.

    def tell(self, event: Mapping[str, Any]) -> None:
        if self.is_running and self._peer is not None and event["type"] in self.joined.events:
            self._peer.tell(event, may_be_dropped=True)

    async def call(self, tool: BroughtTool, call: OutsideCall) -> ToolSaid:
        """The answer of its tool. One that is repeatable is called once more where it crashed."""
        attempts = 2 if tool.repeatable else 1
        cut = ""
        for _ in range(attempts):
            if not await self._is_up():
                why = cut or self.reason or "it has not started yet"
                return ToolRefusal(f"The extension {self.name} is not running: {why}")
            try:
                return await self._call(tool, call)
            except CallCut as error:
                cut = str(error)
                if self.state in ("stopped", "failed"):
                    break
        return ToolRefusal(cut)

    async def _call(self, tool: BroughtTool, call: OutsideCall) -> ToolSaid:
        peer = cast("Peer", self._peer)
        request, answer = self._calls.begin()
        peer.tell(requested(self.door.session, request, call))
        try:
            async with asyncio.timeout(tool.seconds):
                return await answer
        except TimeoutError:
            peer.tell(withdrawn(request))
            self._look_alive()
            return ToolRefusal(
                f"The extension {self.name} did not answer within {tool.seconds:g} s."
            )
        except asyncio.CancelledError:
            peer.tell(withdrawn(request))
            raise
        finally:
            self._calls.end(request)

    async def _is_up(self) -> bool:
        if self.state in ("starting", "restarting"):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_UP_SECONDS):
                    await self._up.wait()
        return self._up.is_set()

    async def ask(self, kind: str, given: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """What its hook says; raises `HookLate` or `HookFailed`."""
        peer = self._peer
        if peer is None or not self.is_running:
            raise HookFailed(f"It is not running: {self.reason or self.state}")
        try:
            async with asyncio.timeout(seconds):
                said = await peer.ask("hooks.invoke", {"hookType": kind, "input": given})
        except TimeoutError:
            self._look_alive()
            raise HookLate from None
        except RpcFailure as failure:
            raise HookFailed(str(failure)) from None
        output = cast("Any", said).get("output") if isinstance(said, dict) else None
        if output is not None and not isinstance(output, dict):
            raise HookFailed("It gave an invalid answer.")
        return cast("dict[str, Any]", output or {})

    def _look_alive(self) -> None:
        """It was late: whoever does not answer at all has crashed."""
        if not self._beside.is_closed:
            self._beside.start(self._must_reply(self._child), "alive")

    async def _must_reply(self, child: Child | None) -> None:
        peer = self._peer
        if peer is None or child is None:
            return
        try:
            async with asyncio.timeout(_ALIVE_SECONDS):
                await peer.ask("ping")
        except TimeoutError:
            child.end(f"It hangs: it answered nothing for {_ALIVE_SECONDS:g} s.")
        except RpcFailure:
            pass  # “unknown method” is a reply

    def end(self, reason: str) -> None:
        """For what its processes do."""
        if self._child is not None:
            self._child.end(reason)
