"""The tool gate: the one place that every call of a tool passes, before and after it is made.

In this order: loops, policies, hooks, the policies again where a hook changed something. Whatever
fails, hangs or says something odd on the way is a no. That a call may be made is not said here:
permission is asked for behind the gate. The runtime asks for it by itself where a tool is its own;
for the tools of others it would leave that to whoever brought them (`readOnlyHint` of an MCP
server), so the gate has it asked for each of their calls.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar, cast

from airboss.background import Background, ignore_failure
from airboss.harness.allowances import Allowance
from airboss.harness.builtin_tools import is_asked_for
from airboss.harness.loops import Finding, Loops, PassedCall, Stint
from airboss.harness.pending_calls import OpenCall, PendingCalls
from airboss.harness.session_state import SessionState
from airboss.model.events import ToolEnded, ToolStarted
from airboss.model.gate_events import Denied, GateEvent, LoopNoticed, ToolVetoed
from airboss.runtime.hooks import Pass, ToolOutcome, ToolUse, Veto, outcome_of
from airboss.runtime.signals import Compacted

HOOK_SECONDS: Final = 15.0
TOOL_LOOP: Final = "ToolLoop"
_MOST_BLOCKED: Final = 1024
_NOBODY_TO_ASK: Final = "This needs approval, and nobody can be asked here."
_UNCHANGEABLE: Final = (
    "A hook changed the arguments of a tool that is not part of Airboss. "
    "Only the original call can be approved, so it is refused."
)
_FAULT: Final = "Airboss could not check this call, so it is refused."

Value = TypeVar("Value")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GateRefusal:
    """No, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """Only when a person says yes."""

    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """Yes, with these arguments over the given ones (`replaces`: in their place), and a word to the
    agent; with `ask` only when a person says yes, for this reason. With `allow` nobody need be
    asked where only the policy wants that."""

    arguments: Mapping[str, Any] | None = None
    note: str | None = None
    ask: str | None = None
    replaces: bool = False
    allow: Allowance | None = None


Status: TypeAlias = Literal["completed", "failed", "blocked"]


@dataclass(frozen=True, slots=True)
class Finished:
    """What hooks behind a call are told. Of a blocked one the outcome has the reason."""

    session: str
    use: ToolUse
    stint: Stint
    status: Status
    outcome: ToolOutcome
    began: float
    block: str | None = None


# Both see the call with its arguments; none is a yes. Only a hook may change something.
Policy: TypeAlias = Callable[[ToolUse], Awaitable[GateRefusal | NeedsApproval | None]]
Hook: TypeAlias = Callable[[ToolUse], Awaitable[GateRefusal | NeedsApproval | Change | None]]
AfterHook: TypeAlias = Callable[[Finished], Awaitable[None]]
# Asks a person; only an exact True is a yes.
Ask: TypeAlias = Callable[[ToolUse, str], Awaitable[bool]]


class Vetoed(Exception):
    """Ends the way through the gate."""

    def __init__(self, denied: Denied, reason: str) -> None:
        super().__init__(reason)
        self.denied: Denied = denied


class LastCheck(Protocol):
    """Asked behind all hooks, about some tools; it keeps its own time."""

    def cares(self, tool: str) -> bool: ...

    async def before(self, use: ToolUse) -> GateRefusal | Change | None: ...


@dataclass(frozen=True, slots=True)
class Checks:
    """Who is asked on the way through. Policies are trusted, and see what the agent gave."""

    policies: Sequence[Policy] = ()
    hooks: Sequence[Hook] = ()
    after: Sequence[AfterHook] = ()
    ask: Ask | None = None
    hook_seconds: float = HOOK_SECONDS
    last: LastCheck | None = None

    def hooks_about(self, tool: str) -> list[tuple[Hook, float | None]]:
        """Each with the time that it has."""
        found: list[tuple[Hook, float | None]] = [(hook, self.hook_seconds) for hook in self.hooks]
        if self.last is not None and self.last.cares(tool):
            found.append((self.last.before, None))
        return found


@dataclass(slots=True)
class Gate:
    """The gate of one session, whose `state` it reads. `tell` says what happened on its stream, and
    `end_turn` ends the turn that runs with an error of this name and text. `ours` are the names of
    the tools that Airboss offers itself."""

    state: SessionState
    loops: Loops
    tell: Callable[[GateEvent], None]
    end_turn: Callable[[str, str], None]
    checks: Checks = field(default_factory=Checks)
    ours: Container[str] = ()
    _pending: PendingCalls = field(init=False)
    _blocked: "OrderedDict[str, None]" = field(default_factory=OrderedDict["str", None])
    # Policies and hooks at work, also those that were left behind.
    _asked: Background = field(init=False)

    def __post_init__(self) -> None:
        self._pending = PendingCalls(self.state.redactor.text)
        self._asked = Background("gate", self.state.session)

    async def before(self, use: ToolUse) -> Pass | Veto:
        turn = self.state.turn
        stint: Stint = (turn.id if turn else None, use.agent)
        going = self._pending.begin(use, stint)
        try:
            found = self.loops.look(stint, use.tool, use.arguments)
            if found is not None and found.level == "critical":
                return self._stop_loop(going, found)
            going.call = self.loops.begin(stint, use.tool, use.arguments)
            if found is not None:
                self._notice(found)
            changed, notes = await self._checked(use, going)
            must_ask = self._must_ask(use, changed)
        except Vetoed as veto:
            return self._veto(going, veto.denied, str(veto))
        except asyncio.CancelledError:
            self._pending.drop(going)
            raise
        except Exception:  # noqa: BLE001  # fail closed: a fault of ours is a no
            _log.exception("The gate failed at a call of %s", use.tool)
            return self._veto(going, "policy", _FAULT)
        going.final = replace(use, arguments=use.arguments if changed is None else changed)
        self._note_allowed()
        words = [found.text, *notes] if found else notes
        return Pass(changed, "\n\n".join(words) or None, must_ask)

    def hear(self, said: ToolStarted | ToolEnded | Compacted) -> None:
        """A call as the session's events tell it: its name, and what came of it."""
        match said:
            case Compacted():
                self.loops.compacted()
            case ToolStarted():
                if self._pending.started(said):
                    self._remember(said.block)
                self._note_allowed()
            case ToolEnded():
                self.state.allowed.pop(said.block, None)
                if going := self._pending.ended(said.block):
                    self._settle(going, outcome_of(going.use.tool, said))

    def was_blocked(self, block: str) -> bool:
        """Whether this call was refused before it was made; the last 1,024 are remembered."""
        return block in self._blocked

    async def close(self) -> None:
        """End what hooks left behind."""
        await self._asked.close(cancel=True, seconds=1)

    # The way through.

    def _must_ask(self, use: ToolUse, changed: Mapping[str, Any] | None) -> bool:
        """Whether permission is asked for in any case; raises where that would not fit the call."""
        must_ask = not is_asked_for(use.tool) and use.tool not in self.ours
        if must_ask and changed is not None:
            raise Vetoed("hook", _UNCHANGEABLE)
        return must_ask

    async def _checked(
        self, use: ToolUse, going: OpenCall
    ) -> tuple[Mapping[str, Any] | None, list[str]]:
        """The changed arguments, where there are any, and words to the agent; raises where somebody
        says no."""
        checks = self.checks
        notes: list[str] = []
        for policy in checks.policies:
            await self._obey("policy", use, await self._policy(policy, use))
        arguments: Mapping[str, Any] | None = None
        for hook, seconds in checks.hooks_about(use.tool):
            seen = use if arguments is None else replace(use, arguments=arguments)
            said = await self._answer("hook", hook, seen, seconds)
            if isinstance(said, Change) and said != Change():
                if said.arguments is not None:
                    arguments = _merged(seen, said)
                    seen = replace(use, arguments=arguments)
                going.allowance = said.allow
                notes += [said.note] if said.note else []
                said = None if said.ask is None else NeedsApproval(said.ask)
            await self._obey("hook", seen, said)
        if arguments is not None:
            final = replace(use, arguments=arguments)
            for policy in checks.policies:
                await self._obey("policy", final, await self._policy(policy, final))
        return arguments, notes

    async def _policy(self, policy: Policy, use: ToolUse) -> GateRefusal | NeedsApproval | None:
        return await self._answer("policy", policy, use, self.checks.hook_seconds)

    async def _answer(
        self,
        who: Denied,
        check: Callable[[ToolUse], Awaitable[Value]],
        use: ToolUse,
        seconds: float | None,
    ) -> Value:
        """What a policy or hook says within its time. One that hangs is left behind: it may not
        even mind being cancelled."""

        async def answer() -> Value:
            return await check(use)

        task = self._asked.call(answer(), who)
        task.add_done_callback(ignore_failure)
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            is_late = not task.done() and task.cancel()
        if is_late and seconds is not None:
            raise Vetoed(
                who, f"A {who} did not answer within {seconds:g} s, so the call is refused."
            )
        if task.cancelled() or task.exception():
            _log.warning("A %s failed, and a call of %s is refused", who, use.tool)
            raise Vetoed(who, f"A {who} failed, so the call is refused.")
        return task.result()

    async def _obey(self, who: Denied, use: ToolUse, said: object) -> None:
        match said:
            case None:
                return
            case GateRefusal(reason=str(reason)):
                raise Vetoed(who, reason)
            case NeedsApproval(reason=str(reason)):
                await self._approved(use, reason)
            case _:
                raise Vetoed(who, f"A {who} gave an invalid answer, so the call is refused.")

    async def _approved(self, use: ToolUse, reason: str) -> None:
        """How long a person may take is for them to say who ask."""
        ask = self.checks.ask
        if ask is None:
            raise Vetoed("approval", f"{reason} {_NOBODY_TO_ASK}")
        try:
            allowed = cast("object", await ask(use, reason))
        except Exception as error:  # fail closed
            _log.warning("A person could not be asked: %s", type(error).__name__)
            raise Vetoed("approval", f"{reason} Asking a person failed.") from error
        if allowed is not True:
            raise Vetoed("approval", f"{reason} It was not allowed.")

    # What came of it.

    def _note_allowed(self) -> None:
        """Permission is asked for by the name of the call, which an event tells."""
        for block, allowance in self._pending.allowances():
            self.state.allowed[block] = allowance

    def _stop_loop(self, going: OpenCall, found: Finding) -> Veto:
        self._notice(found)
        veto = self._veto(going, "tool-loop", found.text)
        if found.ends_turn:
            self.end_turn(TOOL_LOOP, found.text)
        return veto

    def _veto(self, going: OpenCall, denied: Denied, reason: str) -> Veto:
        use = going.use
        self._pending.refuse(going)
        if going.block is not None:
            self._remember(going.block)
        _log.info("A call of %s is refused (%s): %s", use.tool, denied, sizes(use.arguments))
        words = self.state.redactor.text(reason)
        self.tell(ToolVetoed(tool=use.tool, block=going.block, reason=words, denied=denied))
        outcome = ToolOutcome(error=reason)
        if going.call is not None:
            self._note(going.stint, going.call, use, outcome)
        self._say_after(going, use, "blocked", outcome)
        return Veto(reason)

    def _remember(self, block: str) -> None:
        self._blocked[block] = None
        if len(self._blocked) > _MOST_BLOCKED:
            self._blocked.popitem(last=False)

    def _settle(self, going: OpenCall, outcome: ToolOutcome) -> None:
        use = going.final or going.use
        if going.call is not None:
            self._note(going.stint, going.call, use, outcome)
        status = "completed" if outcome.error is None else "failed"
        self._say_after(going, use, status, outcome)

    def _note(self, stint: Stint, call: PassedCall, use: ToolUse, outcome: ToolOutcome) -> None:
        if found := self.loops.settle(stint, call, use.arguments, outcome):
            self._notice(found)
            self.end_turn(TOOL_LOOP, found.text)

    def _notice(self, found: Finding) -> None:
        self.tell(
            LoopNoticed(
                level=found.level,
                detector=found.detector,
                tool=found.tool,
                count=found.count,
                text=self.state.redactor.text(found.text),
            )
        )

    def _say_after(
        self, going: OpenCall, use: ToolUse, status: Status, outcome: ToolOutcome
    ) -> None:
        """In the background: no call waits for it, and none is changed by it."""
        if not self.checks.after or self._asked.is_closed:
            return
        finished = Finished(
            self.state.session, use, going.stint, status, outcome, going.began, going.block
        )
        for hook in self.checks.after:
            self._asked.start(self._after_one(hook, finished), "after")

    async def _after_one(self, hook: AfterHook, finished: Finished) -> None:
        try:
            async with asyncio.timeout(self.checks.hook_seconds):
                await hook(finished)
        except Exception as error:  # noqa: BLE001  # the call is over
            _log.warning("A hook behind a call failed: %s", type(error).__name__)


def _merged(use: ToolUse, change: Change) -> dict[str, Any]:
    given = cast("object", change.arguments)
    if not isinstance(given, Mapping) or use.is_bare:
        raise Vetoed(
            "hook", "A hook changed arguments that cannot be changed, so the call is refused."
        )
    changed = cast("Mapping[str, Any]", given)
    return dict(changed) if change.replaces else {**use.arguments, **changed}


def sizes(arguments: Mapping[str, Any]) -> str:
    """Arguments as others may see them: of each its kind and size, nothing else."""
    return ", ".join(_size(value) for value in arguments.values()) or "none"


def _size(value: object) -> str:
    kind = type(value).__name__
    return f"{kind} of {len(value)}" if isinstance(value, Sized) else kind
