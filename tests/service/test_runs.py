"""Runs of a house: what is asked of them is done whole, or leaves nothing behind."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text

from airboss.errors import StoreUnavailable
from airboss.model.task_events import TaskDecided, TaskSessionStarted
from airboss.model.task_runs import TaskRunView
from airboss.service.run_recovery import RunRecovery
from airboss.service.run_request import NewRun
from tests.contract.job_guest import ref
from tests.houses import on_a_file
from tests.log.doubt import away_in_a_commit, refused_in_doubt
from tests.service.errands import TaskHouse, criteria, task
from tests.service.house import ME

NO_ROOM = "CREATE TRIGGER no_room BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no room'); END"
ROOM_AGAIN = "DROP TRIGGER no_room"
NEVER = task("Do it.", criteria=criteria("job_boolean_true"))
JOB: dict[str, Any] = {"job": {"work": ref("it")}}


async def execute(house: TaskHouse, statement: str) -> None:
    database = house.services.log._database  # pyright: ignore[reportPrivateUsage]
    await database.write(lambda c: c.execute(text(statement)))


async def failed_run(house: TaskHouse) -> str:
    await house.install({"it": NEVER}, jobs=JOB)
    return await ended(
        house, (await house.services.runs.start(NewRun("job", "", str(house.work), ME))).id
    )


async def ended(house: TaskHouse, run: str) -> str:
    async with house.services.log.follow(run, 0) as follower:
        while (await house.services.runs.show(run)).is_open:
            await follower.next(1)
    async with asyncio.timeout(10):
        while house.services.runs.is_busy:  # noqa: ASYNC110 - let go right behind its last word
            await asyncio.sleep(0.01)
    return run


@on_a_file
async def test_a_retry_that_cannot_be_written_leaves_the_run_as_it_was(tasks: TaskHouse) -> None:
    run, runs = await failed_run(tasks), tasks.services.runs
    before = await runs.show(run)
    assert before.state == "failed"
    await execute(tasks, NO_ROOM)
    with pytest.raises(StoreUnavailable):
        await runs.retry(run, ME)
    await execute(tasks, ROOM_AGAIN)
    assert await runs.show(run) == before
    assert not runs.is_busy
    assert (await runs.retry(run, ME)).attempt == 2
    await ended(tasks, run)


async def test_what_a_long_task_opened_late_is_deleted_with_its_run(tasks: TaskHouse) -> None:
    run, log = await failed_run(tasks), tasks.services.log
    [work] = (await tasks.services.runs.story(await tasks.services.runs.show(run))).works
    late = await tasks.lend()
    await tasks.sessions.close(late, ME)
    writer = await log.writer(work.task_run)
    writer.say(*[TaskDecided(text=f"[MISC] {number}") for number in range(1000)])
    await writer.commit(TaskSessionStarted(session=late, model="coder", is_driving=False))
    writer.release()
    view = await log.view(work.task_run)
    assert isinstance(view, TaskRunView)
    assert len(view.opened) == 2
    await tasks.services.runs.delete(run)
    gone = [await log.view(name) for name in (run, work.task_run, *view.opened)]
    assert gone == [None] * 4


@on_a_file
@pytest.mark.parametrize("lands", [True, False])
async def test_a_stop_that_was_in_doubt_ends_the_run_if_it_is_written(
    tasks: TaskHouse, lands: bool
) -> None:
    await tasks.install({"it": task("Take your time.")}, jobs=JOB)
    runs, log = tasks.services.runs, tasks.services.log
    run = (await runs.start(NewRun("job", "", str(tasks.work), ME))).id
    async with asyncio.timeout(20), log.follow(run, 0) as follower:
        while not (await runs.show(run)).running:
            await follower.next(1)
    async with away_in_a_commit(log, run, lands=lands):
        await refused_in_doubt(runs.stop(run, ME))
    if not lands:
        await asyncio.sleep(0.3)
        assert (await runs.show(run)).is_open
        await runs.stop(run, ME)
    await asyncio.wait_for(ended(tasks, run), 20)
    assert (await runs.show(run)).state == "canceled"


@on_a_file
async def test_a_retry_that_was_in_doubt_is_found_by_who_looks_for_work(tasks: TaskHouse) -> None:
    run, runs = await failed_run(tasks), tasks.services.runs
    async with away_in_a_commit(tasks.services.log, run, lands=True):
        await refused_in_doubt(runs.retry(run, ME))
    async with asyncio.timeout(10):
        while (view := await runs.show(run)).attempt == 1:  # noqa: ASYNC110 - until it is known
            await asyncio.sleep(0.01)
    assert view.is_open
    assert not runs.is_busy, "so a worker does not believe that it works on it"
    await RunRecovery(runs).take_over(view, None, 1)
    await ended(tasks, run)
    assert (await runs.show(run)).state == "failed"
