"""What the runtime tells becomes turns, and each has its end; without an agent, in a real log."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from airboss.background import Background
from airboss.harness.limit_guard import LimitGuard
from airboss.harness.prompts import Prompts
from airboss.harness.turn import Outcome, Request
from airboss.harness.turn_events import TurnEvents
from airboss.log import flusher as flusher_module
from airboss.log.log import EventLog
from airboss.model.events import (
    MessageEnded,
    MessageStarted,
    PromptSteered,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from airboss.model.ids import PromptId, TaskRunId
from airboss.runtime.signals import (
    ModelAnswered,
    RequestRead,
    Retrying,
    RuntimeLost,
    TurnBegan,
    TurnFailed,
    TurnIdle,
    UsageSeen,
)
from airboss.runtime.tools import OutsideCall
from tests.harness.desk import Desk
from tests.harness.states import kinds, state_in, story

PROMPT = PromptId("pro_1")


@dataclass
class Hearing:
    """One session that hears."""

    desk: Desk
    prompts: Prompts
    events: TurnEvents


@pytest.fixture
async def hearing(log: EventLog) -> AsyncGenerator[Hearing]:
    desk = Desk(await state_in(log))
    prompts = Prompts(desk.state)
    guard = LimitGuard(desk.state, desk.pending, None)
    async with Background("session") as background:
        yield Hearing(
            desk, prompts, TurnEvents(desk.state, prompts, desk.pending, guard, background)
        )
        await background.close(cancel=True)


async def test_the_runtime_may_begin_a_turn_by_itself(log: EventLog, hearing: Hearing) -> None:
    hear = hearing.events.hear
    for said in (TurnBegan(), TurnBegan(), ModelAnswered("m-1"), Retrying("busy"), TurnIdle()):
        hear(said)
    hear(MessageStarted(block="late"))
    hear(MessageEnded(block="late", text="One more thing."))
    hear(UsageSeen("m-1", 1, 1, 1.0, sub_agent=False))
    assert (await kinds(log))[1:] == [
        "turn.started",
        "turn.retrying",
        "turn.ended",
        "session.idle",
        "message.started",
        "message.ended",
        "turn.usage",
    ]


async def test_a_tasks_turn_is_written_in_batches_but_a_tool_that_may_do_something_at_once(
    log: EventLog, hearing: Hearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flusher_module, "BATCH_SECONDS", 30.0)
    async with log.follow(hearing.desk.state.session, 1) as follower:
        hearing.events.start_turn(PROMPT, Request(task=TaskRunId("tsk_1")))
        hearing.events.hear(MessageStarted(block="words"))
        hearing.events.hear(ToolStarted(block="done", name="job_boolean_true", arguments="{}"))
        hearing.events.hear(ToolEnded(block="done", text="Noted."))
        assert await follower.next(0.2) == []
        hearing.events.hear(ToolStarted(block="tool", name="bash", arguments="{}"))
        shown = [one.event.kind for one in await follower.next(10)]
        hearing.events.hear(ToolEnded(block="tool", text="It is gone."))
        ended = [one.event.kind for one in await follower.next(10)]
    assert shown[:2] == ["turn.started", "message.started"]
    assert shown[2:] == ["tool.started", "tool.ended", "tool.started"]
    assert ended == ["tool.ended"]


async def test_a_persons_turn_and_its_tools_are_written_at_once(
    log: EventLog, hearing: Hearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flusher_module, "BATCH_SECONDS", 30.0)
    async with log.follow(hearing.desk.state.session, 1) as follower:
        hearing.events.start_turn(PROMPT, Request())
        assert [one.event.kind for one in await follower.next(10)] == ["turn.started"]
        hearing.events.hear(ToolStarted(block="tool", name="view", arguments="{}"))
        assert [one.event.kind for one in await follower.next(10)] == ["tool.started"]


async def test_a_failure_while_nothing_runs_is_a_turn_of_its_own(
    log: EventLog, hearing: Hearing
) -> None:
    hearing.events.hear(TurnFailed("query", "Out of the blue.", None))
    said = await kinds(log)
    assert said[1:] == ["turn.started", "session.error", "turn.ended", "session.idle"]
    assert hearing.desk.state.turn is None


async def test_what_was_read_belongs_to_the_turn_that_runs_or_begins_one(
    log: EventLog, hearing: Hearing
) -> None:
    first, second = PromptId("pro_2"), PromptId("pro_3")
    turn = hearing.events.start_turn(PROMPT, Request())
    for prompt in (first, second):
        await hearing.prompts.accept("and this", "me", None, prompt, "steer")
    hearing.events.hear(RequestRead(first, past=False))
    hearing.events.hear(TurnIdle())
    hearing.events.hear(RequestRead(second, past=False))
    assert hearing.desk.state.prompt == second
    [steered] = [event for event in await story(log) if isinstance(event, PromptSteered)]
    assert (steered.prompt, steered.turn) == (first, turn.id)
    assert len(hearing.desk.state.queue) == 0


async def test_the_end_of_a_turn_withdraws_what_it_asked_unless_it_is_cut(
    log: EventLog, hearing: Hearing
) -> None:
    outcomes: tuple[tuple[Outcome | None, int], ...] = ((None, 0), ("interrupted", 1))
    for outcome, left in outcomes:
        hearing.events.start_turn(PROMPT, Request())
        call = OutsideCall("req_1", "call_1", "ask_user", {"question": "Which?"})
        asking = asyncio.create_task(hearing.desk.pending.answer(call))
        await hearing.desk.asked()
        hearing.events.end_turn(outcome)
        await hearing.desk.asked(left)
        asking.cancel()
        await asyncio.wait({asking})
        assert (await kinds(log)).count("session.idle") == 1


async def test_a_turn_that_must_stop_is_not_begun_in_a_session_that_is_over(
    log: EventLog, hearing: Hearing
) -> None:
    hearing.desk.state.is_over = True
    hearing.events.stop("ToolLoop", "It repeats itself.")
    hearing.events.hear(TurnBegan())
    assert await kinds(log) == ["session.opened"]


async def test_a_stop_fails_the_running_turn_once(log: EventLog, hearing: Hearing) -> None:
    turn = hearing.events.start_turn(PROMPT, Request())
    hearing.events.stop("ToolLoop", "It repeats itself.")
    hearing.events.stop("ToolLoop", "It repeats itself.")
    hearing.events.end_if_still(turn, "aborted")
    hearing.events.end_if_still(turn, "aborted")
    ended = [event for event in await story(log) if isinstance(event, TurnEnded)]
    assert [one.outcome for one in ended] == ["failed"]
    assert (await kinds(log)).count("session.error") == 1


async def test_the_end_of_a_runtime_is_for_others_to_hear(hearing: Hearing) -> None:
    with pytest.raises(TypeError):
        hearing.events.hear(RuntimeLost("It is gone."))
