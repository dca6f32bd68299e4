"""Which of the runtime's sessions an open session works with."""

from typing import cast

from airboss.background import Background
from airboss.harness.binding import START_OVER
from airboss.harness.incarnation import Incarnation
from airboss.harness.switching import Switching
from airboss.log.log import EventLog
from airboss.model.lineage_events import SessionForked, SessionRestarted
from tests.harness.states import SECRET, SESSION, state_in

NOT_ASKED = cast("Switching", None)


async def test_each_restart_has_the_next_number_and_the_agent_is_told(log: EventLog) -> None:
    state = await state_in(log)
    first = Incarnation(state, NOT_ASKED, Background("test"))
    assert (first.runtime_id, first.words("Hello.")) == (SESSION, "Hello.")
    said = first.begin_anew(f"It had {SECRET}.")
    assert said.number == 2
    assert SECRET not in said.why
    assert first.runtime_id == f"{SESSION}-2"
    assert first.words("Hello.") == f"Hello.\n\n{START_OVER}"
    assert first.words(None) == START_OVER


async def test_another_server_counts_on_from_the_events(log: EventLog) -> None:
    state = await state_in(log)
    forked = SessionForked(who="me", source=state.session, runtime="the-runtimes-own-name")
    await state.writer.commit(forked)
    copy = Incarnation(state, NOT_ASKED, Background("test"))
    assert (copy.runtime_id, copy.words(None)) == ("the-runtimes-own-name", None)
    await state.writer.commit(SessionRestarted(why="Gone.", number=4))
    later = Incarnation(state, NOT_ASKED, Background("test"))
    assert later.runtime_id == f"{SESSION}-4"
    assert later.begin_anew("Gone again.").number == 5
