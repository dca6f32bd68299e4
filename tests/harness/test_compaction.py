"""A history is made shorter only while nothing else goes on."""

import pytest

from airboss.errors import Conflict
from airboss.harness.compaction import Compacting
from airboss.harness.turn import Request
from airboss.log.log import EventLog
from airboss.model.context_events import CompactionStarted
from airboss.runtime.session import RuntimeSession
from tests.harness.states import state_in


async def nobody() -> RuntimeSession:
    raise AssertionError("There is none.")


async def test_a_session_that_works_or_has_no_agent_yet_is_not_compacted(log: EventLog) -> None:
    """What a real agent does is told in tests/contract/test_v1_compaction.py."""
    state = await state_in(log)
    compacting = Compacting(state, nobody)
    with pytest.raises(Conflict, match="while it is idle"):
        await compacting.compact(None, "ada")
    state.begin_turn(None, Request())
    with pytest.raises(Conflict, match="while it is idle"):
        await compacting.compact(None, "ada")
    assert not compacting.goes_on
    await compacting.stop()


async def test_one_that_the_runtime_began_by_itself_has_nobodys_name(log: EventLog) -> None:
    compacting = Compacting(await state_in(log), nobody)
    said = CompactionStarted(trigger="threshold", before=99_000)
    assert compacting.name(said) is said
