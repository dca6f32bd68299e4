"""Task runs: start one on an open session or on sessions of its own, watch it, stop it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, cast

from airboss.errors import (
    Invalid,
    NotFound,
    RuntimeUnavailable,
    StoreUnavailable,
)
from airboss.harness.models import Catalog
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import Event
from airboss.model.ids import SessionId, TaskRunId, new_task_run_id
from airboss.model.redaction import Redactor
from airboss.model.task_events import TaskAccepted, TaskEnded, TaskError
from airboss.model.task_runs import (
    TaskRunState,
    TaskRunStory,
    TaskRunView,
    tell_story,
)
from airboss.model.usage import Usage
from airboss.model.views import SessionView, View
from airboss.service.budgets import Budgets, untold_by
from airboss.service.entries import Entries
from airboss.service.folders import Folders
from airboss.service.own_sessions import OwnSessions, name_of
from airboss.service.pages import EventPage, Page, events_until, page_of_events, page_of_views
from airboss.service.sessions import Sessions
from airboss.service.troubles import in_detail
from airboss.settings import Policy
from airboss.store.views import ViewIndex

if TYPE_CHECKING:
    from airboss.engine.performer import Performer
    from airboss.engine.task import TaskPlan, Verdict
    from airboss.entry.document import Entry

_log = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.5
_STOPPED = "The server was stopped while this task ran."
_ENDED = "The server ended while this task ran."


@dataclass(frozen=True)
class TaskWish:
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


@dataclass
class _Running:
    """A task run at work."""

    performer: "Performer"
    work: "asyncio.Task[Verdict]"
    over: asyncio.Event = field(default_factory=asyncio.Event)
    # Who stopped it, once somebody has; the server does not give its name.
    stopped_by: str | None = None


@dataclass
class TaskRuns:
    """All task runs of this server."""

    log: EventLog
    index: ViewIndex
    entries: Entries
    sessions: Sessions
    catalog: Catalog
    folders: Folders
    redactor: Redactor
    # Ends a task of a run, which is not among ours.
    stop_job_task: Callable[[TaskRunId, str], Awaitable[None]]
    budgets: Budgets
    _running: dict[TaskRunId, _Running] = field(default_factory=dict[TaskRunId, _Running])
    _watching: "set[asyncio.Task[None]]" = field(default_factory=set["asyncio.Task[None]"])
    _stopping: bool = False

    @property
    def is_busy(self) -> bool:
        return bool(self._running)

    async def start(self, wish: TaskWish) -> TaskRunView:
        """Checked in the order session, task, folder; on disk before anything runs."""
        if self._stopping:
            raise RuntimeUnavailable("The server is stopping.")
        await asyncio.to_thread(import_module, "airboss.engine.performer")  # by the first one
        from airboss.engine.performer import Performer

        accepted, plan, entry = await self._accept(wish)
        run = new_task_run_id()
        writer = self.log.new_writer(run)
        await writer.commit(accepted)
        if self._stopping:  # meanwhile: nobody would end it
            await writer.commit(*_crashed("ServerStopped", _STOPPED))
            raise RuntimeUnavailable("The server is stopping.")
        agents = OwnSessions(self.sessions, run, accepted.cwd, cast("Policy", accepted.policy))
        performer = Performer(writer, agents, self.redactor)
        self.budgets.begin_task(run, wish.task, entry)
        work = asyncio.create_task(performer.perform(plan), name=f"task-{run}")
        running = self._running[run] = _Running(performer, work)
        watching = asyncio.create_task(self._watch(run, running, writer), name=f"watch-{run}")
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        return await self.show(run)

    async def _accept(self, wish: TaskWish) -> "tuple[TaskAccepted, TaskPlan, Entry]":
        from airboss.engine.task import plan_task

        borrowed = await self._borrowed(wish.session) if wish.session is not None else None
        installed = await self.entries.to_run()
        if installed is None or wish.task not in installed.entry.tasks:
            raise NotFound("task", wish.task)
        if wish.is_exact:
            _must_fit(wish, takes_input=installed.entry.tasks[wish.task].require_user_input)
        plan = plan_task(
            installed.entry,
            wish.task,
            user_input=self.redactor.text(wish.user_input),
            borrowed=borrowed.id if borrowed else None,
            override=borrowed.model if borrowed else wish.model,
            checks_availability=not wish.skips_availability,
        )
        if borrowed:
            cwd, policy = borrowed.cwd, borrowed.policy
        else:
            if wish.model is not None:
                await self.catalog.route(wish.model)
            cwd = str(await asyncio.to_thread(self.folders.check, wish.cwd))
            policy = installed.policy_for(wish.task)
        await self.entries.keep(installed)
        accepted = TaskAccepted(
            task=wish.task,
            entry=installed.digest,
            model=plan.task_model,
            cwd=cwd,
            policy=policy,
            user_input=plan.user_input,
            who=wish.who,
            session=plan.borrowed,
            checks_availability=plan.checks_availability,
            rules=plan.rules,
        )
        return accepted, plan, installed.entry

    async def _borrowed(self, session: str) -> SessionView:
        if not self.sessions.is_open(session):
            raise NotFound("open session", session)
        return await self.sessions.show(session)

    async def _watch(self, run: TaskRunId, running: _Running, writer: Writer) -> None:
        """To the end of the run, whatever that is: no session stays open that it opened."""
        await asyncio.wait({running.work})
        clean = await self._clean_up(run, running)
        self.budgets.end_task(run)
        end = self._end_of(running)
        try:
            end[-1] = end[-1].model_copy(update={"usage": await self._untold(running)})
            await writer.commit(*end)
        except StoreUnavailable:
            for event in end:
                writer.say(event)  # it is written when the disk takes it
        writer.release()
        del self._running[run]
        running.over.set()
        while not clean and not self._stopping:
            await asyncio.sleep(_AGAIN_SECONDS)
            clean = await self._clean_up(run, running)

    async def _clean_up(self, run: TaskRunId, running: _Running) -> bool:
        """False where the disk takes no more: that may pass."""
        errors = await running.performer.clean_up()
        for error in errors:
            if not isinstance(error, StoreUnavailable):  # the log has said that by itself
                _log.error("A session of %s could not be closed", run, exc_info=error)
        return not any(isinstance(error, StoreUnavailable) for error in errors)

    async def _untold(self, running: _Running) -> Usage:
        writer = running.performer.writer
        await writer.settle()
        view = writer.view
        if not isinstance(view, TaskRunView) or view.session is not None:
            return await running.performer.cut_off()
        return await untold_by(self.log, view)

    def _end_of(self, running: _Running) -> list[Event]:
        work = running.work
        if work.cancelled():
            if running.stopped_by is None:
                return _crashed("ServerStopped", _STOPPED)
            reason = f"Stopped by {running.stopped_by}."
            return [TaskEnded(outcome="canceled", reason=reason, who=running.stopped_by)]
        error = work.exception()
        if error is not None:
            return _crashed(**in_detail(error, self.redactor))
        verdict = work.result()
        outcome = "succeeded" if verdict.succeeded else "failed"
        reason = self.redactor.text(verdict.reason)
        return [TaskEnded(outcome=outcome, reason=reason, unasked=verdict.unasked)]

    async def show(self, run: str) -> TaskRunView:
        """The run as of its own seq: a stream that begins there misses and repeats nothing."""
        return _task_run(await self.log.view(run), run)

    async def story(self, run: str, until: int) -> TaskRunStory:
        """All that it did; the stream of a task run has no deltas, and is short."""
        return tell_story(await events_until(self.log, run, until))

    async def page(
        self, states: tuple[TaskRunState, ...], cursor: str | None, limit: int
    ) -> Page[TaskRunView]:
        return await page_of_views(self.index, TaskRunView, states, cursor, limit)

    async def events(self, run: str, after: int, limit: int) -> EventPage:
        return await page_of_events(self.log, run, after, limit)

    async def stop(self, run: str, who: str) -> TaskRunView:
        """Ends it with every agent of its own. Twice is as good as once. A task of a run fails."""
        view = await self.show(run)
        if view.run is not None and view.is_open:
            await self.stop_job_task(view.id, who)
        running = self._running.get(view.id)
        if running is not None:
            running.stopped_by = running.stopped_by or who
            running.work.cancel()
            await running.over.wait()
        return await self.show(run)

    async def recover(self, interrupted: Iterable[SessionId]) -> None:
        """What an earlier server had running has crashed, and its sessions are closed. The tasks
        of runs go on, with the sessions that they know of."""
        kept: set[SessionId] = set()
        cursor: str | None = None
        while True:
            page = await self.page(("running",), cursor, 100)
            for view in page.items:
                if view.run is not None:
                    kept.update(view.sessions)
                    continue
                for session in view.sessions:  # also one that had lost its runtime before
                    await self.sessions.close(session, name_of(view.id))
                writer = await self.log.writer(view.id)
                *errors, end = _crashed("ServerEnded", _ENDED)
                usage = await untold_by(self.log, view)
                await writer.commit(*errors, end.model_copy(update={"usage": usage}))
                writer.release()
            cursor = page.next_cursor
            if cursor is None:
                break
        for session in interrupted:
            if session not in kept:
                view = await self.sessions.show(session)
                if view.task is not None:
                    await self.sessions.close(session, view.who)

    async def end_all(self) -> None:
        """The server stops."""
        self._stopping = True
        for running in self._running.values():
            running.work.cancel()
        if self._watching:
            await asyncio.wait(self._watching)


def _must_fit(wish: TaskWish, *, takes_input: bool) -> None:
    given = bool(wish.user_input.strip())
    if takes_input and not given:
        raise Invalid(f"The task {wish.task} needs some input: say what it is to do.")
    if given and not takes_input:
        raise Invalid(f"The task {wish.task} takes no input. Start it without.")
    if wish.session is not None and (wish.model is not None or wish.cwd is not None):
        raise Invalid("A session keeps its model and its folder: give neither with a session.")


def _task_run(view: View | None, run: str) -> TaskRunView:
    if not isinstance(view, TaskRunView):
        raise NotFound("task run", run)
    return view


def _crashed(
    name: str, message: str, stack: str | None = None, cause: str | None = None
) -> list[Event]:
    error = TaskError(name=name, message=message, stack=stack, cause=cause)
    return [error, TaskEnded(outcome="crashed", reason=message)]
