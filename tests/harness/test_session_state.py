"""The state of a session: one turn at a time, its budgets, and who may still ask."""

import pytest

from airboss.errors import Conflict
from airboss.harness.limits import Budget
from airboss.harness.turn import Request
from airboss.log.log import EventLog
from airboss.model.events import SessionError, TurnEnded
from airboss.model.ids import PromptId, TaskRunId
from airboss.model.limits import UsageLimits
from airboss.model.redaction import MASK
from airboss.model.usage import Usage
from tests.harness.states import SECRET, TaskBudgets, kinds, state_in, story

PROMPT = PromptId("pro_1")
OWN, LENT = TaskRunId("tsk_own"), TaskRunId("tsk_lent")


async def test_a_turn_begins_fails_once_and_ends(log: EventLog) -> None:
    state = await state_in(log)
    assert (state.is_working, state.prompt, state.request) == (False, None, None)
    turn = state.begin_turn(PROMPT, Request())
    assert (state.is_working, state.turn, state.prompt) == (True, turn, PROMPT)
    state.fail_turn(turn, "query", f"{SECRET} did not work.", 500, f"Because of {SECRET}.")
    state.fail_turn(turn, "query", "What follows from it.")
    state.end_turn(turn, None, is_cut=False)
    assert (state.turn, state.last_turn) == (None, turn)
    said = await story(log)
    errors = [event for event in said if isinstance(event, SessionError)]
    assert [(one.message, one.status, one.cause) for one in errors] == [
        (f"{MASK} did not work.", 500, f"Because of {MASK}.")
    ]
    assert [event.kind for event in said[-2:]] == ["turn.ended", "session.idle"]


async def test_a_turn_that_must_stop_failed_for_that_reason(log: EventLog) -> None:
    state = await state_in(log)
    turn = state.begin_turn(None, None)
    state.stop_turn(turn, "ToolLoop", "It repeats itself.")
    assert (turn.must_stop, turn.stirred.is_set(), turn.over.is_set()) == (True, True, False)
    state.end_turn(turn, "aborted", is_cut=True)
    ended = (await story(log))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "failed"
    assert "session.idle" not in await kinds(log), "the session's end comes instead"


async def test_budgets_are_those_of_whom_it_works_for(log: EventLog) -> None:
    """A session that is lent works for another task than the one that opened it, in its turns."""
    own, lent = Budget("task own", UsageLimits()), Budget("task lent", UsageLimits())
    budgets = TaskBudgets({OWN: (own,), LENT: (lent,)})
    state = await state_in(log, OWN, UsageLimits(turns=3), budgets)
    assert [budget.scope for budget in state.budgets] == ["session", "task own"]
    state.begin_turn(PROMPT, Request(LENT))
    assert [budget.scope for budget in state.budgets] == ["session", "task lent"]
    state.budgets[0].spend(Usage(turns=3))
    assert state.budgets[0].reached(before_turn=True), "the same budget, however often it is asked"


async def test_nobody_asks_a_session_that_closes_or_is_over(log: EventLog) -> None:
    state = await state_in(log)
    state.must_be_open()
    state.is_closing = True
    with pytest.raises(Conflict, match="has ended"):
        state.must_be_open()
    state.is_closing, state.is_over = False, True
    with pytest.raises(Conflict, match="has ended"):
        state.must_be_open()
