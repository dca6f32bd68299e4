"""The gate by itself: in which order it asks, and that whatever goes wrong is a no."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from airboss.harness.builtin_tools import BUILT_IN
from airboss.harness.gate import (
    Change,
    Checks,
    Finished,
    Gate,
    GateRefusal,
    NeedsApproval,
    sizes,
)
from airboss.harness.loops import Loops
from airboss.model.events import ToolEnded, ToolError, ToolStarted
from airboss.model.gate_events import GateEvent, LoopNoticed, ToolVetoed
from airboss.model.redaction import MASK
from airboss.runtime.hooks import Pass, ToolOutcome, ToolUse, Veto
from airboss.settings import LoopDetection
from tests.harness.states import REDACTOR, SECRET, unopened_state

pytestmark = pytest.mark.anyio

USE = ToolUse("bash", {"command": "ls", "mode": "sync"})
DONE = ToolOutcome("done")


@dataclass
class Trial:
    """A gate, what it said, and what it was told by whom it asked."""

    told: list[GateEvent] = field(default_factory=list[GateEvent])
    ends: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    seen: list[tuple[str, ToolUse]] = field(default_factory=list[tuple[str, ToolUse]])
    finished: list[Finished] = field(default_factory=list[Finished])
    gates: list[Gate] = field(default_factory=list[Gate])

    def gate(self, **checks: Any) -> Gate:
        gate = Gate(
            unopened_state(),
            Loops(checks.pop("rules", None)),
            self.told.append,
            lambda name, text: self.ends.append((name, text)),
            Checks(**checks),
        )
        self.gates.append(gate)
        return gate

    def says(self, name: str, answer: object) -> Callable[[ToolUse], Awaitable[Any]]:
        async def check(use: ToolUse) -> object:
            self.seen.append((name, use))
            return answer

        return check

    def asks(self, answer: object) -> Callable[[ToolUse, str], Awaitable[Any]]:
        async def ask(use: ToolUse, reason: str) -> object:
            self.seen.append((f"ask: {reason}", use))
            return answer

        return ask

    async def hear(self, finished: Finished) -> None:
        self.finished.append(finished)

    @property
    def order(self) -> list[str]:
        return [name for name, _ in self.seen]

    @property
    def vetoed(self) -> tuple[str, str]:
        [veto] = [said for said in self.told if isinstance(said, ToolVetoed)]
        return veto.denied, veto.reason


def started(block: str, use: ToolUse = USE) -> ToolStarted:
    """As the translation tells it: without secrets."""
    arguments = REDACTOR.text(json.dumps(dict(use.arguments)))
    parent = "call_0" if use.agent else None
    return ToolStarted(block=block, name=use.tool, arguments=arguments, parent=parent)


def ended(block: str, text: str = "done", error: str | None = None) -> ToolEnded:
    failure = None if error is None else ToolError(message=error)
    return ToolEnded(block=block, text=text, error=failure)


async def made(gate: Gate, use: ToolUse = USE, number: int = 1) -> Pass | Veto:
    """A call from its beginning to its end."""
    gate.hear(started(f"call_{number}", use))
    answer = await gate.before(use)
    gate.hear(ended(f"call_{number}"))
    return answer


@pytest.fixture
async def trial() -> AsyncGenerator[Trial]:
    trial = Trial()
    yield trial
    for gate in trial.gates:
        await gate.close()


async def test_a_call_that_nobody_minds_passes_as_it_is(trial: Trial) -> None:
    gate = trial.gate(policies=[trial.says("policy", None)], hooks=[trial.says("hook", None)])
    assert await gate.before(USE) == Pass()
    assert trial.seen == [("policy", USE), ("hook", USE)]
    assert trial.told == []


async def test_policies_come_first_and_see_what_the_agent_gave(trial: Trial) -> None:
    """GATE-1; and once more what a hook made of it, so that no hook gets round a policy."""
    change = trial.says("hook", Change({"command": "pwd"}))
    gate = trial.gate(policies=[trial.says("policy", None)], hooks=[change])
    changed = {"command": "pwd", "mode": "sync"}
    assert await gate.before(USE) == Pass(changed)
    assert trial.seen == [
        ("policy", USE),
        ("hook", USE),
        ("policy", ToolUse("bash", changed)),
    ]


async def test_a_block_of_a_policy_is_final(trial: Trial) -> None:
    """GATE-1: no hook is asked any more."""
    first = trial.says("policy", GateRefusal("Not here."))
    gate = trial.gate(
        policies=[first, trial.says("second", None)], hooks=[trial.says("hook", None)]
    )
    assert await gate.before(USE) == Veto("Not here.")
    assert trial.order == ["policy"]
    assert trial.vetoed == ("policy", "Not here.")


async def test_a_policy_may_refuse_what_a_hook_made_of_a_call(trial: Trial) -> None:
    async def no_pwd(use: ToolUse) -> GateRefusal | None:
        return GateRefusal("No pwd.") if use.arguments["command"] == "pwd" else None

    gate = trial.gate(policies=[no_pwd], hooks=[trial.says("hook", Change({"command": "pwd"}))])
    assert await gate.before(USE) == Veto("No pwd.")


async def test_a_hook_may_block_with_a_reason(trial: Trial) -> None:
    """GATE-2."""
    gate = trial.gate(hooks=[trial.says("hook", GateRefusal("Not on Sundays."))])
    assert await gate.before(USE) == Veto("Not on Sundays.")
    assert trial.vetoed == ("hook", "Not on Sundays.")


async def test_hooks_change_arguments_one_over_the_other(trial: Trial) -> None:
    """GATE-2, GATE-5: a shallow merge, and each sees what those before it made of it."""
    use = ToolUse("edit", {"a": {"deep": 1}, "b": 2})
    one = trial.says("one", Change({"a": {"other": 3}}))
    two = trial.says("two", Change({"c": 4}))
    gate = trial.gate(hooks=[one, two])
    assert await gate.before(use) == Pass({"a": {"other": 3}, "b": 2, "c": 4})
    assert trial.seen[1][1].arguments == {"a": {"other": 3}, "b": 2}


async def raises(_: ToolUse) -> None:
    raise LookupError(f"{SECRET} words")


def raises_at_once(_: ToolUse) -> Any:
    raise LookupError("at once")


def no_awaitable(_: ToolUse) -> Any:
    return None


async def cancels_itself(_: ToolUse) -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("check", [raises, raises_at_once, no_awaitable, cancels_itself])
@pytest.mark.parametrize("who", ["policy", "hook"])
async def test_whatever_fails_blocks(trial: Trial, who: str, check: Any) -> None:
    """GATE-1, GATE-2: fail closed."""
    lists = {"policy": "policies", "hook": "hooks"}
    gate = trial.gate(**{lists[who]: [check]})
    answer = await gate.before(USE)
    assert isinstance(answer, Veto)
    assert trial.vetoed == (who, f"A {who} failed, so the call is refused.")


@pytest.mark.parametrize("odd", ["allow", True, 1, {"block": False}, Pass(), GateRefusal(3)])  # pyright: ignore[reportArgumentType]
@pytest.mark.parametrize("who", ["policy", "hook"])
async def test_an_answer_that_means_nothing_blocks(trial: Trial, who: str, odd: object) -> None:
    """GATE-1, GATE-2: an unreadable answer is no yes."""
    lists = {"policy": "policies", "hook": "hooks"}
    gate = trial.gate(**{lists[who]: [trial.says(who, odd)]})
    assert isinstance(await gate.before(USE), Veto)
    assert trial.vetoed[0] == who


async def test_a_policy_may_not_change_anything(trial: Trial) -> None:
    gate = trial.gate(policies=[trial.says("policy", Change({"command": "pwd"}))])
    assert isinstance(await gate.before(USE), Veto)


@pytest.mark.parametrize("change", [Change("text"), Change(None)])  # pyright: ignore[reportArgumentType]
async def test_a_change_that_is_none_blocks(trial: Trial, change: Change) -> None:
    gate = trial.gate(hooks=[trial.says("hook", change)])
    assert isinstance(await gate.before(USE), Veto)
    assert trial.vetoed[0] == "hook"


async def test_arguments_without_names_cannot_be_changed(trial: Trial) -> None:
    use = ToolUse("apply_patch", {"input": "*** Begin"}, is_bare=True)
    gate = trial.gate(hooks=[trial.says("hook", Change({"input": "x"}))])
    assert isinstance(await gate.before(use), Veto)


async def test_a_hook_that_hangs_blocks_when_its_time_is_up(trial: Trial) -> None:
    """GATE-7: even one that does not mind being cancelled."""
    over = asyncio.Event()

    async def hang(_: ToolUse) -> None:
        while not over.is_set():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if over.is_set():
                    raise

    gate = trial.gate(hooks=[hang], hook_seconds=0.05)
    async with asyncio.timeout(10):
        assert isinstance(await gate.before(USE), Veto)
    assert trial.vetoed == ("hook", "A hook did not answer within 0.05 s, so the call is refused.")
    over.set()


async def test_hooks_have_fifteen_seconds() -> None:
    """GATE-7."""
    assert Checks().hook_seconds == 15


async def test_a_gate_that_is_given_up_ends_its_hook(trial: Trial) -> None:
    ended = asyncio.Event()

    async def hang(_: ToolUse) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    call = asyncio.create_task(trial.gate(hooks=[hang]).before(USE))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(10):
        await ended.wait()
    assert trial.told == []


@pytest.mark.parametrize("who", ["policies", "hooks"])
async def test_a_person_who_says_yes_lets_a_call_pass(trial: Trial, who: str) -> None:
    """GATE-2."""
    asked = [trial.says("check", NeedsApproval("It costs money."))]
    gate = trial.gate(**{who: asked}, ask=trial.asks(True))
    assert await gate.before(USE) == Pass()
    assert trial.order == ["check", "ask: It costs money."]


@pytest.mark.parametrize("answer", [False, None, "yes", 1])
async def test_anything_but_a_yes_blocks(trial: Trial, answer: object) -> None:
    """GATE-2, GATE-3."""
    hook = trial.says("hook", NeedsApproval("It costs money."))
    assert isinstance(await trial.gate(hooks=[hook], ask=trial.asks(answer)).before(USE), Veto)
    assert trial.vetoed == ("approval", "It costs money. It was not allowed.")


async def test_without_anybody_to_ask_a_call_is_blocked_for_that_reason(trial: Trial) -> None:
    """GATE-3: a reason of its own."""
    hook = trial.says("hook", NeedsApproval("It costs money."))
    assert isinstance(await trial.gate(hooks=[hook]).before(USE), Veto)
    assert trial.vetoed[0] == "approval"
    assert "nobody can be asked" in trial.vetoed[1]


async def test_asking_that_fails_blocks(trial: Trial) -> None:
    async def ask(*_: object) -> bool:
        raise ConnectionError

    hook = trial.says("hook", NeedsApproval("It costs money."))
    assert isinstance(await trial.gate(hooks=[hook], ask=ask).before(USE), Veto)
    assert trial.vetoed == ("approval", "It costs money. Asking a person failed.")


async def test_a_fault_of_the_gate_itself_blocks(trial: Trial) -> None:
    """GATE-2: any exception anywhere."""
    gate = trial.gate()
    del gate.loops.rules
    assert isinstance(await gate.before(USE), Veto)
    assert trial.vetoed[0] == "policy"


# Which call is which.


@pytest.mark.parametrize("is_told_first", [True, False])
async def test_a_refused_call_is_known_by_its_block_where_that_was_told(
    trial: Trial, is_told_first: bool
) -> None:
    """GATE-4: remembered before anything runs."""
    gate = trial.gate(hooks=[trial.says("hook", GateRefusal("No."))])
    if is_told_first:
        gate.hear(started("call_1"))
    await gate.before(USE)
    [veto] = trial.told
    assert isinstance(veto, ToolVetoed)
    assert veto.block == ("call_1" if is_told_first else None)
    if not is_told_first:
        gate.hear(started("call_1"))
    assert gate.was_blocked("call_1")
    assert not gate.was_blocked("call_2")


async def test_of_several_equal_tools_the_one_with_these_arguments_is_meant(trial: Trial) -> None:
    gate = trial.gate(hooks=[trial.says("hook", GateRefusal("No."))])
    other = ToolUse("bash", {"command": "pwd"})
    gate.hear(started("call_1", other))
    gate.hear(started("call_2"))
    await gate.before(USE)
    assert [gate.was_blocked(block) for block in ("call_1", "call_2")] == [False, True]


async def test_the_last_1024_refused_calls_are_remembered(trial: Trial) -> None:
    """GATE-4."""
    gate = trial.gate(
        rules=LoopDetection(enabled=False), policies=[trial.says("policy", GateRefusal("No."))]
    )
    for number in range(1030):
        gate.hear(started(f"call_{number}"))
        await gate.before(USE)
    assert [gate.was_blocked(f"call_{number}") for number in (5, 6, 1029)] == [False, True, True]


# Behind a call.


async def until(trial: Trial, count: int) -> list[Finished]:
    async with asyncio.timeout(10):
        while len(trial.finished) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    return trial.finished


async def test_hooks_behind_a_call_are_told_what_was_made_and_what_came_of_it(
    trial: Trial,
) -> None:
    """GATE-5, GATE-6."""
    use = ToolUse("bash", {"command": "ls"}, agent="helper")
    change = trial.says("hook", Change({"command": "pwd"}))
    gate = trial.gate(hooks=[change], after=[trial.hear])
    gate.hear(started("call_1", use))
    await gate.before(use)
    gate.hear(ended("call_1"))
    [finished] = await until(trial, 1)
    final = ToolUse("bash", {"command": "pwd"}, agent="helper")
    assert (finished.session, finished.stint) == ("ses_1", (None, "helper"))
    assert (finished.use, finished.outcome, finished.status) == (final, DONE, "completed")
    assert finished.block == "call_1"
    assert finished.began > 0


async def test_failed_and_blocked_calls_are_told_as_such(trial: Trial) -> None:
    """GATE-6: blocked, not completed."""
    gate = trial.gate(after=[trial.hear])
    gate.hear(started("call_1"))
    await gate.before(USE)
    gate.hear(ended("call_1", "", "No such file."))
    blocking = trial.gate(policies=[trial.says("policy", GateRefusal("No."))], after=[trial.hear])
    await blocking.before(USE)
    failed, blocked = await until(trial, 2)
    assert (failed.status, failed.outcome.error) == ("failed", "No such file.")
    assert (blocked.status, blocked.outcome.error) == ("blocked", "No.")


async def test_a_hook_behind_a_call_that_fails_or_hangs_changes_nothing(trial: Trial) -> None:
    """GATE-6."""

    async def hang(_: Finished) -> None:
        await asyncio.sleep(60)

    async def fail(_: Finished) -> None:
        raise LookupError

    gate = trial.gate(after=[fail, hang, trial.hear])
    async with asyncio.timeout(10):
        assert await made(gate) == Pass()
    await until(trial, 1)


async def test_a_call_that_was_refused_permission_is_over_when_its_events_say_so(
    trial: Trial,
) -> None:
    """LOOP-10 (d): it counts."""
    gate = trial.gate(after=[trial.hear])
    for number in range(21):
        await gate.before(USE)
        gate.hear(started(f"call_{number}"))
        gate.hear(ended(f"call_{number}", "", "The user rejected this tool call."))
    assert [told.kind for told in trial.told][-2:] == ["loop.noticed", "tool.vetoed"]
    assert [one.status for one in await until(trial, 21)] == ["failed"] * 20 + ["blocked"]


async def test_a_call_is_over_once(trial: Trial) -> None:
    gate = trial.gate(after=[trial.hear])
    await made(gate)
    gate.hear(ended("call_1"))
    await asyncio.sleep(0.01)
    assert len(trial.finished) == 1


async def test_a_call_that_is_cut_off_is_over_too(trial: Trial) -> None:
    """GATE-6."""
    gate = trial.gate(after=[trial.hear])
    gate.hear(started("call_1"))
    await gate.before(USE)
    cut = ToolError(message="The turn ended before the tool did.")
    gate.hear(ToolEnded(block="call_1", text="a li", error=cut, cut=True))
    [finished] = await until(trial, 1)
    assert (finished.status, finished.outcome.error) == ("failed", cut.message)


async def test_a_call_that_no_hook_was_asked_about_changes_nothing(trial: Trial) -> None:
    """The runtime tells of some that it makes itself."""
    gate = trial.gate(after=[trial.hear])
    gate.hear(started("call_1"))
    gate.hear(ended("call_1"))
    await gate.before(USE)
    gate.hear(started("call_2"))
    gate.hear(ended("call_2", "later"))
    [finished] = await until(trial, 1)
    assert (finished.block, finished.outcome.text) == ("call_2", "later")


PAIRS = {
    "other arguments": (USE, ToolUse("bash", {"command": "pwd"})),
    "other secrets": (
        ToolUse("bash", {"command": f"echo {SECRET}"}),
        ToolUse("bash", {"command": f"rm {SECRET}"}),
    ),
    "a sub-agent's": (USE, ToolUse("bash", USE.arguments, agent="helper")),
    "without names": (
        ToolUse("apply_patch", {"input": "one"}, is_bare=True),
        ToolUse("apply_patch", {"input": "two"}, is_bare=True),
    ),
}


@pytest.mark.parametrize("is_told_first", [True, False])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
async def test_of_two_calls_at_once_each_has_its_own_outcome(
    trial: Trial, pair: tuple[ToolUse, ToolUse], is_told_first: bool
) -> None:
    """GATE-5, GATE-6: whatever the order in which hooks and events tell of them."""
    gate = trial.gate(hooks=[trial.says("hook", None)], after=[trial.hear])
    one, two = pair
    told = [bare(started("call_2", two), two), bare(started("call_1", one), one)]
    for event in told if is_told_first else ():
        gate.hear(event)
    await gate.before(one)
    await gate.before(two)
    for event in () if is_told_first else told:
        gate.hear(event)
    gate.hear(ended("call_2", "two"))
    gate.hear(ended("call_1", "one"))
    outcomes = [(end.use, end.outcome.text) for end in await until(trial, 2)]
    assert outcomes == [(two, "two"), (one, "one")]


def bare(told: ToolStarted, use: ToolUse) -> ToolStarted:
    arguments = json.dumps(use.arguments["input"]) if use.is_bare else told.arguments
    return told.model_copy(update={"arguments": arguments})


# Loops.


async def test_an_agent_is_warned_then_refused_then_stopped(trial: Trial) -> None:
    """LOOP-8, LOOP-10 (b, c): a note to the model, and words on the stream."""
    gate, answers = trial.gate(), list[Pass | Veto]()
    for number in range(25):
        answers.append(await made(gate, USE, number))
    notes = [n for n, answer in enumerate(answers) if isinstance(answer, Pass) and answer.note]
    assert notes == [10]
    assert [isinstance(answer, Veto) for answer in answers] == [False] * 20 + [True] * 5
    levels = [(told.level, told.count) for told in trial.told if isinstance(told, LoopNoticed)]
    assert levels == [("warning", 10)] + [("critical", 20)] * 5
    assert {told.denied for told in trial.told if isinstance(told, ToolVetoed)} == {"tool-loop"}
    [(name, text)] = trial.ends
    assert name == "ToolLoop"
    assert "refused 5 times" in text


async def test_what_a_policy_refuses_again_and_again_is_a_loop_too(trial: Trial) -> None:
    """LOOP-4, LOOP-10 (d): others' vetoes have a hash, the detector's own has none."""
    gate = trial.gate(policies=[trial.says("policy", GateRefusal("Not here."))])
    for _ in range(25):
        await gate.before(USE)
    denied = [told.denied for told in trial.told if isinstance(told, ToolVetoed)]
    assert denied == ["policy"] * 20 + ["tool-loop"] * 5
    assert len(trial.ends) == 1


async def test_a_hook_that_changes_each_call_does_not_hide_a_loop_of_the_agent(
    trial: Trial,
) -> None:
    """GATE-5: the agent's own words are compared, what was made is part of the outcome."""
    gate = trial.gate(hooks=[trial.says("hook", Change({"command": "pwd"}))])
    for number in range(21):
        await made(gate, USE, number)
    assert isinstance(trial.told[-1], ToolVetoed)


async def test_a_loop_behind_a_compaction_ends_the_turn(trial: Trial) -> None:
    """LOOP-9."""
    from airboss.runtime.signals import Compacted

    gate = trial.gate()
    gate.hear(Compacted())
    for number in range(3):
        await made(gate, USE, number)
    [told] = trial.told
    assert isinstance(told, LoopNoticed)
    assert told.detector == "after-compaction"
    assert "compaction_loop_persisted" in trial.ends[0][1]


# Tools of others.


async def test_permission_is_asked_for_every_tool_that_is_neither_built_in_nor_ours(
    trial: Trial,
) -> None:
    gate = trial.gate()
    gate.ours = {"job_boolean_true"}
    unasked = "semantic_code_search"  # by the runtime, although it asks GitHub
    for tool in ({*BUILT_IN} - {unasked}) | gate.ours:
        assert await gate.before(ToolUse(tool, {})) == Pass(), tool
    foreign = ("files-view", "View", "view ", "job_boolean_false", "session_store_sql", "lsp", "")
    for tool in (unasked, *foreign):
        assert await gate.before(ToolUse(tool, {})) == Pass(must_ask=True), tool
        assert await gate.before(ToolUse(tool, {}, "agent-1")) == Pass(must_ask=True), tool


async def test_a_hook_cannot_change_a_call_that_must_be_asked_for(trial: Trial) -> None:
    gate = trial.gate(hooks=[trial.says("hook", Change({"what": "else"}))])
    answer = await gate.before(ToolUse("files-peek", {"what": "it"}))
    assert isinstance(answer, Veto)
    assert trial.vetoed == ("hook", answer.reason)
    assert "not part of Airboss" in answer.reason


# What others may see.


async def test_only_kinds_and_sizes_of_arguments_are_logged(
    trial: Trial, caplog: pytest.LogCaptureFixture
) -> None:
    """GATE-9."""
    caplog.set_level(logging.DEBUG)
    use = ToolUse("bash", {"command": f"echo {SECRET}", "count": 3, "list": [1, 2], "none": None})
    gate = trial.gate(policies=[raises], after=[trial.hear])
    await gate.before(use)
    assert sizes(use.arguments) == "str of 14, int, list of 2, NoneType"
    assert sizes({}) == "none"
    assert "str of 14" in caplog.text
    assert SECRET not in caplog.text
    assert "command" not in caplog.text


async def test_secrets_in_a_reason_do_not_reach_the_stream(trial: Trial) -> None:
    gate = trial.gate(hooks=[trial.says("hook", GateRefusal(f"No {SECRET} here."))])
    await gate.before(USE)
    assert trial.vetoed == ("hook", f"No {MASK} here.")
