"""Task runs over v1: start, list, show, stop, read and follow."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import BaseModel, Field, StrictBool

from airboss.http.description import refused
from airboss.http.roles import Router, UseAsker
from airboss.http.services import Use, UseSessions, UseTasks, Who
from airboss.http.sse import EventStream
from airboss.http.v1.streams import (
    ENDING,
    LOOKED_FOR,
    After,
    Cursor,
    EventPage,
    Folder,
    ForPerson,
    Labels,
    LastEventId,
    ModelName,
    RequestBody,
    Time,
    event_page,
    first_seq,
)
from airboss.http.v1.wider_permissions import CageName, must_be_known
from airboss.model.audit_events import Deleted
from airboss.model.task_runs import TaskRunState, TaskRunStory, TaskRunView
from airboss.service.audit import actor
from airboss.service.tasks import NewTaskRun
from airboss.store.views import Wanted

router = Router(prefix="/api/v1/task-runs", tags=["task runs"])


class StartTask(RequestBody):
    """On an open session, or on sessions of its own: then with a model and a folder of choice."""

    task: str = Field(min_length=1, max_length=400)
    input: str = ""
    session: str | None = Field(default=None, max_length=100)
    model: ModelName = None
    cwd: Folder = None
    cage: CageName = None
    labels: Labels = ()
    skip_availability: StrictBool = False


class TaskRunList(BaseModel):
    """Task runs, newest first."""

    items: list[TaskRunView]
    next_cursor: str | None


class TaskRunDetail(TaskRunView, TaskRunStory):
    """A task run with all that it did: its decisions, checks and attempts."""


@router.post(
    "",
    status_code=201,
    responses={
        422: refused("There is no such task or model, or agents may not work in that folder.")
    },
)
async def start_task_run(
    asked: StartTask,
    tasks: UseTasks,
    sessions: UseSessions,
    who: Who,
    by: UseAsker,
    response: Response,
) -> TaskRunView:
    """Start a task. It is on disk when this returns, and starts immediately."""
    must_be_known(sessions, asked.cage, by)
    request = NewTaskRun(
        task=asked.task,
        user_input=asked.input,
        who=who,
        session=asked.session,
        model=asked.model,
        cwd=asked.cwd,
        skips_availability=asked.skip_availability,
        cage=asked.cage,
        labels=asked.labels,
    )
    view = await tasks.start(request)
    response.headers["Location"] = f"/api/v1/task-runs/{view.id}"
    return view


@router.get("")
async def list_task_runs(
    tasks: UseTasks,
    state: Annotated[list[TaskRunState], Query()] = [],  # noqa: B006 - FastAPI reads it, nobody writes
    alone: Annotated[bool, Query(description="Only task runs that are not part of a job.")] = False,
    for_person: ForPerson = False,
    model: Annotated[str | None, Query(max_length=400)] = None,
    since: Time = None,
    until: Time = None,
    text: Annotated[str | None, LOOKED_FOR] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> TaskRunList:
    """List task runs, newest first; started from `since` on and before `until`, with `text` in the
    task's name, the folder or the id. A cursor stays valid while new ones arrive."""
    wanted = Wanted(
        alone=alone, for_person=for_person, model=model, since=since, until=until, text=text
    )
    page = await tasks.page(tuple(state), cursor, limit, wanted)
    return TaskRunList(items=page.items, next_cursor=page.next_cursor)


@router.get("/{run}")
async def show_task_run(run: str, tasks: UseTasks) -> TaskRunDetail:
    """Show a task run as of its `seq`, with its decisions, checks and attempts."""
    view = await tasks.show(run)
    story = await tasks.story(run, view.seq)
    return TaskRunDetail(**view.model_dump(), **story.model_dump())


@router.post("/{run}/stop")
async def stop_task_run(run: str, tasks: UseTasks, who: Who) -> TaskRunView:
    """Stop a task run and its own agents. A borrowed session stays open."""
    return await tasks.stop(run, who)


@router.post(
    "/{run}/retry",
    status_code=201,
    responses={409: refused("It has not failed, or belongs to a run of a job.")},
)
async def retry_task_run(run: str, tasks: UseTasks, who: Who, response: Response) -> TaskRunView:
    """Retry a task that failed or was stopped, as a new task run: with the same input, in the same
    folder, with the entry as it was."""
    view = await tasks.retry(run, who)
    response.headers["Location"] = f"/api/v1/task-runs/{view.id}"
    return view


@router.delete("/{run}", status_code=204)
async def delete_task_run(run: str, use: Use) -> None:
    """Permanently delete a task run with its sessions and retries. It must have ended, and must not
    belong to a job: delete the run instead."""
    await use.tasks.delete(run)
    await use.audit.write(Deleted(by=actor(), stream=run))


@router.get("/{run}/events", response_model=EventPage)
async def read_task_events(
    run: str,
    tasks: UseTasks,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> Response:
    """List events of a task run in order. Continue after `next_after` while there are more."""
    view = await tasks.show(run)
    return event_page(await tasks.events(run, after, limit), after, view.seq)


@router.get("/{run}/stream", **ENDING)
async def follow_task_events(
    run: str, tasks: UseTasks, after: After = 0, last_event_id: LastEventId = None
) -> Response:
    """Follow a task run as server-sent events, from any point until it has ended (`end`)."""
    await tasks.show(run)
    return EventStream(tasks.log, run, first_seq(last_event_id, after), last_event_id)
