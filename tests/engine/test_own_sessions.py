"""The sessions of a task run: opened in its name, asked, and told apart when they are gone."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from airboss.engine.own_sessions import OwnSessions, actor_of
from airboss.errors import Conflict, RuntimesBusy, RuntimeUnavailable
from airboss.harness.setup import Said
from airboss.harness.turn import Pause
from airboss.model.ids import RunId, SessionId, new_prompt_id, new_task_run_id
from airboss.session_keys import SessionKeys
from tests.harness.desk import Slot
from tests.service.errands import TaskHouse

WAITS = "a free agent runtime: all are in use"


def own(house: TaskHouse, pause: Pause | None = None) -> OwnSessions:
    run = RunId("run_1")
    return OwnSessions(house.sessions, new_task_run_id(), str(house.work), "deny-all", run, pause)


@asynccontextmanager
async def with_one_runtime_in_use(house: TaskHouse) -> AsyncGenerator[SessionId]:
    """All that there may be, by a session of another identity."""
    pool = house.services.status.pool
    before, pool.most = pool.most, 1
    house.kill_runtime()
    async with asyncio.timeout(10):
        while pool.pid is not None:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
    said = (Said(SessionKeys(identity="other"), may_widen=True),)
    view = await house.sessions.start("coder", str(house.work), "me", said=said)
    try:
        yield view.id
    finally:
        pool.most = before
        await house.sessions.close(view.id, "me")


async def test_a_session_of_a_task_says_whose_it_is_and_may_what_the_task_may(
    house: TaskHouse,
) -> None:
    agents = own(house)
    view = await house.sessions.show(await agents.open("coder"))
    assert (view.task, view.run, view.who) == (agents.task_run, "run_1", actor_of(agents.task_run))
    assert (view.model, view.policy, view.cwd) == ("coder", "deny-all", str(house.work))
    await agents.close(view.id)
    await agents.close(view.id)


async def test_what_is_asked_is_answered_in_the_tasks_name(house: TaskHouse) -> None:
    agents, prompt = own(house), new_prompt_id()
    session = await agents.open("coder")
    report = await (await agents.ask(session, "Is it so?", prompt)).report()
    assert (report.outcome, [call.tool for call in report.calls]) == ("done", ["job_boolean_true"])
    assert await agents.go_on(session, prompt) is None, "it waits for nobody"
    await agents.close(session)


async def test_a_session_that_was_closed_is_no_crash_and_one_that_was_lost_is(
    house: TaskHouse,
) -> None:
    agents = own(house)
    closed, lost = await agents.open("coder"), await agents.open("coder")
    await agents.close(closed)
    await house.until(closed, "closed")
    with pytest.raises(Conflict):
        await agents.ask(closed, "Is it so?", new_prompt_id())
    await agents.withdraw(closed, new_prompt_id())  # there is nothing to take back
    await (await agents.ask(lost, "Is it so?", new_prompt_id())).report()
    house.kill_runtime()
    await house.until(lost, "interrupted")
    with pytest.raises(RuntimeUnavailable):
        await agents.ask(lost, "Is it so?", new_prompt_id())
    await agents.bury(lost)
    await agents.wake(lost)
    assert (await house.sessions.show(lost)).state == "idle"
    await agents.close(lost)


async def test_a_session_that_is_resumed_waits_for_a_runtime_and_says_so(house: TaskHouse) -> None:
    agents = own(house, slot := Slot())
    lost, asked = await agents.open("coder"), new_prompt_id()
    await (await agents.ask(lost, "Is it so?", asked)).report()
    async with with_one_runtime_in_use(house) as holder:
        await house.until(lost, "interrupted")
        slot.said.clear()
        waking = asyncio.ensure_future(agents.wake(lost, stopped=asyncio.Event()))
        async with asyncio.timeout(10):
            while WAITS not in slot.said:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.01)
        assert not waking.done()
        assert (await house.sessions.show(lost)).state == "interrupted"
        await house.sessions.close(holder, "me")
        await asyncio.wait_for(waking, 20)
        assert {*slot.said[:-1]} == {WAITS}
        assert slot.said[-1] == "not busy any more"
        assert (await house.sessions.show(lost)).state == "idle"
    await agents.close(lost)


async def test_who_is_stopped_or_a_person_waits_for_no_runtime(house: TaskHouse) -> None:
    agents, stopped = own(house, Slot()), asyncio.Event()
    lost = await agents.open("coder")
    await (await agents.ask(lost, "Is it so?", new_prompt_id())).report()
    async with with_one_runtime_in_use(house):
        await house.until(lost, "interrupted")
        waking = asyncio.ensure_future(agents.wake(lost, stopped=stopped))
        await asyncio.sleep(0.2)
        assert not waking.done()
        stopped.set()
        with pytest.raises(RuntimesBusy):
            await asyncio.wait_for(waking, 20)
        with pytest.raises(RuntimesBusy):
            await house.sessions.resume(lost, "me")
    await agents.close(lost)
