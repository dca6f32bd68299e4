"""The hooks of one session: who is asked at which moment, in order, and what comes of it.

A hook that is late, fails or says something odd has no say, and what it was asked about goes on;
only a call of a tool is refused then. None allows anything: permission is asked for all the same.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Final, cast

from airboss.background import Background
from airboss.harness.gate import (
    AfterHook,
    Change,
    Finished,
    GateRefusal,
    Hook,
    NeedsApproval,
)
from airboss.harness.hook_effects import (
    CONTEXT,
    EFFECTS,
    EVERYWHERE,
    WrongAnswer,
    changed_by,
    context_of,
    no_of,
)
from airboss.model.excerpt import MOST_OF_A_REASON, Redacting, excerpt
from airboss.model.hook_events import HookRan
from airboss.model.setup import HookSetup
from airboss.model.tool_lists import matches
from airboss.runtime.hook_process import HookAnswer, HookPrograms
from airboss.runtime.hooks import ToolUse
from airboss.session_keys import HOOKS, HookName

# What the runtime itself asks; the others are asked by us.
RUNTIME_HOOKS: Final = frozenset(HOOKS[:12])
# So often in a turn the agent is told to go on before its end counts all the same.
MOST_STOPS: Final = 10
_TOO_LARGE: Final = "It was not asked: what it would be told is too large."
_CANNOT: Final = "It said no, and there is nothing that it could stop."
_STOPPED: Final = f"It said no for the {MOST_STOPS}th time in this turn, so the agent stops."

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class HooksSaid:
    """What all hooks at one moment came to: their input as they leave it, what they say in the
    runtime's words, and the reason of the one that said no."""

    given: Mapping[str, Any]
    output: Mapping[str, Any] = field(default_factory=dict[str, Any])
    no: str | None = None

    @property
    def context(self) -> str | None:
        return self.output.get(CONTEXT)


@dataclass
class SessionHooks:
    """`facts` are told to every hook, and `tell` says on the session's stream what came of it."""

    hooks: Sequence[HookSetup]
    programs: HookPrograms
    redactor: Redacting
    facts: Callable[[], Mapping[str, Any]]
    tell: Callable[[HookRan], None]
    # The turn ends with this error: what was asked is not put to the agent.
    block_turn: Callable[[str], None] = lambda _: None
    beside: Background = field(default_factory=lambda: Background("session hooks"))
    _stops: int = 0

    def has(self, name: HookName) -> bool:
        return any(hook.hook == name for hook in self.hooks)

    @property
    def names(self) -> frozenset[str]:
        """Those that the runtime has to ask for, beside the one before each call of a tool."""
        found = {str(hook.hook) for hook in self.hooks if hook.hook in RUNTIME_HOOKS}
        if self.has("modelInput"):  # just before the model is asked, with all that was added
            found.add("userPromptTransformed")
        return frozenset(found - {"preToolUse"})

    def seconds(self, name: HookName) -> float:
        """So long they take together at most."""
        return sum(hook.seconds + 2 for hook in self.hooks if hook.hook == name)

    @property
    def longest(self) -> float:
        return max((hook.seconds + 5 for hook in self.hooks), default=0.0)

    # One moment.

    async def ask(
        self,
        name: HookName,
        given: Mapping[str, Any],
        *,
        tool: str | None = None,
        agent: str | None = None,
    ) -> HooksSaid:
        """One after another, each with what those before it changed; a no ends it."""
        said = HooksSaid(dict(given))
        for hook in self._meant(name, tool, agent):
            answer = await self._answer(hook, said.given)
            said = self._obey(hook, answer, said, tool, agent)
            if said.no is not None:
                break
        return said

    def start(self, name: HookName, given: Mapping[str, Any]) -> None:
        """Beside the work: nobody waits for what they say."""
        if self.has(name) and not self.beside.is_closed:
            self.beside.start(self._asked_beside(name, given), name)

    async def _asked_beside(self, name: HookName, given: Mapping[str, Any]) -> None:
        await self.ask(name, given)

    def _meant(self, name: HookName, tool: str | None, agent: str | None) -> Iterator[HookSetup]:
        for hook in self.hooks:
            is_there = agent is None or _is_for_sub_agents(hook)
            if hook.hook == name and is_there and _is_about(hook, tool):
                yield hook

    async def _answer(self, hook: HookSetup, given: Mapping[str, Any]) -> HookAnswer:
        try:
            return await self.programs.ask(
                hook, {"hook": hook.hook, **given, "airboss": dict(self.facts())}
            )
        except Exception:  # noqa: BLE001  # a fault of ours is the hook's failure
            _log.exception("A hook could not be asked")
            return HookAnswer({}, error="It could not be asked, because of a bug in Airboss.")

    def _obey(
        self,
        hook: HookSetup,
        answer: HookAnswer,
        said: HooksSaid,
        tool: str | None,
        agent: str | None,
    ) -> HooksSaid:
        no, error = answer.no or no_of(answer.output), answer.error
        after = said
        if no is not None and not EFFECTS[hook.hook].blocks:
            no, error = None, _CANNOT
        elif error is None and no is None:
            try:
                after = _changed(hook.hook, said, answer.output)
            except WrongAnswer as wrong:
                error = str(wrong)
        elif no is not None and error is None:
            after = replace(said, no=no)
        self.say(
            hook, answer, tool, agent, no=no, error=error, is_changed=after.output != said.output
        )
        return after

    def say(
        self,
        hook: HookSetup,
        answer: HookAnswer,
        tool: str | None,
        agent: str | None,
        *,
        no: str | None = None,
        ask: str | None = None,
        error: str | None = None,
        is_changed: bool = False,
    ) -> None:
        def words(text: str | None) -> str | None:
            return None if text is None else excerpt(self.redactor, text, MOST_OF_A_REASON)

        decided = "changed" if is_changed else "nothing"
        if error is None and (no is not None or ask is not None):
            decided = "blocked" if no is not None else "asked"
        self.tell(
            HookRan(
                hook=hook.hook,
                program=words(program_of(hook)) or "",
                milliseconds=answer.milliseconds,
                decided=decided,
                reason=None if error else words(no or ask),
                error=words(error),
                tool=tool,
                agent=agent,
            )
        )

    # At the gate.

    @property
    def checks(self) -> tuple[Hook, ...]:
        return tuple(self._check(hook) for hook in self.hooks if hook.hook == "preToolUse")

    @property
    def after(self) -> tuple[AfterHook, ...]:
        """The runtime itself tells nothing of calls that were refused."""
        return (self._after_block,) if self.has("postToolUseFailure") else ()

    def _check(self, hook: HookSetup) -> Hook:
        async def check(use: ToolUse) -> GateRefusal | NeedsApproval | Change | None:
            if not _is_about(hook, use.tool) or (use.agent and not _is_for_sub_agents(hook)):
                return None
            given = {"toolName": use.tool, "toolArgs": dict(use.arguments), "agentId": use.agent}
            answer = await self._answer(hook, given)
            return self._judged(hook, use, answer)

        return check

    def _judged(
        self, hook: HookSetup, use: ToolUse, answer: HookAnswer
    ) -> GateRefusal | Change | None:
        no, error, output = answer.no or no_of(answer.output), answer.error, answer.output
        ask: str | None = None
        change: Change | None = None
        if error is None and no is None:
            try:
                changed = changed_by("preToolUse", {}, output).get("modifiedArgs")
                note = context_of("preToolUse", output)
            except WrongAnswer as wrong:
                error = str(wrong)
            else:
                if output.get("permissionDecision") == "ask":
                    ask = str(output.get("permissionDecisionReason") or "A hook asks for it.")
                if changed is not None or note or ask:
                    change = Change(changed, note, ask)
        is_changed = change is not None and (change.arguments is not None or bool(change.note))
        self.say(
            hook, answer, use.tool, use.agent, no=no, ask=ask, error=error, is_changed=is_changed
        )
        if error is not None:
            return GateRefusal(
                f"The hook {program_of(hook)} failed, so the call is refused. {error}"
            )
        return GateRefusal(no) if no is not None else change

    async def _after_block(self, finished: Finished) -> None:
        if finished.status != "blocked":
            return
        use = finished.use
        given = {
            "toolName": use.tool,
            "toolArgs": dict(use.arguments),
            "error": finished.outcome.error,
            "blocked": True,
            "agentId": use.agent,
        }
        await self.ask("postToolUseFailure", given, tool=use.tool, agent=use.agent)

    # What the runtime asks.

    async def answer(self, name: str, said: Mapping[str, Any] | None) -> dict[str, Any]:
        """In the runtime's words; without `said` its question was too large to be read."""
        hook = cast("HookName", name)
        if said is None:
            self._say_too_large(hook)
            return {}
        given = _in_our_words(said)
        tool, agent = _tool_of(given), given.get("agentId")
        found = await self.ask(hook, given, tool=tool, agent=agent)
        if hook == "userPromptTransformed":
            effective = found.given.get("transformedPrompt", "")
            told = {**given, "prompt": effective, **self._request_facts()}
            del told["transformedPrompt"]
            await self.ask("modelInput", told, agent=agent)
        return self._to_runtime(hook, found, agent)

    def _to_runtime(self, name: HookName, found: HooksSaid, agent: str | None) -> dict[str, Any]:
        output = dict(found.output)
        if found.no is None:
            return output
        if name == "agentStop":
            self._stops += 1
            if self._stops > MOST_STOPS:
                self._say_stopped()
                return output
        if name == "userPromptSubmitted" and agent is None:
            self.block_turn(found.no)
        return {**output, "decision": "block", "reason": found.no}

    def _request_facts(self) -> dict[str, Any]:
        facts = self.facts()
        return {name: facts[name] for name in ("tools", "images") if name in facts}

    def _say_too_large(self, name: HookName) -> None:
        for hook in self._meant(name, None, None):
            self.say(hook, HookAnswer({}), None, None, error=_TOO_LARGE)

    def _say_stopped(self) -> None:
        hook = next(hook for hook in self.hooks if hook.hook == "agentStop")
        self.say(hook, HookAnswer({}), None, None, error=_STOPPED)

    # The life of a session.

    def turn_began(self) -> None:
        self._stops = 0

    async def close(self) -> None:
        """What was begun beside the work comes to its end, each in its time."""
        await self.beside.close(seconds=self.longest)


def program_of(hook: HookSetup) -> str:
    """As people call it: a command may hold what is for nobody's eyes."""
    if hook.python is not None:
        return PurePath(hook.python).name
    return PurePath(hook.command[0]).name if hook.command else ""


def _is_for_sub_agents(hook: HookSetup) -> bool:
    return hook.hook in EVERYWHERE if hook.sub_agents is None else hook.sub_agents


def _is_about(hook: HookSetup, tool: str | None) -> bool:
    return hook.tool is None or (tool is not None and matches(hook.tool, tool))


def _tool_of(given: Mapping[str, Any]) -> str | None:
    tool, server = given.get("toolName"), given.get("serverName")
    return f"{server}-{tool}" if server and tool else tool


def _in_our_words(said: Mapping[str, Any]) -> dict[str, Any]:
    """As the SDK gives it to its own: its words on the wire are others."""
    given = dict(said)
    if "cwd" in given:
        given["workingDirectory"] = given.pop("cwd")
    if "stop_hook_active" in given:
        given["stopHookActive"] = given.pop("stop_hook_active")
    error = given.get("error")
    if isinstance(error, Mapping):
        told = cast("Mapping[str, Any]", error)
        given["error"] = str(told.get("message") or told.get("name") or "")
    return given


def _changed(name: HookName, said: HooksSaid, output: Mapping[str, Any]) -> HooksSaid:
    changed = changed_by(name, said.given, output)
    keys = EFFECTS[name].changes
    given = {**said.given, **{keys[word]: value for word, value in changed.items()}}
    added = [text for text in (said.context, context_of(name, output)) if text]
    more = {CONTEXT: "\n\n".join(added)} if added else {}
    return HooksSaid(given, {**said.output, **changed, **more})
