"""What one session asks of people: each thing is asked once, settled once, and written in both
streams; without an agent, in a real log."""

import asyncio

import pytest

from airboss.errors import Conflict, StoreUnavailable
from airboss.harness.item_lines import is_asked_again, reason_of
from airboss.harness.item_marks import plain_mark
from airboss.harness.limits import Reached
from airboss.harness.pending_items import NOT_ASKED_AGAIN
from airboss.harness.turn import Request
from airboss.log.log import EventLog
from airboss.model.events import PermissionDecided, SessionError
from airboss.model.ids import ItemId, PromptId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import INBOX, InboxItem, ItemSettled, LimitReached
from airboss.runtime.permission import PermissionAnswer, PermissionRequest, permission_request
from airboss.runtime.tools import OutsideCall
from tests.harness.desk import Desk, Slot
from tests.harness.states import kinds, state_in, story

LIMIT = Reached("session", "turns", 1, 1, 1, before_turn=True)
PROMPT = PromptId("pro_1")


def shell(command: str = "rm x", call: str = "call_1") -> PermissionRequest:
    asked = {"kind": "shell", "fullCommandText": command, "toolCallId": call}
    return permission_request({"requestId": "req_1", "permissionRequest": asked})


def question(call: str = "call_1", text: str = "Which?") -> OutsideCall:
    return OutsideCall("req_1", call, "ask_user", {"question": text})


@pytest.fixture
async def desk(log: EventLog) -> Desk:
    return Desk(await state_in(log))


async def test_a_persons_word_is_on_disk_in_both_streams_before_the_agent_hears_it(
    log: EventLog, desk: Desk
) -> None:
    deciding = asyncio.create_task(desk.pending.decide(shell()))
    await desk.asked()
    listed = desk.state.inbox.view
    assert desk.state.view
    assert isinstance(listed, InboxView)
    assert listed.items == desk.state.view.items, "to the millisecond"
    await desk.settle("allow-once")
    assert not deciding.done(), "it was woken by what is on disk"
    assert (await deciding).allowed
    assert await kinds(log, INBOX) == ["inbox.arrived", "inbox.settled"]
    said = await kinds(log)
    assert said[-3:] == ["approval.asked", "item.settled", "permission.decided"]
    assert desk.state.waiting == {}


async def test_of_two_words_the_first_counts(desk: Desk) -> None:
    asking = asyncio.create_task(desk.pending.answer(question()))
    settled = await desk.settle("declined")
    with pytest.raises(Conflict):
        await desk.pending.settle(settled.model_copy(update={"outcome": "answered"}))
    await asking


async def test_a_second_question_takes_the_place_of_the_first(log: EventLog, desk: Desk) -> None:
    first = asyncio.create_task(desk.pending.answer(question("call_1", "First?")))
    await desk.asked()
    second = asyncio.create_task(desk.pending.answer(question("call_2", "Second?")))
    assert "withdrawn" in str(await first)
    await log.last_view(desk.state.session)
    await desk.settle("declined")
    await second
    settled = [event for event in await story(log) if isinstance(event, ItemSettled)]
    assert [(one.outcome, one.who) for one in settled] == [("cancelled", None), ("declined", "ada")]


async def test_nobody_comes_in_time(log: EventLog) -> None:
    desk = Desk(await state_in(log), seconds=0.02)
    answer = await desk.pending.decide(shell())
    assert (answer.allowed, "Nobody decided in time" in answer.reason) == (False, True)
    assert await kinds(log, INBOX) == ["inbox.arrived", "inbox.settled"]


async def test_who_no_longer_waits_withdraws_what_was_asked_also_while_it_is_written(
    log: EventLog, desk: Desk
) -> None:
    for waits in (False, True):
        asking = asyncio.create_task(desk.pending.answer(question()))
        while not desk.state.waiting:  # noqa: ASYNC110 - it has no event for this
            await asyncio.sleep(0)
        if waits:
            await desk.asked()
        asking.cancel()
        await asyncio.wait({asking})
        await desk.asked(0)
    assert (await kinds(log, INBOX)) == ["inbox.arrived", "inbox.settled"] * 2


async def test_what_cannot_be_written_is_not_asked(
    log: EventLog, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("Not today.")

    monkeypatch.setattr("airboss.model.views.begin_inbox", broken)
    with pytest.raises(StoreUnavailable):
        await desk.pending.answer(question())
    assert (desk.state.waiting, await kinds(log)) == ({}, ["session.opened"])


async def test_the_place_of_a_job_is_given_up_and_its_time_stands_still_while_somebody_is_asked(
    desk: Desk,
) -> None:
    slot = Slot()
    desk.state.begin_turn(PROMPT, Request(None, slot))
    desk.state.watch.start()
    asking = asyncio.create_task(desk.pending.ask_limit(LIMIT))
    [asked] = await desk.asked()
    await asyncio.wait_for(slot.begun.wait(), 5)
    assert slot.said == [reason_of(asked)]
    desk.state.watch.lap()
    await asyncio.sleep(0.02)
    assert desk.state.watch.lap() == 0
    await desk.settle("go-on")
    await asking
    assert slot.said[1:] == ["goes on"]


async def test_what_was_decided_in_an_earlier_attempt_is_not_asked_again(log: EventLog) -> None:
    desk = Desk(await state_in(log))
    desk.state.begin_turn(PROMPT, Request())
    mark = plain_mark(LimitReached(item=ItemId("itm_0"), **vars(LIMIT)))
    before = ItemSettled(item=ItemId("itm_0"), outcome="go-on", who="ada")
    desk.earlier[mark] = [before]
    _, settled = await desk.pending.ask_limit(LIMIT)
    assert settled == before
    asking = asyncio.create_task(desk.pending.ask_limit(LIMIT))
    await desk.settle("deny")
    _, settled = await asking
    assert settled.outcome == "deny", "one decision is used once"


async def kept_item(desk: Desk) -> InboxItem:
    """Asked before the session was cut off."""
    asking = asyncio.create_task(desk.pending.decide(shell()))
    await desk.asked()
    desk.pending.leave()
    asking.cancel()
    await asyncio.wait({asking})
    assert desk.state.view
    [item] = desk.state.view.items
    return item


async def test_what_was_asked_before_a_resume_waits_on_under_its_name(
    log: EventLog, desk: Desk
) -> None:
    item, resumed = await kept_item(desk), Desk(desk.state)
    resumed.pending.keep([item])
    resumed.pending.expect(1)
    deciding = asyncio.create_task(resumed.pending.decide(shell()))
    await resumed.settle("allow-once")
    assert (await deciding).allowed
    assert (await kinds(log)).count("approval.asked") == 1


async def test_what_is_not_asked_for_again_is_withdrawn_and_an_unused_word_is_told(
    log: EventLog, desk: Desk
) -> None:
    item, resumed = await kept_item(desk), Desk(desk.state)
    other = item.asked.model_copy(update={"item": ItemId("itm_9"), "call": "call_9"})
    decided = ItemSettled(item=other.item, outcome="deny", who="bob")
    resumed.pending.keep([item], [(other, decided)])
    resumed.pending.withdraw_kept()
    await resumed.asked(0)
    said = await story(log)
    [settled] = [event for event in said if isinstance(event, ItemSettled)]
    assert (settled.item, settled.reason) == (item.id, NOT_ASKED_AGAIN)
    [error] = [event for event in said if isinstance(event, SessionError)]
    assert "bob decided" in error.message


async def test_a_no_of_the_policy_asks_nobody(log: EventLog) -> None:
    desk = Desk(await state_in(log))
    answer = await desk.pending.decide(
        permission_request({"permissionRequest": {"kind": "unheard-of"}})
    )
    assert isinstance(answer, PermissionAnswer)
    assert not answer.allowed
    assert await kinds(log, INBOX) == []
    assert isinstance((await story(log))[-1], PermissionDecided)


def test_a_session_that_goes_on_asks_again_for_calls_and_for_limits_but_silence() -> None:
    limit = LimitReached(item=ItemId("itm_1"), **vars(LIMIT))
    assert is_asked_again(limit)
    assert not is_asked_again(limit.model_copy(update={"limit": "idleMinutes"}))
