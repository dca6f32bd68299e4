"""A question beside the work is refused where there is nothing to answer it from."""

import pytest

from airboss.errors import Conflict
from airboss.harness.aside import answered
from airboss.harness.turn import Request
from airboss.log.log import EventLog
from tests.harness.states import state_in


async def test_a_session_without_a_history_or_an_agent_answers_nothing(log: EventLog) -> None:
    """What a real agent answers is told in tests/contract/test_v1_sessions.py."""
    state = await state_in(log)
    with pytest.raises(Conflict, match="no history yet to answer from"):
        await answered(state, "What was done?", "ada")
    state.begin_turn(None, Request())
    await log.last_view(state.session)
    with pytest.raises(Conflict, match="not open yet"):
        await answered(state, "What was done?", "ada")
