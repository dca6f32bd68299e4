"""What a run has done is read from its stream, without what no longer matters."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.run_story import events_until, story_of_run, telling_events
from airboss.log.log import EventLog
from airboss.model.events import Event, Recorded
from airboss.model.ids import RunId, TaskRunId
from airboss.model.run_events import (
    RunAccepted,
    RunEnded,
    RunRetried,
    WorkGoing,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.runs import RunView, tell_run
from tests.log.conftest import log_in

RUN = RunId("run_1")
ACCEPTED = RunAccepted(job="j", entry="e", cwd="/", user_input="", who="me")


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as running:
        yield running


async def told(log: EventLog, *events: Event) -> list[Recorded]:
    writer = log.new_writer(RUN)
    await writer.commit(*events)
    writer.release()
    return await log.transcript(RUN, 0, 10_000)


def started(number: int, path: str) -> WorkStarted:
    return WorkStarted(work=number, path=path, task="t", task_run=TaskRunId(f"tsk_{number}"))


async def test_of_a_long_run_few_events_are_read(log: EventLog) -> None:
    said: list[Event] = [ACCEPTED]
    for number in range(40):
        work = TaskRunId(f"tsk_{number}")
        said.append(WorkStarted(work=number, path=f"{number}", task="t", task_run=work))
        said += [WorkWaiting(path=f"{number}", reason="a slot"), WorkGoing(path=f"{number}")] * 20
        said.append(WorkStopped(work=number, path=f"{number}", task_run=work, succeeded=True))
    recorded = await told(log, *said)
    assert len(recorded) == 1 + 40 * 42
    assert len(await telling_events(log, RUN, recorded[-1].seq)) == 1 + 40 * 2
    view = await log.view(RUN)
    assert isinstance(view, RunView)
    story = await story_of_run(log, view)
    assert [work.state for work in story.works] == ["succeeded"] * 40


async def test_what_a_work_waits_for_is_read_as_long_as_it_has_not_ended(log: EventLog) -> None:
    waiting = WorkWaiting(path="1", reason="your answer", for_person=True)
    stopped = WorkStopped(work=0, path="0", task_run=TaskRunId("tsk_0"), succeeded=False)
    ended, again = RunEnded(outcome="failed", reason="no"), RunRetried(time=2, who="me")
    said = [ACCEPTED, started(0, "0"), stopped, started(1, "1"), waiting, ended, again]
    recorded = await told(log, *said, started(2, "1"), waiting)
    for one in recorded:
        some = await telling_events(log, RUN, one.seq)
        whole = [other for other in recorded if other.seq <= one.seq]
        assert tell_run(some) == tell_run(whole), f"as of {one.seq}"


async def test_events_are_read_up_to_the_one_that_is_named(log: EventLog) -> None:
    recorded = await told(log, ACCEPTED, *(started(number, f"{number}") for number in range(1200)))
    assert await events_until(log, RUN, 1100) == recorded[:1100]
    assert await events_until(log, RUN, 5000) == recorded
