"""What runs ask for is done once and written down: on a real log, with tasks that need no agent."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest

from airboss.engine.budgets import Budgets
from airboss.engine.executor import ConditionUnasked, RunOver
from airboss.engine.own_sessions import AgentSessions
from airboss.engine.run_executor import RunExecutor
from airboss.engine.run_records import RunRecords
from airboss.engine.slots import Slots
from airboss.engine.walk import RunTask
from airboss.entry.build import ref, seq
from airboss.entry.document import Availability, Entry, Job, Limits, Task
from airboss.model.ids import RunId, new_lone_run_id
from airboss.model.redaction import Redactor
from airboss.model.run_events import LoneTask, RunAccepted, RunEnding, RunRetried
from airboss.model.runs import LoneRunView, begin_run
from airboss.model.task_runs import TaskRunView
from tests.log.conftest import log_in

RUN = RunId("run_1")
# It is not available: it has its verdict before it has a session.
STEP = RunTask("0.0", ref("early"), ())
EARLY = Task(
    prompt=("Do it.",),
    require_user_input=False,
    availability=Availability(previous_tasks=("plan",)),
)
LATE = Task(prompt=("Do it.",), require_user_input=False, limits=Limits(turns=5))
ENTRY = Entry(
    models={"driving": "driver"},
    prompt_variables={},
    tasks={"early": EARLY, "late": LATE},
    jobs={"deliver": Job(work=seq(ref("early"), ref("early")))},
    grid=(),
)
ACCEPTED = RunAccepted(job="deliver", entry="digest", cwd="/", user_input="", who="me")
STOPPED = RunEnding(outcome="canceled", reason="Stopped by me.", who="me")
NOBODY = cast("AgentSessions", None)


@pytest.fixture
async def executor(tmp_path: Path) -> AsyncGenerator[RunExecutor]:
    async def entry_of(digest: str) -> Entry:
        assert digest == "digest"
        return ENTRY

    async with log_in(tmp_path) as log:
        budgets = Budgets(log)
        yield RunExecutor(
            records=RunRecords(log),
            sessions=NOBODY,
            slots=Slots(1),
            server_policy="ask",
            budgets=budgets,
            redactor=Redactor(("hunter2-hunter2",)),
            find_entry=entry_of,
        )
        await budgets.close()


async def begin(executor: RunExecutor) -> None:
    writer = await executor.records.writer(RUN)
    await writer.commit(ACCEPTED, origin="accepted")


async def said(executor: RunExecutor, stream: str) -> list[str]:
    await executor.log.last_view(stream)
    return [recorded.event.kind for recorded in await executor.log.after(stream, 0)]


async def only_task_run(executor: RunExecutor, run: str = RUN) -> TaskRunView:
    await executor.log.last_view(run)  # behind what was said and is not on disk yet
    [task] = [
        recorded.event.task_run
        for recorded in await executor.log.after(run, 0)
        if recorded.event.kind == "run.work.started"
    ]
    view = await executor.log.last_view(task)
    assert isinstance(view, TaskRunView)
    return view


async def test_a_task_is_run_once_and_then_answered_from_the_log(executor: RunExecutor) -> None:
    await begin(executor)
    first = await executor.run_task(RUN, STEP)
    assert (first.succeeded, first.unasked) == (False, False)
    assert first.reason.endswith("No task ended before.")
    again = await executor.run_task(RUN, STEP)
    assert not again.succeeded
    assert await said(executor, RUN) == ["run.accepted", "run.work.started", "run.work.stopped"]
    assert (await only_task_run(executor)).state == "failed"


async def test_a_retry_does_again_what_made_the_run_fail(executor: RunExecutor) -> None:
    await begin(executor)
    await executor.run_task(RUN, STEP)
    await executor.end_run(RUN, succeeded=False)
    writer = await executor.records.writer(RUN)
    await writer.commit(RunRetried(time=2, who="me", redo=("0.0",)), origin="retry@2")
    await executor.run_task(f"{RUN}~2", STEP)
    await executor.run_task(f"{RUN}~2", STEP)
    assert (await said(executor, RUN)).count("run.work.started") == 2


async def test_nothing_is_done_for_a_run_that_has_ended(executor: RunExecutor) -> None:
    await begin(executor)
    assert (await executor.work_of(RUN)) == ENTRY.jobs["deliver"].work
    await executor.end_run(RUN, succeeded=True)
    for asked in (executor.work_of(RUN), executor.run_task(RUN, STEP)):
        with pytest.raises(RunOver):
            await asked
    with pytest.raises(RunOver):
        await executor.end_run(RUN, succeeded=True)
    assert await executor.begin_ending(RUN, STOPPED) is None


async def test_a_task_by_itself_is_accepted_with_its_run_and_ends_with_it(
    executor: RunExecutor,
) -> None:
    lone = ACCEPTED.model_copy(update={"lone": LoneTask(task="early", user_input="x"), "job": ""})
    name = new_lone_run_id()
    view = begin_run(name, 1, 1, lone)
    assert isinstance(view, LoneRunView)
    writer = executor.log.new_writer(name)
    with executor.records.beginning(name, writer):
        task = await executor.accept_lone(view, "x", writer.line(lone, "accepted"))
    assert await said(executor, name) == ["run.accepted", "run.work.started"]
    assert await said(executor, task) == ["task.accepted"]
    await executor.run_task(name, RunTask("0", ref("early"), ()))
    await executor.end_run(name, succeeded=False)
    assert await said(executor, name) == [
        *("run.accepted", "run.work.started", "run.work.stopped", "run.ended")
    ]
    ended = await only_task_run(executor, name)
    assert (ended.id, ended.state, ended.own_run) == (task, "failed", name)


async def test_who_is_dismissed_ends_with_the_run_and_is_canceled(executor: RunExecutor) -> None:
    lone = ACCEPTED.model_copy(update={"lone": LoneTask(task="early", user_input="x"), "job": ""})
    name = new_lone_run_id()
    view = begin_run(name, 1, 1, lone)
    assert isinstance(view, LoneRunView)
    writer = executor.log.new_writer(name)
    with executor.records.beginning(name, writer):
        await executor.accept_lone(view, "x", writer.line(lone, "accepted"))
    assert await executor.begin_ending(name, STOPPED) == STOPPED
    await executor.dismiss(name, STOPPED)
    await executor.dismiss(name, STOPPED)  # where the disk refused it, it is asked for again
    ended = await only_task_run(executor, name)
    assert (ended.state, ended.reason) == ("canceled", "Stopped by me.")
    assert (await said(executor, name))[2:] == ["run.ending", "run.work.cut", "run.ended"]
    assert not executor.records.is_busy


async def test_what_a_task_may_use_is_forgotten_with_its_run(executor: RunExecutor) -> None:
    await begin(executor)
    with pytest.raises(AttributeError) as fault:  # there is nobody who opens its session
        await executor.run_task(RUN, RunTask("0.0", ref("late"), ()))
    task = (await only_task_run(executor)).id
    assert executor.budgets.of(task)
    ending = await executor.crash_run(RUN, "0.0", fault.value)
    assert await executor.begin_ending(RUN, ending) == ending
    await executor.dismiss(RUN, ending)
    assert executor.budgets.of(task) == ()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("hunter2-hunter2 burns."), "A task crashed: [secret removed] burns."),
        (ConditionUnasked("Nobody could be asked."), "Nobody could be asked."),
    ],
    ids=["of ours", "a condition"],
)
async def test_a_crash_is_told_without_secrets_and_says_how_the_run_ends(
    executor: RunExecutor, error: Exception, reason: str
) -> None:
    await begin(executor)
    ending = await executor.crash_run(RUN, "0.0", error)
    assert (ending.outcome, ending.reason) == ("failed", reason)
    assert await said(executor, RUN) == ["run.accepted", "run.error"]


async def test_a_task_that_is_not_at_work_here_is_not_stopped(executor: RunExecutor) -> None:
    await begin(executor)
    await executor.run_task(RUN, STEP)
    assert not await executor.stop_task((await only_task_run(executor)).id, "me")
