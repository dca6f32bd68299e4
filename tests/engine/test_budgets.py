"""Limits of a task are its own; those of job and entry hold for all tasks of a run together."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.budgets import Budgets, untold_by
from airboss.entry.build import ref
from airboss.entry.document import Entry, Job, Limits, Task
from airboss.log.log import EventLog
from airboss.model.events import SessionOpened, TurnEnded, TurnStarted
from airboss.model.ids import RunId, SessionId, TaskRunId, TurnId
from airboss.model.run_events import RunAccepted, WorkStarted
from airboss.model.runs import RunView
from airboss.model.task_events import TaskAccepted, TaskSessionStarted
from airboss.model.task_runs import TaskRunView
from airboss.model.usage import Usage
from tests.log.conftest import log_in

RUN, OLD, NEW = RunId("run_1"), TaskRunId("tsk_old"), TaskRunId("tsk_new")
SESSION = SessionId("ses_1")


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as running:
        yield running


@pytest.fixture
async def budgets(log: EventLog) -> AsyncGenerator[Budgets]:
    budgets = Budgets(log)
    yield budgets
    await budgets.close()


def entry(
    task: Limits | None = None, job: Limits | None = None, own: Limits | None = None
) -> Entry:
    return Entry(
        models={"driving": "driver"},
        prompt_variables={},
        tasks={"it": Task(prompt=("Do it.",), require_user_input=False, limits=task)},
        jobs={"deliver": Job(work=ref("it"), limits=job)},
        grid=(),
        limits=own,
    )


async def run_with_an_earlier_task(log: EventLog) -> RunView:
    """Whose session used three requests in a turn that no mission's end has told of."""
    accepted = RunAccepted(job="deliver", entry="e", cwd="/", user_input="", who="me")
    started = WorkStarted(work=0, path="0", task="it", task_run=OLD)
    await log.new_writer(RUN).commit(accepted, started)
    task = TaskAccepted(
        task="it", entry="e", model="m", cwd="/", policy="ask", user_input="", who="me", run=RUN
    )
    opened = TaskSessionStarted(session=SESSION, model="m", is_driving=True)
    await log.new_writer(OLD).commit(task, opened)
    turn = TurnId("trn_1")
    await log.new_writer(SESSION).commit(
        SessionOpened(model="m", cwd="/", policy="ask", who="task", task=OLD),
        TurnStarted(turn=turn, prompt=None),
        TurnEnded(turn=turn, outcome="done", usage=Usage(turns=1, requests=3, input_tokens=70)),
    )
    view = await log.view(RUN)
    assert isinstance(view, RunView)
    return view


async def test_what_an_earlier_server_used_counts_for_the_run_and_not_for_another_task(
    log: EventLog, budgets: Budgets
) -> None:
    run = await run_with_an_earlier_task(log)
    limits = Limits(tokens=100)
    await budgets.begin(NEW, "it", run, entry(limits, limits, limits))
    found = {budget.scope: budget.used.tokens for budget in budgets.of(NEW)}
    assert found == {"task it": 0, "job deliver": 70, "entry": 70}
    await budgets.begin(OLD, "it", run, entry(limits))
    assert budgets.of(OLD)[0].used.tokens == 70, "its own, when it goes on"


async def test_tasks_of_a_run_share_its_budget_until_it_has_ended(
    log: EventLog, budgets: Budgets
) -> None:
    run = await run_with_an_earlier_task(log)
    given = entry(job=Limits(turns=5))
    await budgets.begin(OLD, "it", run, given)
    await budgets.begin(NEW, "it", run, given)
    assert budgets.of(OLD)[0] is budgets.of(NEW)[0]
    budgets.end_task(OLD)
    assert budgets.of(OLD) == ()
    budgets.end_run(RUN)
    await budgets.begin(OLD, "it", run, given)
    assert budgets.of(OLD)[0] is not budgets.of(NEW)[0], "another time it is read anew"


async def test_what_has_no_limit_has_no_budget(log: EventLog, budgets: Budgets) -> None:
    run = await run_with_an_earlier_task(log)
    await budgets.begin(NEW, "it", run, entry(Limits()))
    assert budgets.of(NEW) == budgets.of(None) == ()


async def test_what_no_mission_told_is_found_in_the_sessions(log: EventLog) -> None:
    await run_with_an_earlier_task(log)
    view = await log.view(OLD)
    assert isinstance(view, TaskRunView)
    assert (await untold_by(log, view)).requests == 3
    told = view.model_copy(update={"usage": Usage(turns=1, requests=2, input_tokens=70)})
    assert (await untold_by(log, told)).requests == 1
