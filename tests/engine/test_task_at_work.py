"""A task at work: it comes to its verdict by its acts, or somebody stops it while it waits."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from airboss.engine.acts import (
    Acts,
    Answer,
    AskRetry,
    Close,
    Done,
    OpenAct,
    Opened,
    Put,
    close,
    open_session,
    put,
    tell,
)
from airboss.engine.own_sessions import AgentSessions, OwnSessions
from airboss.engine.slots import Slots
from airboss.engine.task import TaskPlan, Verdict, run_task
from airboss.engine.task_at_work import TaskAtWork, play
from airboss.engine.task_executor import TaskExecutor
from airboss.engine.task_place import TaskPlace
from airboss.log.log import EventLog
from airboss.model.ids import TaskRunId
from airboss.model.redaction import Redactor
from airboss.model.run_events import WorkStarted
from airboss.model.task_events import (
    Mission,
    MissionEnded,
    TaskAccepted,
    TaskChecked,
    TaskDecided,
    TaskRetrying,
)
from tests.engine.player import BORROWED, FALSE, available, criteria, done, plan
from tests.log.conftest import log_in

TASK = TaskRunId("tsk_1")
OPEN = OpenAct("coder", is_driving=True)
MISSION = Put(BORROWED, Mission(kind="prompt", round=0, attempt=1), "Do it.")
DONE = Verdict(succeeded=True, reason="Done.")
NO = done((FALSE, "No."))
NOBODY = cast("AgentSessions", None)
ACCEPTED = TaskAccepted(
    task="it", entry="e", model="m", cwd="/", policy="ask", user_input="", who="me"
)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as running:
        yield running


async def at_work(log: EventLog, rules: TaskPlan, slots: Slots) -> TaskAtWork:
    own, run_writer = log.new_writer(TASK), log.new_writer("run_1")
    await own.commit(ACCEPTED)
    started = WorkStarted(work=0, path="0", task="it", task_run=TASK)
    place = TaskPlace(started, run_writer, slots)
    executor = TaskExecutor(own, OwnSessions(NOBODY, TASK, "/", "ask"), Redactor(()))
    return TaskAtWork(started, run_task(rules), executor, place, run_writer)


async def kinds(log: EventLog, stream: str) -> list[str]:
    await log.last_view(stream)
    return [recorded.event.kind for recorded in await log.after(stream, 0)]


def missions(rules: TaskPlan) -> list[tuple[int, Mission]]:
    """All that a task is asked which gets no for an answer, each with the number of its act."""
    acts, answer, found = run_task(rules), None, list[tuple[int, Mission]]()
    for number in count(1):
        try:
            act = acts.send(answer)
        except StopIteration:
            break
        answer = NO if isinstance(act, Put) else None
        if isinstance(act, Put):
            found.append((number, act.mission))
    return found


async def test_what_needs_no_agent_takes_no_place(log: EventLog) -> None:
    task = await at_work(log, plan(availability=available("plan")), Slots(0))
    verdict = await asyncio.wait_for(task.run(), 5)
    assert not verdict.succeeded
    assert await kinds(log, TASK) == [
        *("task.accepted", "task.checked", "task.decided", "task.decided", "task.decided")
    ]
    assert await kinds(log, "run_1") == []


async def test_who_is_stopped_while_it_waits_for_a_place_fails_and_asks_nobody(
    log: EventLog,
) -> None:
    task = await at_work(log, plan(borrowed=BORROWED), Slots(0))
    running = asyncio.ensure_future(task.run())
    while task.place.waits_for is None:  # noqa: ASYNC110 - it says so in the same moment
        await asyncio.sleep(0)
    running.add_done_callback(lambda _: task.over.set())
    await task.stop("ada")
    verdict = await running
    assert (verdict.succeeded, verdict.reason) == (False, "Stopped by ada.")
    assert await kinds(log, "run_1") == ["run.work.waiting"]
    assert "task.mission.sent" not in await kinds(log, TASK)


async def test_what_was_answered_before_needs_no_place_and_a_retry_is_told_to_the_run(
    log: EventLog,
) -> None:
    """As after a restart: the missions of both rounds have their ends in the task's stream."""
    rules = plan(criteria=criteria("job_prepare_document", retries=1), borrowed=BORROWED)
    task = await at_work(log, rules, Slots(0))
    for number, mission in missions(rules):
        ended = MissionEnded(mission=mission, session=BORROWED, outcome="done", calls=NO.calls)
        task.executor.writer.say_from(str(number), ended)
    verdict = await asyncio.wait_for(task.run(), 5)
    assert not verdict.succeeded
    assert await kinds(log, "run_1") == ["run.work.retrying"]


# Its acts, one by one.


def rules() -> Acts[Verdict]:
    opened = yield from open_session(OPEN)
    assert isinstance(opened, Opened)
    yield from tell(TaskDecided(text="[OPERATION] Sends the prompt."))
    yield from put(MISSION)
    yield from close(opened.session, succeeded=True)
    return DONE


class ActDiary:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        self.lines.append(f"{number} {event.kind}")

    async def do(self, number: int, act: OpenAct | Put | AskRetry | Close) -> Answer:
        self.lines.append(f"{number} {type(act).__name__}")
        return {"OpenAct": Opened(BORROWED), "Put": Done()}.get(type(act).__name__)


async def test_acts_are_numbered_from_one_whether_they_are_done_or_told() -> None:
    diary = ActDiary()
    assert await play(rules(), diary.tell, diary.do) == DONE
    assert diary.lines == ["1 OpenAct", "2 task.decided", "3 Put", "4 Close"]


async def test_rules_whose_act_fails_are_closed_with_it() -> None:
    closed: list[bool] = []

    def failing() -> Acts[Verdict]:
        try:
            yield OPEN
            return DONE
        finally:
            closed.append(True)

    async def do(number: int, act: OpenAct | Put | AskRetry | Close) -> Answer:
        raise OSError("No disk.")

    with pytest.raises(OSError, match="No disk"):
        await play(failing(), ActDiary().tell, do)
    assert closed == [True]
