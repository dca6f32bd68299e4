"""The runtime's hook before each call of a tool, in our words. What goes wrong here is a no.

The runtime lets a call pass when its hook fails or says something odd, so nothing of that kind
leaves this module. Allowing is never said either: it would keep permission from being asked for.
What came of a call is known by its events. All other hooks are asked only where a session has such
(`MoreHooks`); what goes wrong there is passed over.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, cast

from pydantic.alias_generators import to_snake

from airboss.background import Background
from airboss.model.events import ToolEnded, ToolStarted
from airboss.runtime.signals import Compacted
from airboss.session_keys import HookName

_log = logging.getLogger(__name__)

_FAULT: Final = "Airboss could not check this call, so it is refused."
_STOPPED: Final = "The turn was stopped before this call was let through."
BEFORE_CALL: Final = "preToolUse"
_AT_THE_END: Final = "sessionEnd"
# Said with every request to ask: it comes back in the permission request, by which that is known
# to be ours, also after a restart with another version. So it stays as it is.
ASKED_BY_THE_GATE: Final = "A tool that is not part of Airboss is called with permission only"
# Some tools take a text instead of named arguments; it goes by this name here.
BARE: Final = "input"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that an agent wants to use. `agent` is the sub-agent's id, where it is one's."""

    tool: str
    arguments: Mapping[str, Any]
    agent: str | None = None
    # The arguments were not named: they cannot be changed one by one.
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What came of a call. `details` is a longer form of its text, where there is one, and
    `is_missing`: there is no such tool."""

    text: str = ""
    error: str | None = None
    details: str | None = None
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Pass:
    """The call goes on: with these arguments where they were changed, and a word to the agent.
    With `must_ask` only when permission was asked for and given, whatever the runtime thinks of the
    tool; what is asked about is then the call as it was made, so nothing of it can be changed."""

    arguments: Mapping[str, Any] | None = None
    note: str | None = None
    must_ask: bool = False


@dataclass(frozen=True, slots=True)
class Veto:
    """The call does not go on, and the agent is told why."""

    reason: str


Answer: TypeAlias = Pass | Veto


class ToolGate(Protocol):
    """What every call of a tool passes, the runtime's own and ours, a sub-agent's too."""

    async def before(self, use: ToolUse) -> Answer: ...

    def hear(self, said: ToolStarted | ToolEnded | Compacted) -> None:
        """The same calls as events tell them, what came of them, and what else it ought to know."""
        ...


class MoreHooks(Protocol):
    """What a session has beside the gate. `names` are those of the runtime's hooks."""

    @property
    def names(self) -> frozenset[str]: ...

    async def answer(self, name: str, said: Mapping[str, Any] | None) -> dict[str, Any]:
        """In the runtime's words; without `said` its question was too large to be read."""
        ...

    def seconds(self, name: HookName) -> float:
        """So long the hooks of this name take together at most."""
        ...


class Hooks:
    """The SDK's hooks of one session."""

    def __init__(self, gate: ToolGate, more: MoreHooks | None = None) -> None:
        self._gate = gate
        self._more = more
        # Each is awaited by the call that it is for.
        self._going = Background("hooks")
        self._is_stopped = False
        # The tools that were called, by the question before each call and by its event: whatever
        # the agent has started, one of these did it.
        self.called: set[str] = set()

    def for_the_sdk(self) -> dict[str, Any]:
        """For `create_session(hooks=…)`."""
        others = {_sdk_name(name): self._asking(name) for name in self.names}
        return {"on_pre_tool_use": self._asking(BEFORE_CALL), **others}

    @property
    def names(self) -> frozenset[str]:
        """Beside the one before each call."""
        return self._more.names if self._more else frozenset()

    @property
    def end_seconds(self) -> float:
        """So long the end of the session may take, for its hooks."""
        is_asked = self._more is not None and _AT_THE_END in self.names
        return self._more.seconds(_AT_THE_END) if self._more and is_asked else 0.0

    async def settle(self) -> None:
        """Wait for what is asked at the end of the session."""
        if seconds := self.end_seconds:
            await self._going.wait(seconds)

    def hear(self, said: ToolStarted | ToolEnded | Compacted) -> None:
        """Whatever the gate makes of it, others are to hear it too."""
        if isinstance(said, ToolStarted):
            self.called.add(said.name)
        try:
            self._gate.hear(said)
        except Exception:  # noqa: BLE001  # the border: what happened has happened
            _log.exception("The gate failed at what it was told")

    def stop(self) -> None:
        """No call is let through any more, and who still thinks about one is not waited for: the
        runtime would wait, even where the turn is to be stopped."""
        self._is_stopped = True
        self._going.cancel()

    def go_on(self) -> None:
        """Another turn begins."""
        self._is_stopped = False

    def ask(
        self, name: str, said: Mapping[str, Any] | None, reply: Callable[[dict[str, Any]], None]
    ) -> None:
        """The runtime's question, off the wire: its answer is given to `reply`, once. One that was
        too large to be read has no words."""
        is_call = name == BEFORE_CALL
        unasked = _said(Veto(_STOPPED)) if is_call else {}
        if self._is_stopped and name != _AT_THE_END:
            reply(unasked)
            return
        if is_call and said is not None:
            self.called.add(str(said.get("toolName")))

        def answer(asked: "asyncio.Task[dict[str, Any]]") -> None:
            reply(unasked if asked.cancelled() else asked.result())

        work = self._answer(said or {}) if is_call else self._answer_more(name, said)
        self._going.call(work).add_done_callback(answer)

    def _asking(
        self, name: str
    ) -> Callable[[Mapping[str, Any], object], Awaitable[dict[str, Any]]]:
        """The same question, where it comes through the SDK."""

        async def ask(said: Mapping[str, Any], _: object) -> dict[str, Any]:
            answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

            def reply(answer: dict[str, Any]) -> None:
                if not answered.done():  # else nobody waits for it any more
                    answered.set_result(answer)

            self.ask(name, said, reply)
            return await answered

        return ask

    async def _answer_more(self, name: str, said: Mapping[str, Any] | None) -> dict[str, Any]:
        if self._more is None:
            return {}
        try:
            return await self._more.answer(name, said)
        except Exception:  # noqa: BLE001  # the border: whatever failed, all goes on without it
            _log.exception("The hook %s failed and is passed over", name)
            return {}

    async def _answer(self, said: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return _said(await self._gate.before(_use(said)))
        except Exception:  # noqa: BLE001  # the border: whatever failed, the call is refused
            _log.exception("The gate failed, and a call of a tool is refused")
            return _said(Veto(_FAULT))


def _use(said: Mapping[str, Any]) -> ToolUse:
    given: object = said.get("toolArgs")
    is_bare = not isinstance(given, Mapping)
    arguments = {BARE: given} if is_bare else dict(cast("Mapping[str, Any]", given))
    return ToolUse(str(said["toolName"]), arguments, said.get("agentId"), is_bare)


def outcome_of(tool: str, said: ToolEnded) -> ToolOutcome:
    """What the event says. Where the runtime streamed something else than it gave the model, the
    one is the text and the other the details."""
    if said.error is None:
        return ToolOutcome(said.text, details=said.result and said.result.detailed_content)
    error = said.error.message
    return ToolOutcome(said.text, error, is_missing=_is_missing(tool, error))


def _is_missing(tool: str, error: str) -> bool:
    """Whether the runtime says that it has no such tool, or we said so in its place."""
    return missing(tool) in error


def missing(tool: str) -> str:
    """The runtime's own words for a tool that it does not have."""
    return f"Tool '{tool}' does not exist."


def _said(answer: object) -> dict[str, Any]:
    match answer:
        case Pass(must_ask=True, arguments=None, note=note):
            ask = {"permissionDecision": "ask", "permissionDecisionReason": ASKED_BY_THE_GATE}
            return {**ask, **_note(note)}
        case Pass(must_ask=False, arguments=arguments, note=note):
            changed = {} if arguments is None else {"modifiedArgs": dict(arguments)}
            return {**changed, **_note(note)}
        case Veto(reason=reason):
            return {"permissionDecision": "deny", "permissionDecisionReason": reason}
        case _:
            raise TypeError(f"{type(answer).__name__} is no answer of a gate")


def _sdk_name(name: str) -> str:
    """As in `on_user_prompt_submitted`."""
    return f"on_{to_snake(name)}"


def _note(note: str | None) -> dict[str, str]:
    return {"additionalContext": note} if note else {}
