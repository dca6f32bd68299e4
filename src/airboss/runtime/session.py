"""One conversation with an agent on the runtime: asked, heard, stopped; in our words only."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from airboss.background import Background
from airboss.errors import RuntimeUnavailable
from airboss.model.events import Event, ToolEnded, ToolStarted
from airboss.model.excerpt import MOST_CHARACTERS, Redacting
from airboss.model.setup import USUAL, Setup
from airboss.runtime.agent_runtime import Runtime, gone
from airboss.runtime.errands import is_at_work, set_model, stop_work, take_back
from airboss.runtime.hooks import Hooks, ToolGate
from airboss.runtime.options import blobs, options_of
from airboss.runtime.permission import Decide
from airboss.runtime.requests import CutOffRequests, Requests, pending_requests
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused
from airboss.runtime.sdk_internals import forget_session
from airboss.runtime.session_on_process import WORKING_SECONDS, SessionOnProcess
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
from airboss.runtime.tool_names import ToolsBySource, narrow, tools_by_source
from airboss.runtime.tools import AnswerCall, ToolOffer
from airboss.runtime.translate import Translator
from airboss.store.images import Pictures

Hear: TypeAlias = Callable[[Event | Signal], None]

_OPEN_SECONDS = 60.0
# Together with the sweep an abort takes less than a second, whatever the runtime does.
_ABORT_SECONDS = 0.8
_CLOSE_SECONDS = 2.0
_REMEMBERED = 32


@dataclass(frozen=True)
class SessionRequest:
    """What a session is to be. `id` is also the mark on all that its agent starts.

    `hear` is called on the event loop, in order, and returns at once. `provider` is one's own model
    service in the SDK's words, whose model is shown images or not (`vision`); without it the models
    are Copilot's, for `github_token` or for the signed-in user.
    """

    id: str
    cwd: Path
    model: str
    hear: Hear
    decide: Decide
    redactor: Redacting
    provider: Mapping[str, Any] | None = None
    vision: bool = True
    github_token: str | None = None
    # Beside the runtime's own. These and `setup` are forgotten on a resume, and given anew.
    tools: tuple[ToolOffer, ...] = ()
    # For those of them that are answered from outside.
    answer: AnswerCall | None = None
    gate: ToolGate | None = None  # what every call of a tool passes; it too is given anew
    resume: bool = False
    # On a resume: what was asked for when it was cut off is asked again, and that turn goes on.
    goes_on: bool = False
    setup: Setup = USUAL
    quiet_limit: float = 60.0
    # Of each block so many characters are told.
    most: int = MOST_CHARACTERS


async def open_session(runtime: Runtime, asked: SessionRequest) -> "RuntimeSession":
    """Open or resume a session, starting the runtime when there is none."""

    async def opened(process: RuntimeProcess) -> RuntimeSession:
        session = RuntimeSession(process, asked)
        process.join(asked.id, session.hear, session.ask_hook)
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
        known_model = asked.model if asked.provider is None else None
        self._translator = Translator(asked.redactor, known_model, asked.most)
        self._hooks = Hooks(asked.gate) if asked.gate else None
        self.ask_hook = self._hooks and self._hooks.ask
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
        self._brought = frozenset[str]()  # the tools of servers that were seen
        self._replaced: ModelReplaced | None = None
        self._quiet: asyncio.TimerHandle | None = None
        # What goes on beside the turn.
        self._beside = Background("requests", asked.id)
        self._requests = Requests(asked.decide, asked.tools, asked.answer, self._beside)

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
        if outputs := await self._process.outputs_of(asked.id):
            options["large_output"] = {"output_directory": str(outputs)}
        if asked.resume:
            options["continue_pending_work"] = asked.goes_on
            opening = client.resume_session(asked.id, **options)
        else:
            opening = client.create_session(session_id=asked.id, name=asked.id, **options)
        try:
            self._sdk = await self._process.ask(opening, _OPEN_SECONDS)
        except RuntimeRefused as error:
            raise gone(error, asked.id) from error

    async def tools(self) -> ToolsBySource | None:
        return await tools_by_source(self._say)

    async def pending(self) -> CutOffRequests:
        """What was asked for when the session was cut off, and is still."""
        return await pending_requests(self._say)

    def go_on(self, pending: CutOffRequests) -> None:
        """The turn that was cut off goes on: what it asked for is asked again now."""
        self._begin_to_wait()
        for request in pending.permissions:
            self._requests.ask_permission(self._say, {"data": request})
        for call in pending.calls:
            self.hear({"type": "tool.execution_start", "data": call})
            self._requests.ask_outside(self._say, call)

    async def send(self, text: str, pictures: Pictures = ()) -> str:
        """Put a request to the agent; the runtime's id of it. What follows is heard."""
        self._begin_to_wait()
        try:
            self._brought = await narrow(self._asked.setup.tools, self._say, self._brought)
            return await self._process.ask(self._opened.send(text, attachments=blobs(pictures)))
        except BaseException as error:
            self._busy = False
            if isinstance(error, RuntimeRefused):
                raise gone(error, self.id) from error
            raise

    def _begin_to_wait(self) -> None:
        self._busy, self._answered, self._steered = True, False, False
        if self._hooks is not None:
            self._hooks.go_on()
        self._idle.clear()
        self._heard_at = self._loop.time()
        self._listen_for_quiet()

    async def steer(self, tag: str, text: str, pictures: Pictures = ()) -> None:
        """Put a request into the running turn. It is read between two steps of the agent, which
        `RequestRead` tells by its tag; an abort before that forgets it."""
        shown = blobs(pictures)
        name = await self._process.ask(self._opened.send(text, attachments=shown, mode="immediate"))
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

    async def set_model(self, model: str, effort: str | None) -> None:
        """Go on with another model of the same service, between two turns."""
        is_own = self._asked.provider is not None
        before = self._translator.ask_for(None if is_own else model)
        try:
            switching = set_model(self._opened, model, effort, is_own=is_own)
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
        await self._sweep()

    async def close(self) -> None:
        """Leave the session; its history stays with the runtime. Never raises for a dead one."""
        if not self._over:
            if self._busy:
                self._end_turn(TurnIdle(aborted=True))
            self._finish()
            self._process.forget(self.id)
            await asyncio.to_thread(self._process.put_outputs_aside, self.id)
            with contextlib.suppress(RuntimeUnavailable):
                await self._process.ask(self._opened.disconnect(), _CLOSE_SECONDS)
            forget_session(self._process.client, self.id)
        await self._beside.close(seconds=_CLOSE_SECONDS)
        await self._sweep()

    async def _sweep(self) -> None:
        """End what the agent left running. Who called no tool but ours has started nothing, and a
        look at all processes takes milliseconds. What was before a resume, nobody knows."""
        ours = {offer.name for offer in self._asked.tools}
        if self._asked.resume or self._hooks is None or self._hooks.called - ours:
            await self._process.sweep(self.id)
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
        for said in self._translator.hear(raw):
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
        await self._sweep()
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
        self._beside.cancel()
