"""The hooks of a session's extensions: who is asked, in order, and what their answers come to.

Before a call of a tool whatever is late, failed or odd is a no. At all other moments it is passed
over, visibly.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast

from airboss.extensions.calls import MOST_RESULT, RESULT_TYPES
from airboss.extensions.extension import HookFailed, HookLate, HostedExtension
from airboss.extensions.joined import BEFORE_CALL
from airboss.harness.extension_door import ExtensionDoor
from airboss.harness.gate import Allowance, Change, GateRefusal
from airboss.harness.hook_effects import CONTEXT, WrongAnswer, changed_by, context_of, no_of
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.extension_events import ExtensionHooked, ExtensionSaid
from airboss.runtime.hooks import BARE, ToolUse
from airboss.session_keys import HookName

Outcome: TypeAlias = Literal["changed", "context", "denied", "asked", "allowed", "late", "failed"]

_TEXT: Final = "textResultForLlm"
_DECISIONS: Final = (None, "allow", "deny", "ask")
_HANDLING: Final = ("retry", "skip", "abort")
# By the hook, what of its input its answer changes.
_CHANGED_KEYS: Final = {"postToolUse": "toolResult", "userPromptSubmitted": "prompt"}


@dataclass
class ExtensionHooks:
    """Of one session, whose extensions `crew` tells in order. Each may take `seconds`."""

    crew: Callable[[], Sequence[HostedExtension]]
    door: ExtensionDoor
    seconds: float

    @property
    def names(self) -> frozenset[str]:
        """What the runtime has to ask for, beside calls of tools."""
        kinds = {kind for one in self.crew() if one.is_there for kind in one.joined.hooks}
        return frozenset(kinds - {BEFORE_CALL})

    def seconds_of(self, kind: HookName) -> float:
        """They are asked one after the other."""
        return self.seconds * sum(1 for _ in self._meant(kind, None))

    # Before a call.

    def cares(self, tool: str) -> bool:
        return any(one.is_guard and one.joined.cares(BEFORE_CALL, tool) for one in self.crew())

    async def before(self, use: ToolUse) -> GateRefusal | Change | None:
        """Each sees what the last one changed. A no ends it; a person is asked once, behind all."""
        found = Change()
        seen = use
        notes: list[str] = []
        for one in list(self.crew()):
            if not (one.is_guard and one.joined.cares(BEFORE_CALL, use.tool)):
                continue
            said = await self._judged(one, seen)
            if isinstance(said, GateRefusal):
                return said
            if said.arguments is not None:
                seen = replace(seen, arguments=said.arguments)
                # What was allowed before was another call.
                found = replace(found, arguments=said.arguments, replaces=True, allow=None)
            notes += [said.note] if said.note else []
            found = replace(found, ask=found.ask or said.ask, allow=found.allow or said.allow)
        if found.ask is not None:
            found = replace(found, allow=None)
        found = replace(found, note="\n\n".join(notes) or None)
        return None if found == Change() else found

    async def _judged(self, one: HostedExtension, use: ToolUse) -> GateRefusal | Change:
        name, tool = one.name, use.tool
        given: dict[str, Any] = {
            "toolName": tool,
            "toolArgs": use.arguments[BARE] if use.is_bare else dict(use.arguments),
        }
        try:
            output = await one.ask(BEFORE_CALL, self._whole(given), self.seconds)
            return self._read(one, use, output)
        except HookLate:
            why = f"it did not answer within {self.seconds:g} s"
            self._tell(one, BEFORE_CALL, "late", tool, why)
        except (HookFailed, WrongAnswer) as error:
            why = str(error)
            self._tell(one, BEFORE_CALL, "failed", tool, why)
        return GateRefusal(
            f"The extension {name} could not check this call ({why.rstrip('.')}), so it is refused."
        )

    def _read(
        self, one: HostedExtension, use: ToolUse, output: Mapping[str, Any]
    ) -> GateRefusal | Change:
        decision, tool = output.get("permissionDecision"), use.tool
        if decision not in _DECISIONS:
            raise WrongAnswer("`permissionDecision` should be allow, deny or ask.")
        why = str(output.get("permissionDecisionReason") or "")[:MOST_OF_A_REASON]
        if (no := no_of(output)) is not None:
            no = no[:MOST_OF_A_REASON]
            self._tell(one, BEFORE_CALL, "denied", tool, no)
            return GateRefusal(f"The extension {one.name} refuses it: {no}")
        changed = changed_by(BEFORE_CALL, {}, output).get("modifiedArgs")
        if changed is not None and use.is_bare:
            raise WrongAnswer("The arguments of this tool cannot be changed.")
        note = context_of(BEFORE_CALL, output)
        if changed is not None:
            self._tell(one, BEFORE_CALL, "changed", tool)
        if note:
            self._tell(one, BEFORE_CALL, "context", tool, note)
        ask = allow = None
        if decision == "ask":
            ask = f"The extension {one.name} asks for it: {why or 'It gave no reason.'}"
            self._tell(one, BEFORE_CALL, "asked", tool, why)
        elif decision == "allow":
            allow = Allowance(one.name, why)
            self._tell(one, BEFORE_CALL, "allowed", tool, why)
        return Change(changed, note, ask, allow=allow)

    # At other moments.

    async def answer(self, kind: HookName, said: Mapping[str, Any]) -> dict[str, Any]:
        """In the runtime's words, of all of them together."""
        output: dict[str, Any] = {}
        given, tool = dict(said), said.get("toolName")
        if kind == "sessionEnd":  # the runtime leaves these out
            given = {**self.door.last_words(), **given}
        is_prompt = kind == "userPromptSubmitted"
        author = self.door.author_of(str(given.get("prompt"))) if is_prompt else None
        for one in list(self._meant(kind, tool)):
            if one.name == author:  # what it sent itself
                continue
            try:
                answer = await one.ask(kind, self._whole(given), self.seconds)
                self._take(one, kind, tool, answer, given, output)
            except HookLate:
                self._tell(one, kind, "late", tool, f"It did not answer within {self.seconds:g} s.")
            except (HookFailed, WrongAnswer) as error:
                self._tell(one, kind, "failed", tool, str(error))
        return output

    def _meant(self, kind: str, tool: str | None) -> Iterator[HostedExtension]:
        for one in self.crew():
            if one.is_running and one.joined.cares(kind, tool):
                yield one

    def _take(
        self,
        one: HostedExtension,
        kind: HookName,
        tool: str | None,
        answer: Mapping[str, Any],
        given: dict[str, Any],
        output: dict[str, Any],
    ) -> None:
        changed = changed_by(kind, given, answer)
        if "modifiedResult" in changed:
            _check_result(answer["modifiedResult"])
        context = context_of(kind, answer)
        for value in changed.values():
            given[_CHANGED_KEYS[kind]] = value
        output.update(changed)
        if changed:
            self._tell(one, kind, "changed", tool)
        if context:
            output[CONTEXT] = "\n\n".join(filter(None, (output.get(CONTEXT), context)))
            self._tell(one, kind, "context", tool, context)
        if kind == "sessionEnd":
            self._sum_up(one, answer, output)
        if kind == "errorOccurred":
            self._handle_error(one, answer, output)

    def _sum_up(
        self, one: HostedExtension, answer: Mapping[str, Any], output: dict[str, Any]
    ) -> None:
        words: list[str] = []
        if isinstance(summary := answer.get("sessionSummary"), str):
            output["sessionSummary"] = summary
            words.append(summary)
        done = answer.get("cleanupActions")
        if isinstance(done, list):
            actions = [str(action) for action in cast("list[object]", done)]
            output["cleanupActions"] = [*output.get("cleanupActions", ()), *actions]
            words += actions
        if words:
            self._tell(one, "sessionEnd", "changed", None, "\n".join(words))

    def _handle_error(
        self, one: HostedExtension, answer: Mapping[str, Any], output: dict[str, Any]
    ) -> None:
        how, words = answer.get("errorHandling"), answer.get("userNotification")
        if isinstance(words, str) and words:
            clean = excerpt(self.door.redactor, words, MOST_OF_A_REASON)
            self.door.tell(ExtensionSaid(name=one.name, level="warning", text=clean))
        if how is None:
            return
        if how not in _HANDLING:
            raise WrongAnswer("`errorHandling` should be retry, skip or abort.")
        output["errorHandling"] = how
        if isinstance(count := answer.get("retryCount"), int):
            output["retryCount"] = count
        self._tell(one, "errorOccurred", "changed", None, str(how))
        if how == "abort":  # the runtime would try again all the same
            self.door.abort_soon()

    def _whole(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What every hook is told."""
        cwd = str(self.door.cwd)
        told = {**given, "sessionId": self.door.session, "cwd": cwd, "workingDirectory": cwd}
        told.setdefault("timestamp", int(time.time() * 1000))
        error = told.get("error")
        if isinstance(error, Mapping):
            said = cast("Mapping[str, Any]", error)
            told["error"] = str(said.get("message") or said.get("name") or "")
        return told

    def _tell(
        self, one: HostedExtension, kind: str, outcome: Outcome, tool: str | None, text: str = ""
    ) -> None:
        clean = excerpt(self.door.redactor, text, MOST_OF_A_REASON) if text else ""
        self.door.tell(
            ExtensionHooked(name=one.name, hook=kind, tool=tool, outcome=outcome, text=clean)
        )


def _check_result(given: Any) -> None:
    """The runtime makes nothing of what it does not know: the model would read an empty result."""
    said = cast("dict[str, Any]", given) if isinstance(given, dict) else {_TEXT: given}
    text, kind = said.get(_TEXT, ""), said.get("resultType", "success")
    if not isinstance(text, str) or kind not in RESULT_TYPES:
        types = ", ".join(RESULT_TYPES)
        raise WrongAnswer(f"`modifiedResult` should have a text, as one of: {types}.")
    if len(text.encode()) > MOST_RESULT:
        raise WrongAnswer(f"`modifiedResult` has more than {MOST_RESULT >> 20} MiB.")
