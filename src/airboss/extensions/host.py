"""The extensions of one session: started beside its opening, named in order, asked, and ended.

Nothing of this costs a session that has none: two folders are looked for, in a thread.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from airboss.background import Background
from airboss.extensions.caged_child import CagedChild
from airboss.extensions.caged_launch import caged_launch_of
from airboss.extensions.calls import event_of
from airboss.extensions.child import Child, Launch
from airboss.extensions.child_requests import ChildRequests
from airboss.extensions.extension import JOIN_SECONDS, HostedExtension
from airboss.extensions.hooks import ExtensionHooks
from airboss.extensions.joined import EVENT_KINDS, BroughtTool
from airboss.extensions.launch import launch_of
from airboss.extensions.names import GivenNames
from airboss.extensions.own_tools import OwnTools
from airboss.extensions.room import ExtensionRoom
from airboss.extensions.seen import SeenExtension, seen_of, with_what_came
from airboss.extensions.shelf import ExtensionFile
from airboss.harness.extension_door import ExtensionDoor
from airboss.harness.gate import Change, GateRefusal
from airboss.harness.plans import EXIT_PLAN_MODE
from airboss.harness.questions import ASK_USER
from airboss.model.extension_events import ExtensionRefused
from airboss.model.tool_table import EXTENSIONS_RELOAD
from airboss.runtime.hooks import ToolUse, missing
from airboss.runtime.tools import OutsideCall, ToolOffer, ToolRefusal, ToolSaid
from airboss.session_keys import HookName

_MAY_HAVE: Final = (
    "The server or the agent runtime stopped during this call, so it may have taken effect. "
    "Check before you repeat it."
)
# What the agent asks people with.
_ASKING: Final = (ASK_USER, EXIT_PLAN_MODE)
# The session's own opening may take most of it.
_SETTLED_SECONDS: Final = 45.0
_REPLACED: Final = "is not there any more: the extension was reloaded or has ended"


@dataclass
class ExtensionHost:
    """Of one session."""

    room: ExtensionRoom
    door: ExtensionDoor
    extensions: list[HostedExtension] = field(default_factory=list[HostedExtension])
    files: tuple[ExtensionFile, ...] = ()
    hooks: ExtensionHooks = field(init=False)
    own: OwnTools = field(init=False)
    _requests: ChildRequests = field(init=False)
    _beside: Background = field(init=False)
    # Those of before a reload, until nothing of them is left.
    _leaving: list[HostedExtension] = field(default_factory=list[HostedExtension])
    # While they are looked for and started: at the opening, and on a reload.
    _opened: asyncio.Event = field(default_factory=asyncio.Event)
    _named: asyncio.Event = field(default_factory=asyncio.Event)
    _reloading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _names: GivenNames = field(default_factory=GivenNames)
    _verdicts: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    # Whose each tool is that was offered here at any time, by name.
    _owners: dict[str, str] = field(default_factory=dict[str, str])
    # As long as there was none, the agent has what it was opened with.
    _has_had_some: bool = False
    _is_begun: bool = False
    _is_over: bool = False

    def __post_init__(self) -> None:
        settings = self.room.shelf.settings
        self.hooks = ExtensionHooks(lambda: self.extensions, self.door, settings.hook_seconds)
        self.own = OwnTools(self.room, self.door, self.ready, self.reload, self.shown)
        self._requests = ChildRequests(self.door)
        self._beside = Background("extensions", self.door.session)

    # The life of a session.

    def begin(self) -> None:
        """Beside the opening of the session; once, however often that is tried."""
        if not self._is_begun:
            self._is_begun = True
            self._beside.start(self._open_first(), "open")

    async def _open_first(self) -> None:
        async with self._reloading:
            await self._open()

    async def _open(self) -> None:
        """Raises nothing that anybody waits for: a shelf that cannot be read has no extensions."""
        former = {one.file.path: one for one in self._leaving}
        try:
            self.files = await self.room.shelf.found(self.door.cwd)
            if self._is_over:
                return
            wanted = [self._made(file) for file in self.files if file.runs]
            self.extensions = [one for one in wanted if self._may_start(one)]
            if not self.extensions:
                return
            self._has_had_some = True
            self._named.clear()
            self._names = GivenNames(self.door.servers)
            for one in self.extensions:
                if before := former.get(one.file.path):
                    one.follow(before)
                one.start()
            await self._wait_for_all()
            self._verdicts = {
                one.name: self._names.give(one.name, one.joined)
                for one in self.extensions
                if one.has_come and one.state == "starting"
            }
            self._named.set()
            # Each has its answer a moment later.
            settled = [one.settled for one in self.extensions if one.has_come]
            await _until_set(settled, _SETTLED_SECONDS)
        finally:
            self._named.set()
            self._opened.set()

    def _made(self, file: ExtensionFile) -> HostedExtension:
        async def launch(
            hear: Callable[[dict[str, Any]], None], ended: Callable[[str], None]
        ) -> tuple[Child, Launch]:
            session, cwd, cli = self.door.session, self.door.cwd, self.room.cli
            if self.door.caging is None or file.on_host:
                given = (file, session, cwd, self.room.environ, cli)
                return Child(hear, ended), await asyncio.to_thread(launch_of, *given)
            await self.door.opened()  # the session's runtime opens the cage
            programs = await self.door.caging()
            words = (file, session, cwd, programs.place, cli)
            inside = await asyncio.to_thread(caged_launch_of, *words)
            return CagedChild(hear, ended, programs=programs), inside

        return HostedExtension(
            file, self.door, launch, self._admit, self._changed, self._requests.answer
        )

    def _may_start(self, one: HostedExtension) -> bool:
        if (no := self.room.enter(one)) is None:
            return True
        self.door.tell(ExtensionRefused(name=one.name, reason=no))
        one.state, one.reason = "failed", no
        return False

    async def _wait_for_all(self) -> None:
        """Until each has asked to join or has given up; no longer than one may take."""
        await _until_set([one.arrived for one in self.extensions], JOIN_SECONDS)

    async def _admit(self, one: HostedExtension) -> str | None:
        """Names are given in order: the second of two never has one, whoever comes first."""
        await self._named.wait()
        if one.name in self._verdicts:
            return self._verdicts.pop(one.name)
        return self._names.give(one.name, one.joined)

    async def ready(self) -> None:
        """Until all have joined, or have had their time; at once where that is long ago."""
        await self._opened.wait()

    def _changed(self) -> None:
        """What is offered has changed; while all are started that is said once, behind them."""
        if self._opened.is_set() and not self._beside.is_closed:
            self._beside.start(self.offer(), "offer")
        for one in self.extensions:
            if one.state in ("failed", "stopped"):
                self.room.leave(one)
                self._names.take_back(one.name)

    async def offer(self) -> None:
        if self._has_had_some:
            await self.door.offer(self.offers, self.hooks.names)

    @property
    def offers(self) -> tuple[ToolOffer, ...]:
        """All tools that extensions bring now, and the agent's own ones for them."""
        brought = [tool for one in self.extensions if one.is_there for tool in self._tools(one)]
        return (*self.own.offers, *(tool.offer for tool in brought))

    def _tools(self, one: HostedExtension) -> list[BroughtTool]:
        for name in one.joined.tools:
            self._owners[name] = one.name
        return list(one.joined.tools.values())

    async def reload(self) -> None:
        """Stop all, look again, start all. A call that comes meanwhile waits. It is done also where
        whoever asked for it does not wait any longer."""
        if self._is_over:
            return
        work = self._beside.call(self._load_again(), "reload")
        await asyncio.wait([work])
        if not work.cancelled():  # else the session has ended meanwhile
            work.result()

    async def _load_again(self) -> None:
        async with self._reloading:
            self._opened.clear()
            self._leaving, self.extensions = [*self._leaving, *self.extensions], []
            try:
                await self._end(self._leaving, is_reload=True)
            finally:
                await self._open()
            self._leaving = []
            await self.offer()

    async def stop(self) -> None:
        """The session ends: nothing of them is left."""
        self._is_over = True
        self._opened.set()
        self._named.set()
        await self._beside.close(cancel=True, seconds=1)
        if not (self.extensions or self._leaving):
            return
        over = event_of("session.shutdown", "over", {"shutdownType": "routine"})
        for one in self.extensions:
            one.tell(over)
        await self._end([*self._leaving, *self.extensions], "The session has ended.")

    async def _end(
        self, extensions: Sequence[HostedExtension], reason: str = "", *, is_reload: bool = False
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for one in extensions:
                group.create_task(one.stop(reason, is_reload=is_reload))
        for one in extensions:
            self.room.leave(one)

    def leave(self) -> None:
        self.room.ending.start_if_open(self.stop(), self.door.session)

    @property
    def is_in_cage(self) -> bool:
        """Whether one of them runs inside the session's cage, and would end with that."""
        is_caged = self.door.caging is not None
        return is_caged and any(one.is_there and not one.file.on_host for one in self.extensions)

    # At the gate.

    def cares(self, tool: str) -> bool:
        is_required = bool(self.room.shelf.settings.required)
        return is_required or not self._opened.is_set() or self.hooks.cares(tool)

    async def before(self, use: ToolUse) -> GateRefusal | Change | None:
        with contextlib.suppress(TimeoutError):  # who is late is told below, or has no say yet
            async with asyncio.timeout(JOIN_SECONDS + 5):
                await self._opened.wait()
        if no := self._missing():
            return GateRefusal(no)
        return await self.hooks.before(use)

    def _missing(self) -> str | None:
        """Of those that must run, the first that does not."""
        for name in self.room.shelf.settings.required:
            found = [one for one in self.extensions if one.name == name]
            if not any(one.is_running for one in found):
                on_shelf = next((file.reason for file in self.files if file.name == name), "")
                why = next((one.reason for one in found), "") or on_shelf or "It is not there."
                return (
                    f"The extension {name} must run in every session, and it does not: {why} "
                    "No tool can be used until it runs."
                )
        return None

    # Calls of their tools.

    def has(self, tool: str) -> bool:
        """Whether it is, or was, a tool of an extension here or one of the agent's own for them."""
        return tool in self._owners or self.own.has(tool)

    def brings(self, tool: str) -> bool:
        """Whether an extension offers it now."""
        return any(one.is_there and tool in one.joined.tools for one in self.extensions)

    async def call(self, call: OutsideCall) -> ToolSaid:
        if self.own.has(call.tool):
            return await self.own.answer(call)
        await self._opened.wait()
        for one in self.extensions:
            tool = one.joined.tools.get(call.tool)
            if tool is None or not one.is_there:
                continue
            if call.again and not tool.repeatable:
                return ToolRefusal(_MAY_HAVE)
            answer = await one.call(tool, call)
            async with self._reloading:  # who was cut off by it goes on with the new tools
                return answer
        if call.again:
            return ToolRefusal(_MAY_HAVE)
        return ToolRefusal(f"{missing(call.tool)} It {_REPLACED}.")

    def asking(self, tools: Iterable[object]) -> int:
        """How many of these calls may ask a person."""
        return sum(1 for tool in tools if tool in (*_ASKING, EXTENSIONS_RELOAD))

    def is_told_again(self, tool: str) -> bool:
        """Whether a call of it that was cut off is made a second time."""
        if tool in _ASKING or self.own.has(tool):
            return True
        found = (one.joined.tools.get(tool) for one in self.extensions if one.is_there)
        return any(brought.repeatable for brought in found if brought)

    # What happens in the session.

    def owner(self, tool: str) -> str | None:
        """The extension whose tool it is."""
        return self._owners.get(tool) if self.brings(tool) else None

    def wants(self, kind: str) -> bool:
        # Asked at every event, in the most sessions of nobody.
        return bool(self.extensions) and (
            kind in EVENT_KINDS and any(one.is_running for one in self.extensions)
        )

    def hear(self, event: Mapping[str, Any]) -> None:
        """An event of the runtime, for those who want it."""
        for one in self.extensions:
            one.tell(event)

    async def answer_hook(self, name: HookName, said: Mapping[str, Any]) -> dict[str, Any]:
        return await self.hooks.answer(name, said)

    # What people see.

    async def look(self) -> Sequence[SeenExtension]:
        """As `shown`, with what came, or was trusted, since they were loaded."""
        found = await self.room.shelf.found(self.door.cwd)
        return with_what_came(self.files, found, self.extensions)

    def shown(self) -> Sequence[SeenExtension]:
        return seen_of(self.files, self.extensions)


async def _until_set(events: Iterable[asyncio.Event], seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for event in events:
                await event.wait()
