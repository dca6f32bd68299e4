"""Whether an agent repeats itself, and what is done about it: warned, refused, stopped. Pure.

It knows calls by their fingerprint only. A stint is what one agent does in one turn; stints are
never compared with each other.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from airboss.harness.builtin_tools import is_poll
from airboss.harness.call_fingerprint import outcome_hash, signature
from airboss.runtime.hooks import ToolOutcome
from airboss.settings import LoopDetection

Level: TypeAlias = Literal["warning", "critical"]
Detector: TypeAlias = Literal[
    "unknown-tool", "breaker", "poll", "ping-pong", "repeat", "errors", "after-compaction"
]
# The turn, and the sub-agent in it. Without a turn it is one of its own.
Stint: TypeAlias = tuple[str | None, str | None]

COMPACTION_LOOP: Final = "compaction_loop_persisted"
_BUCKET: Final = 10
_MOST_KEYS: Final = 256
_MOST_STINTS: Final = 64


@dataclass(frozen=True, slots=True)
class Finding:
    """What was noticed. `ends_turn`: it was refused too often, and nothing else helps."""

    level: Level
    detector: Detector
    tool: str
    count: int
    text: str
    ends_turn: bool = False


@dataclass(slots=True)
class PassedCall:
    """A call that was let through. Without an outcome it is under way, or was cut off."""

    tool: str
    signature: str
    outcome: str | None = None
    failed: bool = False
    is_missing: bool = False


@dataclass(slots=True)
class _Stint:
    calls: deque[PassedCall]
    made: int = 0
    # When calls were refused, counted in calls.
    refused: deque[int] = field(default_factory=deque[int])
    # Both sides of a ping-pong that was stopped: else the partner would be called on and on.
    pairs: list[frozenset[str]] = field(default_factory=list[frozenset[str]])


def normal(rules: LoopDetection) -> LoopDetection:
    """The counts in their order: a warning comes first, the breaker last, and all are seen."""
    critical = rules.critical if rules.critical > rules.warning else rules.warning + 1
    breaker = rules.breaker if rules.breaker > critical else critical + 1
    history = max(rules.history, breaker)
    return rules.model_copy(update={"critical": critical, "breaker": breaker, "history": history})


def overlaid(rules: LoopDetection, own: Mapping[str, Any]) -> LoopDetection:
    """An agent's own settings over those of all, field by field."""
    below, above = rules.model_dump(), dict(own)
    above["detectors"] = {**below["detectors"], **above.get("detectors", {})}
    return LoopDetection.model_validate({**below, **above})


class Loops:
    """What one session's agents did lately."""

    def __init__(self, rules: LoopDetection | None = None) -> None:
        self.rules = normal(rules or LoopDetection())
        self._stints: OrderedDict[Stint, _Stint] = OrderedDict()
        self._warned: OrderedDict[tuple[Stint, str], int] = OrderedDict()
        # What came behind a compaction; none where that is long ago.
        self._after: list[tuple[str, str]] | None = None

    def look(self, stint: Stint, tool: str, arguments: Mapping[str, Any]) -> Finding | None:
        """What is to be said of a call before it is made. A critical one is not to be made, and
        counts as refused; a warning is said once for each ten."""
        if not self.rules.enabled:
            return None
        state, mark = self._stint(stint), signature(tool, arguments)
        if critical := self._critical(state, tool, mark):
            return self._refuse(state, critical)
        for key, warning in self._warnings(state, tool, mark):
            if self._is_new(stint, key, warning.count):
                return warning
        return None

    def begin(self, stint: Stint, tool: str, arguments: Mapping[str, Any]) -> PassedCall:
        """It is let through."""
        state, call = self._stint(stint), PassedCall(tool, signature(tool, arguments))
        state.made += 1
        state.calls.append(call)
        return call

    def settle(
        self, stint: Stint, call: PassedCall, arguments: Mapping[str, Any], outcome: ToolOutcome
    ) -> Finding | None:
        """What came of it; `arguments` are those that it was made with in the end."""
        call.outcome = outcome_hash(call.tool, arguments, outcome)
        call.failed, call.is_missing = outcome.error is not None, outcome.is_missing
        return self._observe(call) if stint[1] is None else None

    def compacted(self) -> None:
        """The agent's memory was shortened: does it go on with what it did before?"""
        if self.rules.enabled:
            self._after = []

    # What is too much.

    def _critical(self, state: _Stint, tool: str, mark: str) -> Finding | None:
        rules, wanted, calls = self.rules, self.rules.detectors, state.calls
        missing = _in_a_row(calls, lambda call: call.is_missing and call.tool == tool)
        if missing >= rules.unknown_tool:
            return Finding("critical", "unknown-tool", tool, missing, _no_such(tool, missing))
        streak = _streak(calls, mark)
        if streak >= rules.breaker:
            return Finding("critical", "breaker", tool, streak, _stuck(tool, streak))
        if wanted.poll and is_poll(tool) and streak >= rules.critical:
            return Finding("critical", "poll", tool, streak, _stuck(tool, streak))
        if wanted.ping_pong and (found := self._ping_pong(state, tool, mark)):
            return found
        if wanted.repeat and not is_poll(tool) and streak >= rules.critical:
            return Finding("critical", "repeat", tool, streak, _stuck(tool, streak))
        errors = _in_a_row(calls, lambda call: call.failed)
        if wanted.errors and errors >= rules.breaker:
            return Finding("critical", "errors", tool, errors, _all_failed(errors))
        return None

    def _ping_pong(self, state: _Stint, tool: str, mark: str) -> Finding | None:
        there = {call.signature for call in state.calls}
        state.pairs = [pair for pair in state.pairs if pair & there]
        if any(mark in pair for pair in state.pairs):
            count = sum(call.signature == mark for call in state.calls)
            return Finding("critical", "ping-pong", tool, count, _no_partner(tool))
        count, partner, is_stable = _alternation(state.calls, mark)
        if partner is None or count < self.rules.critical or not is_stable:
            return None
        state.pairs.append(frozenset({mark, partner.signature}))
        return Finding("critical", "ping-pong", tool, count, _to_and_fro(tool, partner, count))

    def _refuse(self, state: _Stint, found: Finding) -> Finding:
        state.made += 1
        state.refused.append(state.made)
        while state.refused[0] <= state.made - self.rules.history:
            state.refused.popleft()
        if len(state.refused) < self.rules.blocks:
            return found
        text = f"{found.text} It was refused {len(state.refused)} times, so the turn ends."
        return Finding("critical", found.detector, found.tool, found.count, text, ends_turn=True)

    # What is worth a word.

    def _warnings(self, state: _Stint, tool: str, mark: str) -> list[tuple[str, Finding]]:
        rules, wanted, calls = self.rules, self.rules.detectors, state.calls
        found: list[tuple[str, Finding]] = []
        if wanted.poll and is_poll(tool):
            streak = _streak(calls, mark)
            found.append(
                (mark, Finding("warning", "poll", tool, streak, _nothing_new(tool, streak)))
            )
        count, partner, _ = _alternation(calls, mark)
        if wanted.ping_pong and partner is not None:
            both, text = sorted((mark, partner.signature)), _to_and_fro(tool, partner, count)
            found.append((" ".join(both), Finding("warning", "ping-pong", tool, count, text)))
        if wanted.repeat and not is_poll(tool):
            same = sum(call.signature == mark for call in calls)
            found.append((mark, Finding("warning", "repeat", tool, same, _again(tool, same))))
        if wanted.errors:
            errors = _in_a_row(calls, lambda call: call.failed)
            found.append(
                ("errors", Finding("warning", "errors", tool, errors, _all_failed(errors)))
            )
        return [(key, one) for key, one in found if one.count >= rules.warning]

    def _is_new(self, stint: Stint, key: str, count: int) -> bool:
        bucket, known = count // _BUCKET, (stint, key)
        if bucket <= self._warned.get(known, -1):
            self._warned.move_to_end(known)
            return False
        self._warned[known] = bucket
        self._warned.move_to_end(known)
        if len(self._warned) > _MOST_KEYS:
            self._warned.popitem(last=False)
        return True

    # Behind a compaction.

    def _observe(self, call: PassedCall) -> Finding | None:
        if self._after is None or call.outcome is None:
            return None
        self._after.append((call.signature, call.outcome))
        if len(self._after) < self.rules.after_compaction:
            return None
        seen, self._after = self._after, None
        if len(set(seen)) > 1:
            return None
        text = _still_the_same(call.tool, len(seen))
        return Finding("critical", "after-compaction", call.tool, len(seen), text, ends_turn=True)

    def _stint(self, stint: Stint) -> _Stint:
        state = self._stints.get(stint)
        if state is None:
            state = self._stints[stint] = _Stint(deque(maxlen=self.rules.history))
            if len(self._stints) > _MOST_STINTS:
                self._stints.popitem(last=False)
        self._stints.move_to_end(stint)
        return state


def _streak(calls: "deque[PassedCall]", mark: str) -> int:
    """How often this very call brought the same, newest first; others in between do not count."""
    count, first = 0, None
    for call in reversed(calls):
        if call.signature != mark or call.outcome is None:
            continue
        first = first or call.outcome
        if call.outcome != first:
            break
        count += 1
    return count


def _in_a_row(calls: "deque[PassedCall]", is_one: Callable[[PassedCall], bool]) -> int:
    count = 0
    for call in reversed(calls):
        if not is_one(call):
            break
        count += 1
    return count


def _alternation(calls: "deque[PassedCall]", mark: str) -> tuple[int, PassedCall | None, bool]:
    """How long two calls took turns, this one among them; with whom; and whether both brought the
    same each time. No partner where they do not take turns."""
    if len(calls) < 2 or calls[-1].signature == mark or calls[-2].signature != mark:
        return 0, None, False
    partner, count = calls[-1], 1
    outcomes: dict[str, set[str | None]] = {}
    for call in reversed(calls):
        if call.signature != (partner.signature if count % 2 else mark):
            break
        outcomes.setdefault(call.signature, set()).add(call.outcome)
        count += 1
    is_stable = all(len(each) == 1 and None not in each for each in outcomes.values())
    return count, partner, is_stable


# What the agent and the people who watch it are told.


def _again(tool: str, count: int) -> str:
    return (
        f"{tool} was already called with the same arguments {count} times. If this gives nothing "
        "new, try another approach, or say what is blocking you."
    )


def _nothing_new(tool: str, count: int) -> str:
    return (
        f"{tool} was called {count} times and gave the same result each time. Wait longer before "
        "you call it again, or continue with something else."
    )


def _stuck(tool: str, count: int) -> str:
    return (
        f"{tool} was called with the same arguments {count} times and gave the same result each "
        "time, so it is not called again. Try another approach, or say what is blocking you."
    )


def _to_and_fro(tool: str, partner: PassedCall, count: int) -> str:
    return (
        f"{tool} and {partner.tool} were called alternately {count} times with the same arguments. "
        "If this gives nothing new, try another approach, or say what is blocking you."
    )


def _no_partner(tool: str) -> str:
    return (
        f"{tool} was one of two calls that only alternated, so neither is made again for now. Try "
        "another approach, or say what is blocking you."
    )


def _no_such(tool: str, count: int) -> str:
    return (
        f"There is no tool {tool}; it was called {count} times. Use one of the available tools, "
        "or say what is missing."
    )


def _all_failed(count: int) -> str:
    return f"The last {count} tool calls all failed. Stop and find out why, or say what is missing."


def _still_the_same(tool: str, count: int) -> str:
    return (
        f"After the conversation was shortened, {tool} was called {count} times with the same "
        f"arguments and gave the same result each time, so the turn ends ({COMPACTION_LOOP})."
    )
