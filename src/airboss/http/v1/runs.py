"""Runs over v1: start, list, show, stop, retry, run again, read and follow."""

from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import BaseModel, Field

from airboss.errors import Conflict
from airboss.http.description import refused
from airboss.http.roles import Router, UseAsker
from airboss.http.services import Use, UseRuns, UseSessions, Who
from airboss.http.sse import EventStream
from airboss.http.v1.callers_key import Key
from airboss.http.v1.streams import (
    ENDING,
    LOOKED_FOR,
    After,
    Cursor,
    EventPage,
    Folder,
    Labels,
    LastEventId,
    RequestBody,
    Time,
    event_page,
    first_seq,
)
from airboss.http.v1.wider_permissions import CageName, must_be_known
from airboss.model.audit_events import Deleted
from airboss.model.runs import RunState, RunStory, RunView
from airboss.service.audit import actor
from airboss.service.entry_reader import in_thread
from airboss.service.run_moves import ALONE
from airboss.service.run_request import NewRun
from airboss.store.views import Wanted

router = Router(prefix="/api/v1/runs", tags=["runs"])


class StartRun(RequestBody):
    """Which job, with what input, in which folder; without one in the repository's root."""

    job: str = Field(min_length=1, max_length=400)
    input: str = ""
    cwd: Folder = None
    cage: CageName = None
    labels: Labels = ()


class RunList(BaseModel):
    """Runs, newest first."""

    items: list[RunView]
    next_cursor: str | None


class RunDetail(RunView, RunStory):
    """A run with every work that was begun, in order; of one in a loop, every round. `held_for`:
    whom it waits for, where no machine that lives could work on it."""

    held_for: str | None = None


class MoveRun(RequestBody):
    """The name or id of a machine that lives."""

    to: str = Field(min_length=1, max_length=200)


class RunJob(BaseModel):
    """The job of a run as it was when the run was accepted, whatever the entry says by now."""

    name: str
    requireUserInput: bool
    work: dict[str, Any]
    chart: dict[str, Any]
    # What each work is called, by its number; of a task that is there twice, what tells it apart.
    names: dict[int, str]


@router.post(
    "",
    status_code=201,
    responses={
        422: refused(
            "The job needs input, agents may not work in this folder, or no machine can take it."
        )
    },
)
async def start_run(
    asked: StartRun,
    runs: UseRuns,
    sessions: UseSessions,
    who: Who,
    by: UseAsker,
    response: Response,
    key: Key = None,
) -> RunView:
    """Start a run. When this returns, it is on disk and survives a crash of the server."""
    must_be_known(sessions, asked.cage, by)
    given = (asked.job, asked.input, asked.cwd, who)
    request = NewRun(*given, key=key, cage=asked.cage, labels=asked.labels)
    view = await runs.start(request)
    response.headers["Location"] = f"/api/v1/runs/{view.id}"
    return view


@router.get("")
async def list_runs(
    runs: UseRuns,
    state: Annotated[list[RunState], Query()] = [],  # noqa: B006 - FastAPI reads it, nobody writes
    job: Annotated[str | None, Query(max_length=400)] = None,
    tag: Annotated[str | None, Query(max_length=40)] = None,
    since: Time = None,
    until: Time = None,
    text: Annotated[str | None, LOOKED_FOR] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunList:
    """List runs, newest first; of one job, with a tag, started from `since` on and before `until`,
    with `text` in the job's name, the title, the beginning of the input, the folder or the id. A
    cursor stays valid while new ones arrive."""
    wanted = Wanted(job=job, tag=tag, since=since, until=until, text=text)
    page = await runs.page(tuple(state), cursor, limit, wanted)
    return RunList(items=page.items, next_cursor=page.next_cursor)


@router.get("/{run}", response_model=RunDetail)
async def show_run(run: str, runs: UseRuns) -> Response:
    """Show a run as of its `seq`, with every work. To miss nothing, stream from there."""
    view = await runs.show(run)
    story = await runs.story(view)
    # Of thousands of works: what is known to be right is not checked again, and written once.
    held_for = await runs.held_for(view)
    detail = RunDetail.model_construct(**dict(view), **dict(story), held_for=held_for)
    return Response(detail.model_dump_json(), media_type="application/json")


@router.get("/{run}/job", response_model=RunJob)
async def show_job_of_run(run: str, runs: UseRuns) -> Response:
    """Show the job of a run with its flow chart, as it was when the run started."""
    view = await runs.show(run)
    entry = await runs.entries.by_digest(view.entry)

    def tell() -> str:
        from airboss.entry.chart import generate_chart_nodes
        from airboss.entry.work_places import names_of

        job = entry.jobs[view.job]
        said = RunJob(
            name=view.job,
            requireUserInput=bool(job.require_user_input),
            work=job.work.to_wire(),
            chart=generate_chart_nodes(job.work).to_wire(),
            names=names_of(job.work),
        )
        return said.model_dump_json()

    # Off the event loop: a job may have thousands of works.
    return Response(await in_thread(tell), media_type="application/json")


@router.post("/{run}/stop")
async def stop_run(run: str, runs: UseRuns, who: Who) -> RunView:
    """Stop a run and all of its agents. When this returns, nothing of it is running."""
    return await runs.stop(run, who)


@router.post("/{run}/retry")
async def retry_run(run: str, runs: UseRuns, who: Who) -> RunView:
    """Retry the failed part of a run in the same run. What succeeded is kept."""
    return await runs.retry(run, who)


@router.post("/{run}/move")
async def move_run(run: str, asked: MoveRun, use: Use, who: Who) -> RunView:
    """Give a run to a machine of your choice. One at work is released first, and what was cut off
    is done again there."""
    if use.moves is None:
        raise Conflict(ALONE)
    return await use.moves.move(run, asked.to, who)


@router.post("/{run}/again", status_code=201)
async def run_again(
    run: str, runs: UseRuns, sessions: UseSessions, who: Who, by: UseAsker, response: Response
) -> RunView:
    """Run the same job again as a new run, with the same input, folder and cage."""
    must_be_known(sessions, (await runs.show(run)).cage, by)
    view = await runs.again(run, who)
    response.headers["Location"] = f"/api/v1/runs/{view.id}"
    return view


@router.delete("/{run}", status_code=204)
async def delete_run(run: str, use: Use) -> None:
    """Permanently delete a run with its tasks and their sessions. It must have ended."""
    await use.runs.delete(run)
    await use.audit.write(Deleted(by=actor(), stream=run))


@router.get("/{run}/events", response_model=EventPage)
async def read_run_events(
    run: str,
    runs: UseRuns,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> Response:
    """List events of a run in order. Continue after `next_after` while there are more."""
    view = await runs.show(run)
    return event_page(await runs.events(run, after, limit), after, view.seq)


@router.get("/{run}/stream", **ENDING)
async def follow_run_events(
    run: str, runs: UseRuns, after: After = 0, last_event_id: LastEventId = None
) -> Response:
    """Follow a run as server-sent events, from any point until it has ended (`end`)."""
    await runs.show(run)
    return EventStream(runs.log, run, first_seq(last_event_id, after), last_event_id)
