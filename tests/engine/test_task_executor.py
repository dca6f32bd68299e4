"""Acts on real sessions: each is done once, and its answer is in the task's own stream."""

import asyncio

import pytest

from airboss.engine.acts import ActRefused, Close, Crashed, Done, OpenAct, Opened, Put
from airboss.engine.conclusions import conclude
from airboss.engine.own_sessions import OwnSessions
from airboss.engine.task_executor import RESTARTED, TaskExecutor
from airboss.log.writer import Writer
from airboss.model.events import PromptAccepted
from airboss.model.ids import SessionId, TaskRunId, new_prompt_id, new_task_run_id
from airboss.model.redaction import Redactor
from airboss.model.task_events import Mission, MissionEnded, MissionSent, TaskAccepted, TaskDecided
from tests.service.errands import TaskHouse

OPEN = OpenAct("coder", is_driving=True)
MISSION = Mission(kind="prompt", round=0, attempt=1)


async def begin(house: TaskHouse) -> TaskExecutor:
    task = new_task_run_id()
    writer = house.services.log.new_writer(task)
    accepted = TaskAccepted(
        task="it", entry="e", model="coder", cwd="/", policy="ask", user_input="", who="me"
    )
    await writer.commit(accepted)
    return executor(house, task, writer)


def executor(house: TaskHouse, task: TaskRunId, writer: Writer) -> TaskExecutor:
    agents = OwnSessions(house.sessions, task, str(house.work), "read-only")
    return TaskExecutor(writer, agents, Redactor(("hunter2-hunter2",)))


async def opened(task: TaskExecutor) -> SessionId:
    answer = await task.do(1, OPEN)
    assert isinstance(answer, Opened)
    return answer.session


async def kinds(house: TaskHouse, task: TaskExecutor) -> list[str]:
    await task.writer.settle()
    page = await house.tasks.events(task.agents.task_run, 0, 100)
    return [recorded.event.kind for recorded in page.items]


async def test_what_is_asked_for_again_is_answered_and_not_done_again(house: TaskHouse) -> None:
    task = await begin(house)
    session = await opened(task)
    acts = (OPEN, Put(session, MISSION, "Is it so?"), Close(session, succeeded=True))
    first = [await task.do(number, act) for number, act in enumerate(acts, 1)]
    # As another server would: from the stream alone.
    task.writer.release()
    log, name = house.services.log, task.agents.task_run
    again = executor(house, name, await log.writer(name))
    assert [await again.do(number, act) for number, act in enumerate(acts, 1)] == first
    assert isinstance(first[1], Done)
    assert [call.tool for call in first[1].calls] == ["job_boolean_true"]
    assert again.has_begun(2)
    assert not again.has_begun(9)
    assert await kinds(house, again) == [
        *("task.accepted", "task.session.started", "task.mission.sent"),
        *("task.mission.ended", "task.session.stopped"),
    ]
    assert len(await house.story_of(session, PromptAccepted)) == 1


async def test_the_end_of_a_mission_is_on_disk_when_its_session_is_closed(
    house: TaskHouse,
) -> None:
    task = await begin(house)
    session = await opened(task)
    await task.do(2, Put(session, MISSION, "Is it so?"))
    await task.do(3, Close(session, succeeded=True))
    said = await house.services.log.after(task.agents.task_run, 0)
    assert "task.mission.ended" in [one.event.kind for one in said]


async def test_what_the_prompt_came_to_is_what_the_log_says(house: TaskHouse) -> None:
    task = await begin(house)
    session = await opened(task)
    await task.do(2, Put(session, MISSION, "Is it so?"))
    asked = Mission(kind="criteria", round=0, attempt=1)
    await task.do(3, Put(session, asked, "Talk about it"))
    await task.do(4, Close(session, succeeded=True))
    assert task.conclusion
    assert task.conclusion == await conclude(house.services.log, task.agents.task_run)


async def test_a_model_that_is_not_there_is_refused_the_same_each_time(house: TaskHouse) -> None:
    task = await begin(house)
    answers = [await task.do(1, OpenAct("nobody", is_driving=False)) for _ in range(2)]
    assert isinstance(answers[0], ActRefused)
    assert answers[0] == answers[1]
    assert await kinds(house, task) == ["task.accepted", "task.session.failed"]


async def test_a_mission_that_a_server_left_behind_is_a_restart_and_no_crash_of_the_agent(
    house: TaskHouse,
) -> None:
    task = await begin(house)
    session = await opened(task)
    sent = MissionSent(mission=MISSION, session=session, prompt=new_prompt_id(), text="Is it so?")
    task.writer.say_from("2/sent", sent)
    answer = await task.do(2, Put(session, MISSION, "Is it so?"))
    assert answer == Crashed(RESTARTED, is_restart=True)
    assert await house.story_of(session, PromptAccepted) == []
    await task.clean_up()


async def test_a_turn_whose_end_is_on_disk_alone_is_not_worked_on_again(house: TaskHouse) -> None:
    task = await begin(house)
    session, prompt = await opened(task), new_prompt_id()
    first = await task.do(2, Put(session, MISSION, "Is it so?"))
    # Another session says something between the two ends, and then the server is killed.
    sent = MissionSent(mission=MISSION, session=session, prompt=prompt, text="Is it so?")
    task.writer.say_from("3/sent", sent)
    asked = await task.agents.ask(session, "Is it so?", prompt)
    usage = (await asked.report()).usage
    await task.writer.settle()
    task.writer.release()
    house.kill_runtime()
    await house.until(session, "interrupted")
    name = task.agents.task_run
    again = executor(house, name, await house.services.log.writer(name))
    assert isinstance(first, Done)
    assert first.calls
    assert await again.do(3, Put(session, MISSION, "Is it so?")) == first
    assert len(await house.story_of(session, PromptAccepted)) == 2
    await again.written()
    ended = await house.services.log.after(name, 0)
    assert isinstance(last := ended[-1].event, MissionEnded)
    assert (last.outcome, last.usage) == ("done", usage)
    await again.clean_up()


async def test_a_turn_that_a_person_stopped_before_its_server_ended_is_stopped_for_good(
    house: TaskHouse,
) -> None:
    task = await begin(house)
    session, prompt = await opened(task), new_prompt_id()
    sent = MissionSent(mission=MISSION, session=session, prompt=prompt, text="Take your time.")
    task.writer.say_from("2/sent", sent)
    asked = await task.agents.ask(session, sent.text, prompt)
    await house.until(session, "working")
    await house.sessions.abort(session)
    assert (await asked.report()).outcome == "aborted"
    answer = await task.do(2, Put(session, MISSION, sent.text))
    assert answer == ActRefused("The turn was stopped by a person.", by_person=True)
    await task.clean_up()


async def test_who_is_stopped_ends_the_turn_by_a_person(house: TaskHouse) -> None:
    task = await begin(house)
    session = await opened(task)
    doing = asyncio.ensure_future(task.do(2, Put(session, MISSION, "Take your time.")))
    await house.until(session, "working")
    await task.abort()
    answer = await asyncio.wait_for(doing, 20)
    assert isinstance(answer, ActRefused)
    assert answer.by_person
    await task.clean_up()


async def test_who_is_cut_off_leaves_no_session_of_its_own_open(house: TaskHouse) -> None:
    task = await begin(house)
    session = await opened(task)
    doing = asyncio.ensure_future(task.do(2, Put(session, MISSION, "Take your time.")))
    await house.until(session, "working")
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert await task.clean_up() == []
    await house.until(session, "closed")


async def test_a_lent_session_is_asked_to_stop_and_stays_open(house: TaskHouse) -> None:
    task, lent = await begin(house), await house.lend()
    doing = asyncio.ensure_future(task.do(1, Put(lent, MISSION, "Take your time.")))
    await house.until(lent, "working")
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert await task.clean_up() == []
    assert (await house.until(lent, "idle")).queue == ()
    await house.sessions.close(lent, "me")


async def test_what_a_task_tells_has_no_secrets(house: TaskHouse) -> None:
    task = await begin(house)
    task.tell(1, TaskDecided(text="[MISC] hunter2-hunter2"))
    await task.writer.settle()
    page = await house.tasks.events(task.agents.task_run, 0, 100)
    assert isinstance(said := page.items[-1].event, TaskDecided)
    assert "hunter2" not in said.text
