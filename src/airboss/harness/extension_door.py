"""What a session lets its extensions do: say something, send a prompt, ask a person, be offered."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from airboss.background import Background
from airboss.errors import AirbossError, TooLarge, TooMuch
from airboss.harness.approvals import answer_of
from airboss.harness.extension_items import ExtensionQuestions
from airboss.harness.pending_items import PendingItems
from airboss.harness.prompts import Extras
from airboss.harness.session_extensions import BY_EXTENSION
from airboss.harness.session_state import SessionState
from airboss.model.extension_events import ExtensionEvent
from airboss.model.redaction import Redactor
from airboss.runtime.hook_process import Caging
from airboss.runtime.permission import Decide, PermissionAnswer, PermissionRequest
from airboss.runtime.tools import OutsideCall, ToolOffer

# Prompts of extensions in a row, without one of a person or a task between them.
MOST_IN_A_ROW: Final = 10
TRUST: Final = "extension"
_REMEMBERED: Final = 256
_OPEN_SECONDS: Final = 30.0
_WHY: Final = "It runs with your rights as soon as you allow it. Read it first."


@dataclass
class ExtensionDoor:
    """Of one session, to its extensions."""

    state: SessionState
    pending: PendingItems
    own_tools: tuple[ToolOffer, ...]
    decide: Decide
    # The session's own verbs.
    send: Callable[[str, str, bool, Extras], Awaitable[str]]
    stop_turn: Callable[[], Awaitable[object]]
    cwd_now: Callable[[], Path]
    server_names: Callable[[], Sequence[str]]
    # Starts programs in its cage, where it has one.
    caging: Caging | None
    background: Background
    # The names of hooks that the session has beside those of extensions.
    own_hooks: Callable[[], frozenset[str]] = frozenset
    questions: ExtensionQuestions = field(init=False)
    in_a_row: int = 0
    # Set when the runtime has opened the session.
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    # By the runtime's name of a request, ours; and by that of a call, its tool's.
    _requests: dict[str, str] = field(default_factory=dict[str, str])
    _tools: dict[str, str] = field(default_factory=dict[str, str])
    # What extensions sent into running turns, and who; and the last turn that was begun.
    _steered: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _turn: str = ""

    def __post_init__(self) -> None:
        self.questions = ExtensionQuestions(self.state)

    @property
    def session(self) -> str:
        return self.state.session

    @property
    def cwd(self) -> Path:
        return self.cwd_now()

    @property
    def redactor(self) -> Redactor:
        return self.state.redactor

    @property
    def is_of_task(self) -> bool:
        return self.state.task is not None

    @property
    def servers(self) -> Sequence[str]:
        return self.server_names()

    def tell(self, *said: ExtensionEvent) -> None:
        if not self.state.is_over:
            self.state.writer.say(*said)

    async def offer(self, tools: Sequence[ToolOffer], hooks: frozenset[str]) -> None:
        agent = self.state.agent
        if agent is not None and agent.alive:
            with contextlib.suppress(AirbossError):  # a lost runtime says so itself
                await agent.offer((*self.own_tools, *tools), hooks | self.own_hooks())

    async def prompt(
        self, text: str, extension: str, *, steer: bool, files: tuple[str, ...]
    ) -> str:
        """On disk when this answers, like a person's."""
        if self.in_a_row >= MOST_IN_A_ROW:
            raise TooMuch(
                f"Extensions have sent {MOST_IN_A_ROW} prompts in a row. The next one is accepted "
                "when a person or a task has sent one."
            )
        self.in_a_row += 1
        mine = (extension, self.redactor.text(text))
        if steer:
            _remember_last(self._steered, mine)
        try:
            return await self.send(text, f"{BY_EXTENSION}{extension}", steer, Extras(files=files))
        except BaseException:  # one that was not taken does not count
            self.in_a_row = max(0, self.in_a_row - 1)
            if mine in self._steered:
                self._steered.remove(mine)
            raise

    def author_of(self, text: str) -> str | None:
        """The extension that sent what the agent is about to read. The first that it reads in a
        turn is what the turn is for, and the rest was steered into it."""
        turn = self.state.turn
        if turn is not None and turn.id != self._turn:
            self._turn, who = turn.id, (turn.request.who if turn.request else None) or ""
            if not who.startswith(BY_EXTENSION):
                return None
            name = who.removeprefix(BY_EXTENSION)
        else:
            name = next((author for author, steered in self._steered if steered == text), None)
        if (name, text) in self._steered:
            self._steered.remove((str(name), text))
        return name

    def heard_from(self, who: str) -> None:
        """Somebody has sent a prompt."""
        if not who.startswith(BY_EXTENSION):
            self.in_a_row = 0

    async def abort(self) -> None:
        await self.stop_turn()

    def abort_soon(self) -> None:
        async def stop() -> None:
            with contextlib.suppress(AirbossError):
                await self.stop_turn()

        self.background.start_if_open(stop(), "abort")

    async def opened(self, seconds: float = _OPEN_SECONDS) -> None:
        """Until the runtime has the session; no longer than that."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.is_open.wait()

    async def workspace(self) -> str | None:
        """The runtime's folder of the session, once that is open."""
        await self.opened()
        return self.state.agent.workspace if self.state.agent else None

    async def history(self) -> Sequence[Mapping[str, Any]]:
        return await self.state.opened_agent.history()

    def last_words(self) -> dict[str, str]:
        """What the agent said last, or why its last turn failed, in a hook's words."""
        turn = self.state.turn or self.state.last_turn
        if turn is None:
            return {}
        error = {"error": self.redactor.text(turn.error.message)} if turn.error else {}
        message = {"finalMessage": self.redactor.text(turn.message)} if turn.message else {}
        return {**message, **error}

    async def ask(
        self, extension: str, question: str, choices: Sequence[str], *, allows_words: bool
    ) -> str | None:
        return await self.questions.ask(extension, question, choices, allows_words=allows_words)

    async def permit(self, request: PermissionRequest) -> PermissionAnswer:
        return await self.decide(request)

    async def ask_trust(
        self, call: OutsideCall, name: str, path: Path, digest: str, diff: str
    ) -> str | None:
        """By the call that wants it: that is asked again behind a restart."""
        raw = {"toolCallId": call.call, "name": name, "digest": digest, "diff": diff}
        request = PermissionRequest(
            call.request_id, call.call, TRUST, call.tool, (str(path),), None, None, name, raw
        )
        try:
            settled = await self.pending.ask_person(request, _WHY)
        except TooLarge:
            return None
        return settled.who if answer_of(settled).allowed else None

    # The runtime's own events.

    def in_our_words(
        self, raw: Mapping[str, Any], steering: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """As extensions are told it: with our names of requests, and nothing to answer."""
        data: Mapping[str, Any] = raw.get("data") or {}
        match raw.get("type"):
            case "user.message" if not raw.get("agentId"):
                name = str(data.get("messageId"))
                prompt = steering.get(name) or self.state.prompt
                if prompt is not None:
                    _remember(self._requests, name, prompt)
                    data = {**data, "messageId": prompt}
            case "assistant.message" | "session.error" if known := self._requests.get(
                str(data.get("originatingMessageId"))
            ):
                data = {**data, "originatingMessageId": known}
            case "tool.execution_start":
                _remember(self._tools, str(data.get("toolCallId")), str(data.get("toolName")))
            case "tool.execution_complete" if tool := self._tools.get(str(data.get("toolCallId"))):
                data = {**data, "toolName": tool}
            case "permission.requested":
                # Else the SDK of an extension answers it in its place.
                data = {**data, "resolvedByHook": True}
            case _:
                pass
        return {**raw, "data": data}


def _remember(names: dict[str, str], name: str, ours: str) -> None:
    """The newest of them."""
    names.pop(name, None)
    names[name] = ours
    if len(names) > _REMEMBERED:
        del names[next(iter(names))]


def _remember_last(steered: list[tuple[str, str]], one: tuple[str, str]) -> None:
    steered.append(one)
    del steered[:-_REMEMBERED]
