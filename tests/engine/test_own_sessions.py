"""The sessions of a task run: opened in its name, asked, and told apart when they are gone."""

import pytest

from airboss.engine.own_sessions import OwnSessions, actor_of
from airboss.errors import Conflict, RuntimeUnavailable
from airboss.model.ids import RunId, new_prompt_id, new_task_run_id
from tests.service.errands import TaskHouse


def own(house: TaskHouse) -> OwnSessions:
    run = RunId("run_1")
    return OwnSessions(house.sessions, new_task_run_id(), str(house.work), "deny-all", run)


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
