"""A run keeps the files that it began and ended with, once each, and goes on where it cannot."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.run_records import RunRecords
from airboss.engine.run_trees import forget_run_trees, keep_first_tree
from airboss.model.ids import RunId
from airboss.model.run_events import RunAccepted, RunEnded, RunTreeKept
from tests.git_command import git
from tests.log.conftest import log_in

RUN = RunId("run_1")
DONE = RunEnded(outcome="succeeded", reason="All that had to succeed did.")


@pytest.fixture
async def records(tmp_path: Path) -> AsyncGenerator[RunRecords]:
    async with log_in(tmp_path) as log:
        yield RunRecords(log)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("a\n")
    return work


async def begin(records: RunRecords, work: Path) -> None:
    writer = records.log.new_writer(RUN)
    accepted = RunAccepted(job="deliver", entry="e", cwd=str(work), user_input="", who="me")
    with records.beginning(RUN, writer):
        await writer.commit(accepted, origin="accepted")
    await keep_first_tree(await records.view(RUN), writer)


async def kept(records: RunRecords) -> list[RunTreeKept]:
    events = [recorded.event for recorded in await records.log.after(RUN, 0)]
    return [event for event in events if isinstance(event, RunTreeKept)]


async def test_both_are_kept_once_and_forgotten_together(records: RunRecords, work: Path) -> None:
    git(work, "init", "-q")
    await begin(records, work)
    await keep_first_tree(await records.view(RUN), await records.writer(RUN))
    (work / "b.txt").write_text("b\n")
    await records.end(RUN, 1, DONE)
    begun, ended = await kept(records)
    assert (begun.when, ended.when) == ("begin", "end")
    assert git(work, "diff-tree", "--name-only", begun.tree or "", ended.tree or "") == "b.txt\n"
    assert (await records.view(RUN)).state == "succeeded"
    await forget_run_trees(await records.view(RUN))
    assert git(work, "for-each-ref", "refs/airboss") == ""


async def test_outside_of_git_nothing_is_said(records: RunRecords, work: Path) -> None:
    await begin(records, work)
    await records.end(RUN, 1, DONE)
    assert await kept(records) == []


async def test_a_folder_that_is_gone_does_not_keep_a_run_from_ending(
    records: RunRecords, work: Path
) -> None:
    git(work, "init", "-q")
    await begin(records, work)
    await asyncio.to_thread(work.rename, work.with_name("moved"))
    await records.end(RUN, 1, DONE)
    assert (await records.view(RUN)).state == "succeeded"
    ended = (await kept(records))[-1]
    assert (ended.when, ended.tree) == ("end", None)
    assert ended.reason
