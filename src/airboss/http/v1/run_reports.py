"""Runs as reports over v1: read one, its changes page by page, compare two, rename and tag."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use, Who
from airboss.http.v1.streams import RequestBody
from airboss.model.run_events import RunRenamed, RunTagged
from airboss.model.runs import RunView
from airboss.model.words import Frozen
from airboss.service.changes import FileChange
from airboss.service.compare_parts import Comparison
from airboss.service.report_parts import Report
from airboss.service.run_compare import compare_runs

router = Router(prefix="/api/v1", tags=["runs"])

RunName = Annotated[str, Query(min_length=1, max_length=100)]
Tag = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[^\s,](?:[^,\n]*[^\s,])?$")]


class ChangeRun(RequestBody):
    """What people say of a run. What is left out stays."""

    title: Annotated[str, Field(max_length=120)] | None = None
    tags: Annotated[list[Tag], Field(max_length=20)] | None = None


class RunChanges(Frozen):
    """Some of the files that a run changed, each with its diff; go on with `first=next`."""

    files: list[FileChange]
    # How many there are in all.
    count: int
    next: int | None


@router.get("/run-comparison", responses={422: refused("Both are the same run.")})
async def compare_two_runs(use: Use, a: RunName, b: RunName) -> Comparison:
    """Compare two runs: the first step, in order, whose outcome or changes differ,
    and what differs in checks, figures and files."""
    return await compare_runs(use.reports, a, b)


@router.get("/runs/{run}/report")
async def show_report(run: str, use: Use) -> Report:
    """Show the report of a run: input, outcome, why, what changed, who decided what, cost, and
    what to do next. Only what agents said is written by a model."""
    return await use.reports.report(run)


@router.get("/runs/{run}/changes")
async def show_changes_of_run(
    run: str,
    use: Use,
    first: Annotated[int, Query(ge=0, le=100_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
) -> RunChanges:
    """List the files that the run changed, in the order of its report, with their diffs."""
    read = await use.reports.read(run)
    count = len(read.diff.summary.files)
    files = await read.diff.diffs(first, limit)
    behind = first + len(files)
    return RunChanges(files=files, count=count, next=behind if behind < count and files else None)


@router.patch("/runs/{run}")
async def change_run(run: str, asked: ChangeRun, use: Use, who: Who) -> RunView:
    """Change the title or tags of a run, also after it has ended."""
    view = await use.runs.show(run)
    if asked.title is not None:
        title = use.runs.redactor.text(" ".join(asked.title.split()))
        view = await use.runs.note(run, RunRenamed(short_title=title, who=who))
    if asked.tags is not None:
        tags = tuple(dict.fromkeys(use.runs.redactor.text(tag) for tag in asked.tags))
        view = await use.runs.note(run, RunTagged(tags=tags, who=who))
    return view
