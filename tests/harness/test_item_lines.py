"""What is asked and what becomes of it is told in two streams, by one call."""

import pytest

from airboss.harness.item_lines import no_longer_waits, with_inbox
from airboss.log.log import EventLog
from airboss.model.events import SessionIdle
from airboss.model.ids import ItemId, SessionId, TaskRunId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import INBOX, InboxSettled, ItemSettled, QuestionAsked
from tests.harness.states import SESSION, kinds, state_in

ASKED = QuestionAsked(item=ItemId("itm_1"), question="Which?")
SETTLED = ItemSettled(item=ASKED.item, outcome="answered", who="ada", answer="This.")


async def test_both_have_it_or_none(log: EventLog) -> None:
    state = await state_in(log, task=TaskRunId("tsk_1"))
    await log.commit(*with_inbox(state.writer, state.inbox, ASKED, SessionIdle()))
    assert await kinds(log) == ["session.opened", "question.asked", "session.idle"]
    assert isinstance(state.inbox.view, InboxView)
    [item] = state.inbox.view.items
    assert (item.id, item.session, item.task_run, item.asked) == (
        ASKED.item,
        SESSION,
        "tsk_1",
        ASKED,
    )
    await log.commit(*with_inbox(state.writer, state.inbox, SETTLED))
    assert await kinds(log, INBOX) == ["inbox.arrived", "inbox.settled"]
    assert state.view
    assert (state.view.items, state.inbox.view.items) == ((), ())


async def test_what_cannot_be_said_in_one_of_them_is_said_in_none(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = await state_in(log)

    def broken(*_: object) -> None:
        raise ValueError("Not today.")

    monkeypatch.setattr("airboss.model.views.begin_inbox", broken)
    with pytest.raises(Exception, match="could not be written"):
        await log.commit(*with_inbox(state.writer, state.inbox, ASKED))
    assert (await kinds(log), await kinds(log, INBOX)) == (["session.opened"], [])


def test_the_inbox_is_not_told_what_was_answered() -> None:
    expected = InboxSettled(
        item=ASKED.item, session=SessionId(SESSION), outcome="answered", who="ada"
    )
    assert no_longer_waits(SESSION, SETTLED) == expected
