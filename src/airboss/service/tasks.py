"""Tasks by themselves: a door to runs of one task, which may be lent an open session."""

import asyncio
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from airboss.engine.budgets import untold_by
from airboss.engine.own_sessions import actor_of
from airboss.engine.run_story import events_until
from airboss.errors import Conflict, Invalid, NotFound
from airboss.harness.models import Catalog
from airboss.log.log import EventLog
from airboss.model.ids import SessionId
from airboss.model.redaction import Redactor
from airboss.model.run_events import LoneTask, RunAccepted
from airboss.model.task_events import TaskEnded, TaskError
from airboss.model.task_runs import (
    TaskRunState,
    TaskRunStory,
    TaskRunView,
    tell_story,
)
from airboss.model.traces import asked_in
from airboss.model.views import SessionView, View
from airboss.service.entries import Entries
from airboss.service.folders import Folders
from airboss.service.pages import StreamPage, ViewPage, page_of_events, page_of_views
from airboss.service.runs import Runs
from airboss.service.sessions import Sessions
from airboss.service.verbs import at_owner, untold
from airboss.store.views import ALL, ViewIndex, Wanted

if TYPE_CHECKING:
    from airboss.service.owners import Owners

# Agents get some time to end.
_STOP_SECONDS = 60
_ENDED = "The server stopped while this task was running."


@dataclass(frozen=True)
class NewTaskRun:
    """What somebody wants to be done."""

    task: str
    user_input: str
    who: str
    # An open session to work in; without one the task opens its own.
    session: str | None = None
    # For sessions of its own.
    model: str | None = None
    cwd: str | None = None
    skips_availability: bool = False
    # Input that is missing, or that the task does not take, is refused.
    is_exact: bool = True
    # The profile of the cage that its own sessions work in.
    cage: str | None = None
    # What a worker must have that works on it.
    labels: tuple[str, ...] = ()


@dataclass
class TaskRuns:
    """All task runs of this server. Whatever happens to one is the run's that it is part of."""

    log: EventLog
    index: ViewIndex
    entries: Entries
    sessions: Sessions
    catalog: Catalog
    folders: Folders
    redactor: Redactor
    runs: Runs
    # The way to tasks of other processes on the same database.
    owners: "Owners | None" = None

    async def start(self, request: NewTaskRun) -> TaskRunView:
        """Checked in the order session, task, folder; on disk before anything runs."""
        for name in ("airboss.engine.durable", "airboss.engine.run_executor"):
            if name not in sys.modules:  # by the first one
                await asyncio.to_thread(import_module, name)
        if request.session is not None:
            return await self.start_in(request.session, request)
        return await self.show(await self.runs.start_lone(await self._accept(request)))

    @at_owner(again=untold)
    async def start_in(self, session: str, request: NewTaskRun) -> TaskRunView:
        """In a session that somebody lends: where that is."""
        del session
        return await self.show(await self.runs.start_lone(await self._accept(request)))

    async def _accept(self, request: NewTaskRun) -> RunAccepted:
        lent = await self._lent(request.session) if request.session is not None else None
        installed = await self.entries.to_run()
        if installed is None or request.task not in installed.entry.tasks:
            raise NotFound("task", request.task)
        if request.is_exact:
            _must_fit(request, takes_input=installed.entry.tasks[request.task].require_user_input)
        if lent is None:
            if request.model is not None:
                await self.catalog.route(request.model)
            cwd = await self.runs.folder(request.cwd, request.labels)
        else:
            cwd = lent.cwd
        await self.entries.keep(installed)
        lone = LoneTask(
            task=request.task,
            user_input=self.redactor.text(request.user_input),
            model=lent.model if lent else request.model,
            session=lent and lent.id,
            policy=lent and lent.policy,
            checks_availability=not request.skips_availability,
        )
        return RunAccepted(
            job="",
            entry=installed.digest,
            cwd=cwd,
            user_input="",
            who=request.who,
            trusted=installed.trusted,
            lone=lone,
            trace=asked_in(),
            cage=request.cage,
            labels=request.labels,
        )

    async def _lent(self, session: str) -> SessionView:
        if not self.sessions.is_open(session):
            raise NotFound("open session", session)
        return await self.sessions.show(session)

    async def show(self, run: str) -> TaskRunView:
        """The run as of its own seq: a stream that begins there misses and repeats nothing."""
        return _task_run(await self.log.view(run), run)

    async def story(self, run: str, until: int) -> TaskRunStory:
        """All that it did; the stream of a task run has no deltas, and is short."""
        return tell_story(await events_until(self.log, run, until))

    async def page(
        self,
        states: tuple[TaskRunState, ...],
        cursor: str | None,
        limit: int,
        wanted: Wanted = ALL,
    ) -> ViewPage[TaskRunView]:
        return await page_of_views(self.index, TaskRunView, states, cursor, limit, wanted)

    async def events(self, run: str, after: int, limit: int) -> StreamPage:
        return await page_of_events(self.log, run, after, limit)

    @at_owner(_STOP_SECONDS)
    async def stop(self, run: str, who: str) -> TaskRunView:
        """Ends it with every agent of its own. Twice is as good as once. A task of a job fails."""
        view = await self.show(run)
        if view.is_open and view.own_run is not None:
            await self.runs.cancel(await self.runs.view(view.own_run), who)
        elif view.is_open and view.run is not None:
            await self.runs.stop_task(view.id, who)
        return await self.show(run)

    @at_owner()
    async def retry(self, run: str, who: str) -> TaskRunView:
        """The same task with the same input in the same place, as it was in the entry then."""
        view = await self.show(run)
        if view.run is not None:
            raise Conflict(f"The task belongs to the run {view.run}. Retry the run instead.")
        if view.own_run is None:
            raise Conflict("This task was run by an earlier version. Start a new one instead.")
        if view.session is not None and not self.sessions.is_open(view.session):
            raise Conflict("The session of this task is not open. Resume it, or start a new task.")
        return await self.show(await self.runs.retry_lone(view.own_run, who))

    @at_owner(again=untold)
    async def delete(self, run: str) -> None:
        """For good, with its sessions. The tries of one task go together."""
        view = await self.show(run)
        if view.run is not None:
            raise Conflict(f"The task belongs to the run {view.run}. Delete the run instead.")
        if view.is_open:
            raise Conflict("The task has not ended. Stop it first.")
        if view.own_run is not None:
            await self.runs.forget(view.own_run)
        else:
            await self.log.forget([view.id, *view.opened])

    async def recover(self, interrupted: Iterable[SessionId]) -> None:
        """Tasks go on with the sessions that they know of. One without a run, as earlier versions
        had them, has crashed with its server, and its sessions are closed."""
        kept: set[SessionId] = set()
        cursor: str | None = None
        while True:
            page = await self.page(("running",), cursor, 100)
            for view in page.items:
                if await self.goes_on(view):
                    kept.update(view.sessions)
                else:
                    await self.crash(view)
            cursor = page.next_cursor
            if cursor is None:
                break
        for session in interrupted:
            if session not in kept:
                view = await self.sessions.show(session)
                if view.task is not None:
                    await self.sessions.close(session, view.who)

    async def goes_on(self, view: TaskRunView) -> bool:
        """With the run that it is in."""
        if view.own_run is None:
            return view.run is not None
        around = await self.log.view(view.own_run)
        return around is not None and around.is_open

    async def crash(self, view: TaskRunView) -> None:
        """It has ended with its server."""
        for session in view.sessions:  # also one that had lost its runtime before
            await self.sessions.close(session, actor_of(view.id))
        writer = await self.log.writer(view.id)
        usage = await untold_by(self.log, view)
        error = TaskError(name="ServerEnded", message=_ENDED)
        await writer.commit(error, TaskEnded(outcome="crashed", reason=_ENDED, usage=usage))
        writer.release()


def _must_fit(request: NewTaskRun, *, takes_input: bool) -> None:
    given = bool(request.user_input.strip())
    if takes_input and not given:
        raise Invalid(f"The task {request.task} needs input. Tell it what to do.")
    if given and not takes_input:
        raise Invalid(f"The task {request.task} takes no input. Start it without input.")
    given_anew = (request.model, request.cwd, request.cage, request.labels or None)
    if request.session is not None and any(one is not None for one in given_anew):
        raise Invalid("A session keeps its model, folder and cage. With a session, send none.")


def _task_run(view: View | None, run: str) -> TaskRunView:
    if not isinstance(view, TaskRunView):
        raise NotFound("task run", run)
    return view
