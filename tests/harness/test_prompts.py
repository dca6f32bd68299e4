"""What becomes of requests before an agent has them; without an agent, in a real log."""

import asyncio

import pytest

from airboss.errors import Conflict, Invalid
from airboss.harness.prompts import Prompts
from airboss.harness.session_state import SessionState
from airboss.harness.turn import Failure, TurnReport
from airboss.log.log import EventLog
from airboss.model.events import PromptAccepted, PromptDropped, PromptMoved
from airboss.model.ids import PromptId, TaskRunId
from airboss.model.redaction import MASK
from tests.harness.states import SECRET, kinds, state_in, story

FIRST, SECOND, THIRD = PromptId("pro_1"), PromptId("pro_2"), PromptId("pro_3")
TASK = TaskRunId("tsk_1")
LOST = TurnReport("interrupted", Failure("RuntimeLost", "It is gone."))


@pytest.fixture
async def state(log: EventLog) -> SessionState:
    return await state_in(log)


@pytest.fixture
def prompts(state: SessionState) -> Prompts:
    return Prompts(state)


async def accept(prompts: Prompts, state: SessionState, *names: PromptId) -> None:
    for name in names:
        await prompts.accept(f"say {name}", "me", None, name)
        state.queue.let_go(name)


def texts(state: SessionState) -> list[str]:
    return [state.queue.text(prompt) for prompt in state.queue]


async def test_a_request_is_on_disk_without_its_secrets_before_anybody_may_take_it(
    log: EventLog, state: SessionState, prompts: Prompts
) -> None:
    asked = await prompts.accept(f"use {SECRET}", "me", None, FIRST)
    [accepted] = [event for event in await story(log) if isinstance(event, PromptAccepted)]
    assert (accepted.text, accepted.redacted) == (f"use {MASK}", 1)
    assert (asked.receipt.prompt, asked.receipt.redacted) == (FIRST, 1)
    assert state.queue.first is None


async def test_a_caller_who_leaves_before_that_withdraws_it(
    log: EventLog, state: SessionState, prompts: Prompts
) -> None:
    accepting = asyncio.create_task(prompts.accept("hello", "me", None, FIRST))
    await asyncio.sleep(0)
    assert len(state.queue) == 1
    accepting.cancel()
    await asyncio.wait({accepting})
    assert (await kinds(log))[1:] == ["prompt.accepted", "prompt.dropped"]
    assert (len(state.queue), state.queue.first) == (0, None)


async def test_words_and_places_can_be_changed_while_it_waits(
    log: EventLog, state: SessionState, prompts: Prompts
) -> None:
    await accept(prompts, state, FIRST, SECOND, THIRD)
    await prompts.change(THIRD, f"with {SECRET}", 0, "ada")
    assert texts(state) == [f"with {MASK}", "say pro_1", "say pro_2"]
    assert state.queue.first == THIRD
    await prompts.change(THIRD, None, 9, "ada")
    moved = [event for event in await story(log) if isinstance(event, PromptMoved)]
    assert [one.before for one in moved] == [FIRST, None]
    with pytest.raises(Invalid, match="must not be empty"):
        await prompts.change(FIRST, " ", None, "ada")


async def test_what_is_gone_or_a_tasks_own_is_not_changed(
    state: SessionState, prompts: Prompts
) -> None:
    await prompts.accept("for a task", "task tsk_1", TASK, FIRST)
    with pytest.raises(Conflict, match="stop the task"):
        await prompts.drop(FIRST, "ada")
    with pytest.raises(Conflict, match="This message is no longer queued"):
        await prompts.drop(SECOND, "ada")


async def test_people_clear_what_people_asked(
    log: EventLog, state: SessionState, prompts: Prompts
) -> None:
    await accept(prompts, state, FIRST)
    await prompts.accept("for a task", "task tsk_1", TASK, SECOND)
    await accept(prompts, state, THIRD)
    await prompts.clear("ada")
    assert list(state.queue) == [SECOND]
    dropped = [event for event in await story(log) if isinstance(event, PromptDropped)]
    assert [(one.prompt, one.reason) for one in dropped] == [
        (FIRST, "Removed from the queue by ada."),
        (THIRD, "Removed from the queue by ada."),
    ]


async def test_who_asked_may_withdraw_it_once(
    log: EventLog, state: SessionState, prompts: Prompts
) -> None:
    asked = await prompts.accept("for a task", "task tsk_1", TASK, FIRST)
    assert prompts.withdraw(FIRST)
    assert not prompts.withdraw(FIRST)
    assert (await asked.report()).outcome == "dropped"
    assert (await kinds(log))[-1] == "prompt.dropped"


async def test_the_sessions_end_answers_all_and_keeps_what_people_asked_for_a_resume(
    log: EventLog, state: SessionState, prompts: Prompts
) -> None:
    mine = await prompts.accept("hello", "me", None, FIRST)
    tasks = await prompts.accept("for a task", "task tsk_1", TASK, SECOND)
    prompts.settle(LOST)
    assert (await mine.report(), await tasks.report()) == (LOST, LOST)
    assert list(state.queue) == [FIRST]
    await log.last_view("ses_1")
    assert state.view
    assert [queued.prompt for queued in state.view.queue] == [FIRST]


async def test_what_cannot_steer_any_more_waits_for_a_turn_of_its_own(
    state: SessionState, prompts: Prompts
) -> None:
    turn = state.begin_turn(FIRST, None)
    turn.put.set()
    await prompts.accept("and this", "me", None, SECOND, "steer")
    state.end_turn(turn, None, is_cut=False)
    await prompts.steer(SECOND, turn)
    assert state.queue.first == SECOND
