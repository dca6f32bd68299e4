"""What people said while the database went away counts if it is written, and only then."""

import asyncio

import pytest

from airboss.errors import Conflict
from airboss.harness.prompts import Prompts
from airboss.log.log import EventLog
from airboss.model.ids import PromptId
from airboss.model.inbox_events import ItemSettled
from tests.harness.desk import Desk
from tests.harness.states import SESSION, state_in
from tests.harness.test_pending_items import shell
from tests.log.doubt import away_in_a_commit, refused_in_doubt

FIRST = PromptId("pro_1")


async def desk_that_was_decided_in_doubt(
    log: EventLog, *, lands: bool, seconds: float | None = None
) -> "tuple[Desk, ItemSettled, asyncio.Task[bool]]":
    desk = Desk(await state_in(log), seconds=seconds)

    async def ask() -> bool:
        return (await desk.pending.decide(shell())).allowed

    asking = asyncio.create_task(ask())
    [asked] = await desk.asked()
    settled = ItemSettled(item=asked.item, outcome="allow-once", who="ada")
    async with away_in_a_commit(log, SESSION, lands=lands):
        await refused_in_doubt(desk.pending.settle(settled))
        with pytest.raises(Conflict):  # while nobody knows, it is taken
            await asyncio.wait_for(desk.pending.settle(settled), 5)
        await asyncio.sleep(seconds or 0.1)
        assert not asking.done()
    return desk, settled, asking


@pytest.mark.parametrize("seconds", [None, 0.5])
async def test_a_decision_that_is_written_reaches_the_agent(
    log: EventLog, seconds: float | None
) -> None:
    desk, settled, asking = await desk_that_was_decided_in_doubt(log, lands=True, seconds=seconds)
    assert await asyncio.wait_for(asking, 10)
    said = [one.event for one in await log.after(SESSION, 0)]
    assert [event for event in said if isinstance(event, ItemSettled)] == [settled]
    assert desk.state.view
    assert desk.state.view.items == ()


async def test_a_decision_that_is_not_written_can_be_made_again(log: EventLog) -> None:
    desk, settled, asking = await desk_that_was_decided_in_doubt(log, lands=False)
    await desk.state.writer.settle()
    await desk.pending.settle(settled.model_copy(update={"outcome": "deny", "who": "bob"}))
    assert not await asyncio.wait_for(asking, 10)


async def test_a_decision_that_is_not_written_before_its_deadline_comes_too_late(
    log: EventLog,
) -> None:
    _, settled, asking = await desk_that_was_decided_in_doubt(log, lands=False, seconds=0.5)
    assert not await asyncio.wait_for(asking, 10)
    await log.last_view(SESSION)
    said = [one.event for one in await log.after(SESSION, 0)]
    late = ItemSettled(item=settled.item, outcome="timeout")
    assert [event for event in said if isinstance(event, ItemSettled)] == [late]


@pytest.mark.parametrize("lands", [True, False])
async def test_a_message_is_worked_on_if_it_is_written(log: EventLog, lands: bool) -> None:
    state = await state_in(log)
    prompts = Prompts(state)
    async with away_in_a_commit(log, SESSION, lands=lands):
        await refused_in_doubt(prompts.accept("hello", "ada", None, FIRST))
        assert state.queue.first is None
    await state.writer.settle()
    await asyncio.sleep(0)
    assert state.queue.first == (FIRST if lands else None)
    assert state.is_working == lands
