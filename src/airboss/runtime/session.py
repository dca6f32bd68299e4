"""One conversation with an agent on the runtime: asked, heard, stopped; in our words only."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from airboss.background import Background
from airboss.errors import RuntimeUnavailable
from airboss.model.events import Event, ToolEnded, ToolStarted
from airboss.runtime.agent_runtime import Runtime
from airboss.runtime.auto_switch import AutoSwitch
from airboss.runtime.errands import be_agent, is_at_work, set_model, stop_work, take_back
from airboss.runtime.gone_session import gone
from airboss.runtime.hooks import Hooks
from airboss.runtime.options import options_of
from airboss.runtime.requests import CutOffRequests, Requests
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused
from airboss.runtime.sdk_internals import forget_session
from airboss.runtime.session_on_process import WORKING_SECONDS, SessionOnProcess
from airboss.runtime.session_request import SessionRequest, nobody_listens
from airboss.runtime.session_servers import RunningServers
from airboss.runtime.signals import (
    Compacted,
    ModelReplaced,
    RequestRead,
    RuntimeLost,
    Signal,
    TurnBegan,
    TurnIdle,
    went_quiet,
)
from airboss.runtime.tools import ToolOffer, sdk_tools
from airboss.runtime.translate import Translator

_OPEN_SECONDS = 60.0
# Together with the sweep an abort takes less than a second, whatever the runtime does.
_ABORT_SECONDS = 0.8
_CLOSE_SECONDS = 2.0
_REMEMBERED = 32


async def open_session(runtime: Runtime, asked: SessionRequest) -> "RuntimeSession":
    """Open or resume a session, starting the runtime when there is none."""

    async def opened(process: RuntimeProcess) -> RuntimeSession:
        session = RuntimeSession(process, asked)
        process.join(asked.id, session.hear, session.ask_hook, session.wanted_hooks)
        try:
            await session.open()
        except BaseException:
            process.forget(asked.id)
            raise
        process.when_lost(asked.id, session.lost)
        return session

    return await runtime.on_process(opened)


class RuntimeSession(SessionOnProcess):
    """A session on one process of the runtime. When that ends, so does this; it is resumed anew."""

    def __init__(self, process: RuntimeProcess, asked: SessionRequest) -> None:
        super().__init__(process, asked.id)
        self._asked = asked
        self.offers = asked.tools
        self._overhear = asked.overhear or nobody_listens
        known_model = asked.model if asked.provider is None else None
        self._translator = Translator(asked.redactor, known_model, asked.most)
        self._hooks = Hooks(asked.gate, asked.hooks) if asked.gate else None
        self.ask_hook = self._hooks and self._hooks.ask
        self.wanted_hooks = self._hooks.names if self._hooks else frozenset[str]()
        self._loop = asyncio.get_running_loop()
        self._heard_at = self._loop.time()
        self._busy = self._began = False
        self._idle = asyncio.Event()
        # A turn that was ended in the runtime's place: its own word for that may still come.
        self._owes_idle = False
        self._answered = False
        # The runtime's ids: of what was put into a running turn and not read yet, and of all that
        # was read lately.
        self._steering: dict[str, str] = {}
        self._read: deque[str] = deque(maxlen=_REMEMBERED)
        self._steered = False
        self._over = False
        self.servers = RunningServers(asked, self._say)
        self._replaced: ModelReplaced | None = None
        self._quiet: asyncio.TimerHandle | None = None
        # What goes on beside the turn.
        self._beside = Background("requests", asked.id)
        self._requests = Requests(asked.decide, asked.tools, asked.answer, self._beside)
        self._switch = AutoSwitch(asked.switch, self._say, self._put, self._tell, self._beside)

    @property
    def passed_over(self) -> Mapping[str, int]:
        """The kinds of events that meant nothing to us, counted."""
        return self._translator.passed_over

    @property
    def alive(self) -> bool:
        return not self._over and self._process.alive

    async def open(self) -> None:
        asked, client = self._asked, self._process.client
        options = options_of(asked, self._process)
        options["hooks"] = self._hooks and self._hooks.for_the_sdk()
        options["on_auto_mode_switch_request"] = self._switch.for_the_sdk()
        if outputs := await self._process.outputs_of(asked.id):
            options["large_output"] = {"output_directory": str(outputs)}
        if asked.resume:
            options["continue_pending_work"] = asked.goes_on
            opening = client.resume_session(asked.id, **options)
        else:
            opening = client.create_session(session_id=asked.id, name=asked.id, **options)
        try:
            self._sdk = sdk = await self._process.ask(opening, _OPEN_SECONDS)
            if asked.resume and asked.setup.agents:
                await self._process.ask(be_agent(sdk, asked.setup.agent), WORKING_SECONDS)
        except RuntimeRefused as error:
            raise gone(error, asked.id) from error
        if self.servers:
            self._process.begin(self.servers.start(self._sdk.rpc))  # nobody waits for it

    def go_on(self, pending: CutOffRequests, is_told: Callable[[str], bool] | None = None) -> None:
        """The turn that was cut off goes on: what it asked for is asked again now. Calls of tools
        for which `is_told` says no were told before, with their end."""
        self._begin_to_wait()
        for request in pending.permissions:
            self._requests.ask_permission(self._say, {"data": request})
        for call in pending.calls:
            if is_told is None or is_told(str(call.get("toolName"))):
                self.hear({"type": "tool.execution_start", "data": call})
            self._requests.ask_outside(self._say, call, again=True)

    async def send(
        self,
        text: str,
        more: list[Any] | None = None,
        *,
        plan: bool = False,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> str | None:
        """Put a request to the agent, with attachments in the runtime's words; the runtime's id of
        it. What follows is heard. In plan mode the agent is told to show a plan first."""
        self._begin_to_wait()
        try:
            await self.servers.before_request()
            self._busy = is_wanted()  # asked again: servers may have taken long
            if not self._busy:
                return None
            asking = self._opened.send(text, attachments=more, agent_mode="plan" if plan else None)
            name = await self._process.ask(asking)
            if self.servers.are_late:
                self._beside.start(self.servers.release(self._say, lambda: self._began), "release")
        except BaseException as error:
            self._busy = False
            if isinstance(error, RuntimeRefused):
                raise gone(error, self.id) from error
            raise
        return name

    def _begin_to_wait(self) -> None:
        self._busy, self._answered, self._steered = True, False, False
        if self._hooks is not None:
            self._hooks.go_on()
        self._idle.clear()
        self._heard_at = self._loop.time()
        self._listen_for_quiet()

    async def steer(self, tag: str, text: str, more: list[Any] | None = None) -> None:
        """Put a request into the running turn. It is read between two steps of the agent, which
        `RequestRead` tells by its tag; an abort before that forgets it."""
        name = await self._process.ask(self._opened.send(text, attachments=more, mode="immediate"))
        self._steering[name] = tag
        if name in self._read:  # its event was faster than this answer
            self._tell_read(name, past=True)

    async def take_back(self, tag: str, text: str) -> None:
        """What was put into a turn and not read is not to be read any more. When this returns, it
        was read and that was told, or it never will be."""
        for name in [name for name, other in self._steering.items() if other == tag]:
            with contextlib.suppress(RuntimeUnavailable):
                await self._process.ask(take_back(self._opened, name, text), WORKING_SECONDS)
            self._steering.pop(name, None)

    async def offer(self, tools: tuple[ToolOffer, ...], hooks: frozenset[str]) -> None:
        """From now on it has these tools, in the running turn too, and is asked these hooks."""
        if self._hooks is not None:
            self._process.want(self.id, hooks)
        if tools != self.offers:
            await self._process.ask(self._opened.set_tools(sdk_tools(tools)), WORKING_SECONDS)
            self.offers = tools
            self._requests.take_tools(tools)

    @property
    def knows_named_models_only(self) -> bool:
        """Whether another model of its service has to be named to the runtime first."""
        return bool(self._asked.named) and self._asked.provider is not None

    async def set_model(self, model: str, effort: str | None) -> None:
        """Go on with another model of the same service, between two turns."""
        is_own = self._asked.provider is not None
        before = self._translator.ask_for(None if is_own else model)
        try:
            name = self._asked.runtime_model(model)
            switching = set_model(self._opened, name, effort, is_own=is_own)
            await self._process.ask(switching, WORKING_SECONDS)
        except BaseException:
            self._translator.ask_for(before)
            raise

    async def abort(self) -> None:
        """Stop the turn and all that the agent started; every block is closed when this returns."""
        self._stop_hooks()
        with contextlib.suppress(RuntimeUnavailable, TimeoutError):
            async with asyncio.timeout(_ABORT_SECONDS):
                await self._process.ask(stop_work(self._opened))
                if self._busy and self.alive:
                    await self._idle.wait()
        if self._busy and self.alive:
            self._end_turn(TurnIdle(aborted=True))
        await self._sweep(keeps_servers=True)

    async def close(self) -> None:
        """Leave the session; its history stays with the runtime. Never raises for a dead one."""
        with self._process.leaving():
            await self._leave()

    async def _leave(self) -> None:
        if not self._over:
            if self._busy:
                self._end_turn(TurnIdle(aborted=True))
            self._finish()
            await asyncio.to_thread(self._process.put_outputs_aside, self.id)
            last = self._hooks.end_seconds if self._hooks else 0  # asked while it is left
            with contextlib.suppress(RuntimeUnavailable):
                await self._process.ask(self._opened.disconnect(), _CLOSE_SECONDS + last)
            if self._hooks is not None:
                await self._hooks.settle()
            self._process.forget(self.id)
            forget_session(self._process.client, self.id)
        await self._beside.close(seconds=_CLOSE_SECONDS)
        await self._sweep()

    async def _sweep(self, *, keeps_servers: bool = False) -> None:
        """End what the agent left running. Who called no tool but ours has started nothing, and a
        look at all processes takes milliseconds. What was before a resume, nobody knows."""
        ours = {offer.name for offer in self.offers}
        has_servers = self.servers and not keeps_servers
        is_new = not self._asked.resume and self._hooks is not None
        if not is_new or has_servers or (self._hooks and self._hooks.called - ours):
            await self._process.sweep(self.id, keeps_servers=keeps_servers)
        else:
            await self._process.sweep_orphans(self.id)

    async def is_processing(self) -> bool:
        """Whether the runtime says that it works on a turn."""
        said = is_at_work(self._opened, with_commands=self._steered)
        return await self._process.ask(said, WORKING_SECONDS)

    # What the runtime tells.

    def hear(self, raw: Mapping[str, Any]) -> None:
        """One raw event; called on the loop, in order."""
        if self._over:
            return
        self._heard_at = self._loop.time()
        self._overhear(raw, self._steering)
        match raw.get("type"):
            case "permission.requested":
                self._requests.ask_permission(self._say, raw)
            case "external_tool.requested":
                self._requests.ask_outside(self._say, raw["data"])
            case "permission.completed" | "external_tool.completed":
                self._requests.drop(str(raw["data"].get("requestId")))
            case "tool.execution_start" | "tool.execution_complete":
                self._requests.origins.hear(raw)
            case "user.message" if not raw.get("agentId"):
                self._tell_read(str(raw["data"].get("messageId")))
            case "assistant.message" if not raw.get("agentId"):
                self._answered = not raw["data"].get("toolRequests")
            case _:
                pass
        if self.servers and self.servers.hear(raw):
            self._beside.start(self.servers.narrow_later(), "tools of servers")
        for said in self._switch.hear(raw, self._translator.hear(raw)):
            self._tell(said)

    def _tell_read(self, name: str, *, past: bool = False) -> None:
        self._read.append(name)
        if tag := self._steering.pop(name, None):
            self._steered = True
            self._asked.hear(RequestRead(tag, past))

    def lost(self, reason: str) -> None:
        """The process is gone. Said once, after every block is closed."""
        if self._over:
            return
        for event in self._translator.close():
            self._asked.hear(event)
        self._asked.hear(RuntimeLost(reason))
        self._finish()

    def _tell(self, said: Event | Signal | Compacted) -> None:
        if self._hooks is not None and isinstance(said, ToolStarted | ToolEnded | Compacted):
            self._hooks.hear(said)
        match said:
            case Compacted():
                return
            case TurnBegan():
                self._busy = self._began = True
                self._owes_idle = False
                if self._hooks is not None:
                    self._hooks.go_on()
                self._idle.clear()
                self._listen_for_quiet()
                self._asked.hear(said)
                if self._replaced is not None:
                    self._asked.hear(self._replaced)
                    self._replaced = None
                return
            case TurnIdle():
                if self._owes_idle and not self._began:
                    self._owes_idle = False
                    return
                if not self._busy:
                    return
                self._busy = self._began = False
                self._idle.set()
            case ModelReplaced() if not self._began:
                self._replaced = said  # belongs to the turn that comes
                return
            case _:
                pass
        self._asked.hear(said)

    def _end_turn(self, *signals: Signal) -> None:
        """End a turn in the runtime's place: it will not do so itself."""
        for event in self._translator.close():
            self._tell(event)
        for said in signals:
            self._tell(said)
        self._owes_idle = True

    # A turn that went quiet.

    def _listen_for_quiet(self) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
        due = self._heard_at + self._asked.quiet_limit
        self._quiet = self._loop.call_at(due, self._is_it_quiet)

    def _is_it_quiet(self) -> None:
        if self._over or not self._busy:
            return
        if self._loop.time() - self._heard_at < self._asked.quiet_limit:
            self._listen_for_quiet()
        else:
            self._beside.cancel("quiet")
            self._beside.start(self._look_into_quiet(), "quiet")

    async def _look_into_quiet(self) -> None:
        """No event for long: ask. A missed end is made good, a lost turn fails in words."""
        heard_at = self._heard_at
        try:
            working = await self.is_processing()
        except RuntimeUnavailable:
            working = None
        if self._over or not self._busy:
            return
        if working or self._heard_at != heard_at:
            self._heard_at = self._loop.time()
            self._listen_for_quiet()
            return
        self._stop_hooks()
        with contextlib.suppress(RuntimeUnavailable):
            if working is None:
                await self._process.ask(stop_work(self._opened), _ABORT_SECONDS)
        await self._sweep(keeps_servers=True)
        if working is False and self._answered:
            self._end_turn(TurnIdle())
        elif not self._over:
            self._end_turn(went_quiet(self._asked.quiet_limit, working), TurnIdle())

    # Housekeeping.

    def _stop_hooks(self) -> None:
        if self._hooks is not None:
            self._hooks.stop()

    def _finish(self) -> None:
        self._over, self._busy = True, False
        self._stop_hooks()
        self._idle.set()
        if self._quiet is not None:
            self._quiet.cancel()
        self._switch.release()
        self._beside.cancel()
