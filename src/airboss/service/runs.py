"""Runs: start a job, watch it, stop it, go on with it. What happens to them is the engine's."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from airboss.background import Background
from airboss.errors import (
    AirbossError,
    Conflict,
    NotFound,
    RuntimeUnavailable,
    StoreUnavailable,
)
from airboss.log.log import EventLog
from airboss.log.writer import LogLine, Writer, now_ms
from airboss.model.ids import RunId, TaskRunId, is_lone, new_lone_run_id, new_run_id
from airboss.model.redaction import Redactor
from airboss.model.run_events import RunAccepted, RunEnded, RunEnding, RunResumed, RunRetried
from airboss.model.runs import (
    OPEN_RUNS,
    LoneRunView,
    RunState,
    RunStory,
    RunView,
    begin_run,
    fold_run,
)
from airboss.model.task_events import TaskSessionStarted
from airboss.service.engine_room import EngineRoom, name_of, work_of
from airboss.service.entries import Entries
from airboss.service.folders import Folders
from airboss.service.job_stats import JobStats, stats_of_jobs
from airboss.service.pages import (
    StreamPage,
    ViewPage,
    page_of_events,
    page_of_views,
    story_of_run,
)
from airboss.service.run_request import NewRun, must_fit
from airboss.store.run_keys import RunKeys
from airboss.store.views import ALL, ViewIndex, Wanted

_STORY_PAGE = 1000
_RESUMED = "A new server goes on with it."
# What comes back after a restart asks for its slot within this time.
_COMING_BACK_SECONDS = 0.5
_AGAIN_SECONDS = 0.5
# A new server has taken up all that an earlier one left within this time.
_TAKEN_UP_SECONDS = 10
_LOOK_SECONDS = 0.05
_GIVEN_UP = "It was given up while nothing could be written down."


@dataclass
class Runs:
    """All runs of this server."""

    log: EventLog
    index: ViewIndex
    entries: Entries
    folders: Folders
    redactor: Redactor
    keys: RunKeys
    # The engine is made when there is something to run: a server without runs stays small.
    make_room: "Callable[[Runs], EngineRoom]"
    _writers: dict[RunId, Writer] = field(default_factory=dict[RunId, Writer])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    # A run that is being retried is not deleted.
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _chores: Background = field(default_factory=lambda: Background("runs"))
    _stopping: bool = False
    _made: EngineRoom | None = None

    @property
    def _room(self) -> EngineRoom:
        if self._made is None:
            self._made = self.make_room(self)
        return self._made

    async def stop_task(self, task_run: TaskRunId, who: str) -> None:
        """One task of a run fails; the run goes on by its own rules. One that this server has not
        taken up yet, a moment after its start, is waited for."""
        until = asyncio.get_running_loop().time() + _TAKEN_UP_SECONDS
        while not await self._room.crew.stop_task(task_run, who):
            view = await self.log.view(task_run)
            if view is None or view.is_over:
                return
            if asyncio.get_running_loop().time() > until:
                raise Conflict("This server has not taken the task up yet. Try again in a moment.")
            await asyncio.sleep(_LOOK_SECONDS)

    @property
    def is_busy(self) -> bool:
        """Whether a run has not ended."""
        return bool(self._writers)

    async def start(self, request: NewRun) -> RunView:
        """On disk before anything runs; the engine begins behind the answer."""
        if self._stopping:
            raise RuntimeUnavailable("The server is stopping.")
        run = new_run_id()
        if request.key is not None:
            run = RunId(await self.keys.claim(request.who, request.key, run, now_ms()))
            if await self.log.view(run) is not None:
                return await self.show(run)
        installed = await self.entries.to_run()
        if installed is None or request.job not in installed.entry.jobs:
            raise NotFound("job", request.job)
        if request.is_exact:
            takes = bool(installed.entry.jobs[request.job].require_user_input)
            must_fit(request, takes_input=takes)
        folder = await asyncio.to_thread(self.folders.check, request.cwd)
        await self.entries.keep(installed)
        accepted = RunAccepted(
            job=request.job,
            entry=installed.digest,
            cwd=str(folder),
            user_input=self.redactor.text(request.user_input),
            who=request.who,
            trusted=installed.trusted,
            again=request.again,
            title=installed.entry.name_in_grid(request.job),
        )
        writer = self._writers[run] = await self.log.writer(run)
        try:
            await writer.commit(accepted, origin="accepted")
        except BaseException:
            del self._writers[run]
            raise
        self._soon(self._begin(run, 1))
        return await self.show(run)

    async def start_lone(self, accepted: RunAccepted) -> TaskRunId:
        """A run of one task by itself. Answers that: nobody else asks for the run."""
        if self._stopping:
            raise RuntimeUnavailable("The server is stopping.")
        run = new_lone_run_id()
        writer = self.log.new_writer(run)
        view = begin_run(run, 1, now_ms(), accepted)
        return await self._begin_lone(view, accepted, writer.line(accepted, "accepted"))

    async def _begin_lone(self, view: RunView, accepted: RunAccepted, first: LogLine) -> TaskRunId:
        """On disk with the first words of its task, or nothing of it was said."""
        if not isinstance(view, LoneRunView) or accepted.lone is None:
            raise NotFound("task run", view.id)
        self._writers[view.id] = first.writer
        try:
            task_run = await self._room.crew.accept_lone(view, accepted.lone.user_input, first)
        except BaseException:
            self._writers.pop(view.id, None)
            raise
        self._soon(self._begin(view.id, view.attempt))
        return task_run

    async def _begin(self, run: RunId, attempt: int) -> None:
        try:
            await self._room.engine.start(name_of(run, attempt), is_lone=is_lone(run))
        except Conflict:
            return  # the server is stopping: the next one begins it
        except AirbossError as error:
            await self.end_surely(run, RunEnding(outcome="failed", reason=str(error)))

    async def show(self, run: str) -> RunView:
        """The run as of its own seq: a stream that begins there misses and repeats nothing. The run
        around a task is not known here."""
        view = await self.view(run)
        if isinstance(view, LoneRunView):
            raise NotFound("run", run)
        return view

    async def view(self, run: str) -> RunView:
        """Also of a run around a task."""
        view = await self.log.view(run)
        if not isinstance(view, RunView):
            raise NotFound("run", run)
        return view

    async def story(self, view: RunView) -> RunStory:
        """Every work that was begun, as of the view."""
        return await story_of_run(self.log, view)

    async def page(
        self, states: tuple[RunState, ...], cursor: str | None, limit: int, wanted: Wanted = ALL
    ) -> ViewPage[RunView]:
        return await page_of_views(self.index, RunView, states, cursor, limit, wanted)

    async def job_stats(self, names: Sequence[str]) -> dict[str, JobStats]:
        """How the runs of these jobs went so far."""
        return await stats_of_jobs(self.index.database, names)

    async def events(self, run: str, after: int, limit: int) -> StreamPage:
        return await page_of_events(self.log, run, after, limit)

    async def writer(self, run: RunId) -> Writer:
        """The one voice of a run that has not ended."""
        async with self._opening:
            if run not in self._writers:
                self._writers[run] = await self.log.writer(run)
            return self._writers[run]

    async def stop(self, run: str, who: str) -> RunView:
        """Ends it with every agent. When this answers, nothing of it works any more."""
        await self.cancel(await self.show(run), who)
        return await self.show(run)

    async def cancel(self, view: RunView, who: str) -> None:
        if view.is_open:
            ending = RunEnding(outcome="canceled", reason=f"Stopped by {who}.", who=who)
            try:
                await self.end(view.id, ending)
            except StoreUnavailable:
                if (await self.view(view.id)).ending is not None:
                    self._soon(self.end_surely(view.id, ending))
                raise

    async def end(self, run: RunId, ending: RunEnding) -> None:
        """First on disk, so that no restart brings it back; then all that works, then the end."""
        view = await self.view(run)
        if not view.is_open:
            return
        writer = await self.writer(run)
        if writer.said_from(f"end@{view.attempt}") is None:  # it may be ending by itself just now
            said = (await writer.commit(ending, origin=f"ending@{view.attempt}")).event
            ending = said if isinstance(said, RunEnding) else ending
            await self._room.engine.stop(name_of(run, view.attempt))
            await self._room.crew.dismiss(run, ending)
        ended = RunEnded(outcome=ending.outcome, reason=ending.reason, who=ending.who)
        await self._close(run, writer, view.attempt, ended)

    async def end_surely(self, run: RunId, ending: RunEnding) -> None:
        """As often as the disk refuses it: without an end there it would be shown as running."""
        while True:
            try:
                return await self.end(run, ending)
            except StoreUnavailable:
                with contextlib.suppress(StoreUnavailable):
                    await self._room.crew.dismiss(run, ending)
                await asyncio.sleep(_AGAIN_SECONDS)

    async def finish(self, run: RunId, attempt: int, ended: RunEnded, *with_it: LogLine) -> bool:
        """It came to its own end, with what belongs to that; False where somebody has begun to end
        it."""
        writer = await self.writer(run)
        if writer.said_from(f"ending@{attempt}") is not None:
            return False
        await self._close(run, writer, attempt, ended, *with_it)
        return True

    async def _close(
        self, run: RunId, writer: Writer, attempt: int, ended: RunEnded, *with_it: LogLine
    ) -> None:
        await self.log.commit(*with_it, writer.line(ended, f"end@{attempt}"))
        writer.release()
        self._writers.pop(run, None)

    async def retry(self, run: str, who: str) -> RunView:
        """The failed part of the same run is done again; what had succeeded stays."""
        async with self._changing:
            return await self._retry(await self.show(run), who)

    async def retry_lone(self, run: RunId, who: str) -> TaskRunId:
        """The same for one task by itself: answers the task run that tries it again."""
        async with self._changing:
            view = await self.view(run)
            retried = await self._retried(view, who)
            writer = await self.writer(run)
            accepted = writer.said_from("accepted")
            if not isinstance(accepted, RunAccepted):
                raise NotFound("task run", run)
            again = fold_run(view, view.seq + 1, now_ms(), retried)
            first = writer.line(retried, f"retry@{retried.time}")
            return await self._begin_lone(again, accepted, first)

    async def _retry(self, view: RunView, who: str) -> RunView:
        retried = await self._retried(view, who)
        writer = await self.writer(view.id)
        await writer.commit(retried, origin=f"retry@{retried.time}")
        self._soon(self._begin(view.id, retried.time))
        return await self.show(view.id)

    async def _retried(self, view: RunView, who: str) -> RunRetried:
        if view.state not in ("failed", "canceled"):
            raise Conflict(
                f"The run is {view.state}; only one that failed or was stopped is retried."
            )
        story = await self.story(view)
        redo = await self._culprits(view, story)
        return RunRetried(time=view.attempt + 1, who=who, redo=redo)

    async def _culprits(self, view: RunView, story: RunStory) -> tuple[str, ...]:
        entry = await self.entries.by_digest(view.entry)
        latest = {work.path: work for work in story.works if work.ended_at}
        ended = {path: work.state == "succeeded" for path, work in latest.items()}
        unasked = [path for path, work in latest.items() if work.unasked]
        from airboss.engine.culprits import find_culprits

        return find_culprits(work_of(view, entry), ended, unasked)

    async def again(self, run: str, who: str) -> RunView:
        """The same job with the same input in the same folder, as a new run."""
        view = await self.show(run)
        story = await self.story(view)
        return await self.start(
            NewRun(view.job, story.user_input, view.cwd, who, view.id, is_exact=False)
        )

    async def delete(self, run: str) -> None:
        """For good, with its tasks and their sessions. A crash in between leaves it to be seen,
        and to be deleted again."""
        await self.show(run)
        await self.forget(run)

    async def forget(self, run: str) -> None:
        """The same, also of a run around a task."""
        async with self._changing:
            view = await self.view(run)
            if not view.is_over:
                raise Conflict("The run has not ended. Stop it first.")
            story = await self.story(view)
            tasks = [work.task_run for work in story.works]
            sessions = [session for task in tasks for session in await self._sessions_of(task)]
            await self._room.engine.forget(view.id)
            await self.keys.forget(view.id)
            await self.log.forget([view.id, *tasks, *sessions])

    async def _sessions_of(self, task_run: str) -> list[str]:
        said = await self.log.after(task_run, 0, _STORY_PAGE)
        events = [recorded.event for recorded in said]
        return [event.session for event in events if isinstance(event, TaskSessionStarted)]

    async def recover(self) -> None:
        """Goes on with what an earlier server had accepted. It returns before that is done."""
        views = [view for kind in (RunView, LoneRunView) for view in await self._open(kind)]
        if not views:
            return
        self._room.slots.hold()
        for view in views:
            writer = await self.writer(view.id)
            if view.ending is None:
                writer.say(RunResumed(reason=_RESUMED))
        self._soon(self._take_up(views))

    async def _open(self, kind: type[RunView]) -> list[RunView]:
        views: list[RunView] = []
        cursor: str | None = None
        while True:
            page = await page_of_views(self.index, kind, OPEN_RUNS, cursor, 100)
            views += page.items
            cursor = page.next_cursor
            if cursor is None:
                return views

    async def _take_up(self, views: list[RunView]) -> None:
        try:
            await self._room.engine.recover()
            for view in views:
                await self._take_up_one(view, name_of(view.id, view.attempt))
            await asyncio.sleep(_COMING_BACK_SECONDS)
        finally:
            self._room.slots.let_go()

    async def _take_up_one(self, view: RunView, name: str) -> None:
        if view.ending is not None:
            self._soon(self.end_surely(view.id, view.ending))
        elif not await self._room.engine.known(name):
            self._soon(self._begin(view.id, view.attempt))
        elif not await self._room.engine.is_open(name) and (await self.view(view.id)).is_open:
            self._soon(self.end_surely(view.id, RunEnding(outcome="failed", reason=_GIVEN_UP)))

    async def close(self) -> None:
        """The server stops; the next one goes on."""
        self._stopping = True
        if self._made is not None:
            await self._made.engine.close()
        await self._chores.close(cancel=True)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        """What is to be done is on disk: where the server stops, the next one does it."""
        self._chores.start_if_open(work)
