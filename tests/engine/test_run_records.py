"""A run has one voice and comes to one end, whoever ends it first."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.executor import RunOver
from airboss.engine.run_records import RunRecords, ended_by, name_of, run_of
from airboss.errors import NotFound
from airboss.model.ids import RunId
from airboss.model.run_events import RunAccepted, RunEnded, RunEnding
from airboss.model.runs import RunView
from tests.log.conftest import log_in

RUN = RunId("run_1")
ACCEPTED = RunAccepted(job="deliver", entry="e", cwd="/", user_input="", who="me")
STOPPED = RunEnding(outcome="canceled", reason="Stopped by me.", who="me")
CRASHED = RunEnding(outcome="failed", reason="A task crashed.")
DONE = RunEnded(outcome="succeeded", reason="All that had to succeed did.")


@pytest.fixture
async def records(tmp_path: Path) -> AsyncGenerator[RunRecords]:
    async with log_in(tmp_path) as log:
        yield RunRecords(log)


async def begun(records: RunRecords) -> RunView:
    writer = records.log.new_writer(RUN)
    with records.beginning(RUN, writer):
        await writer.commit(ACCEPTED, origin="accepted")
    return await records.view(RUN)


async def kinds(records: RunRecords) -> list[str]:
    return [recorded.event.kind for recorded in await records.log.after(RUN, 0)]


@pytest.mark.parametrize(("attempt", "name"), [(1, "run_1"), (2, "run_1~2"), (12, "run_1~12")])
def test_each_attempt_has_a_name_for_the_engine(attempt: int, name: str) -> None:
    assert name_of(RUN, attempt) == name
    assert run_of(name) == (RUN, attempt)


async def test_a_run_has_one_voice_until_it_has_ended(records: RunRecords) -> None:
    view = await begun(records)
    assert records.is_busy
    assert await records.writer(RUN) is await records.writer(RUN)
    assert await records.finish(RUN, view.attempt, DONE)
    assert not records.is_busy
    assert (await records.view(RUN)).state == "succeeded"


async def test_a_run_whose_first_words_are_not_written_is_none(records: RunRecords) -> None:
    with pytest.raises(OSError, match="full"), records.beginning(RUN, records.log.new_writer(RUN)):
        raise OSError("The disk is full.")
    assert not records.is_busy
    with pytest.raises(NotFound):
        await records.view(RUN)


async def test_nobody_goes_on_with_a_run_that_is_being_ended_or_has_ended(
    records: RunRecords,
) -> None:
    view = await begun(records)
    assert await records.open_view(RUN) == view
    await records.begin_ending(view, STOPPED)
    with pytest.raises(RunOver):
        await records.open_view(RUN)
    await records.end(RUN, 1, ended_by(STOPPED))
    with pytest.raises(RunOver):
        await records.open_view(RUN)


async def test_the_first_who_ends_a_run_says_how(records: RunRecords) -> None:
    view = await begun(records)
    assert await records.begin_ending(view, STOPPED) == STOPPED
    assert await records.begin_ending(view, CRASHED) == STOPPED
    assert not await records.finish(RUN, 1, DONE), "it does not come to an end of its own"
    await records.end(RUN, 1, ended_by(STOPPED))
    ended = await records.view(RUN)
    assert (ended.state, ended.reason) == ("canceled", "Stopped by me.")
    assert await records.begin_ending(ended, CRASHED) is None
    assert await kinds(records) == ["run.accepted", "run.ending", "run.ended"]


async def test_a_run_that_ends_by_itself_just_now_is_not_ended_once_more(
    records: RunRecords,
) -> None:
    view = await begun(records)
    (await records.writer(RUN)).say_from("end@1", DONE)
    assert await records.begin_ending(view, STOPPED) is None
    assert (await records.view(RUN)).state == "succeeded"
    assert not records.is_busy
    assert await kinds(records) == ["run.accepted", "run.ended"]
