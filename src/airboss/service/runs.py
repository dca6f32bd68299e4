"""Runs: start a job, watch it, stop it, go on with it. What happens to them is the engine's."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from airboss.background import Background
from airboss.engine.run_records import RunRecords, name_of
from airboss.engine.run_story import story_of_run
from airboss.engine.run_trees import forget_run_trees, keep_first_tree
from airboss.errors import AirbossError, Conflict, NotFound, RuntimeUnavailable, StoreUnavailable
from airboss.log.doubt import once_known
from airboss.log.log import EventLog
from airboss.log.writer import LogLine, now_ms
from airboss.model.ids import RunId, TaskRunId, is_lone, new_lone_run_id, new_run_id
from airboss.model.redaction import Redactor
from airboss.model.run_events import (
    RunAccepted,
    RunCaged,
    RunEnding,
    RunPlaced,
    RunRenamed,
    RunRetried,
    RunTagged,
)
from airboss.model.run_titles import input_start
from airboss.model.runs import (
    LoneRunView,
    RunState,
    RunStory,
    RunView,
    begin_run,
    fold_run,
)
from airboss.model.task_runs import TaskRunView
from airboss.model.traces import asked_in
from airboss.service.entries import Entries
from airboss.service.folders import Folders
from airboss.service.installed import Installed
from airboss.service.job_stats import JobStats, RunFilters, filters_of_runs, stats_of_jobs
from airboss.service.pages import StreamPage, ViewPage, page_of_events, page_of_views
from airboss.service.run_request import NewRun, again_of, must_fit, title_of, wanted_labels
from airboss.service.verbs import at_owner, untold
from airboss.store.run_keys import RunKeys
from airboss.store.views import ALL, ViewIndex, Wanted

if TYPE_CHECKING:
    from airboss.engine.durable import Engine
    from airboss.engine.run_executor import RunExecutor
    from airboss.service.owners import Owners

# A new server has taken up all that an earlier one left within this time.
_TAKEN_UP_SECONDS = 10
_LOOK_SECONDS = 0.05
# Agents get some time to end.
_STOP_SECONDS = 60


async def _unknown_caging(_: Installed, __: str, ___: str | None) -> RunCaged | None:
    """Nobody looked."""


@dataclass(frozen=True)
class EngineRoom:
    """What runs need once something runs."""

    engine: "Engine"
    executor: "RunExecutor"


@dataclass
class Runs:
    """All runs of this server."""

    records: RunRecords
    index: ViewIndex
    entries: Entries
    folders: Folders
    redactor: Redactor
    keys: RunKeys
    # The engine is made when there is something to run: a server without runs stays small.
    make_room: Callable[[], EngineRoom]
    # The way to runs of other processes on the same database.
    owners: "Owners | None" = None
    # Of several on one database, this machine, by its name.
    machine: str | None = None
    # Whether agents of a job work in cages, where whoever starts it wants this profile.
    caging: Callable[[Installed, str, str | None], Awaitable[RunCaged | None]] = _unknown_caging
    # A run that is being retried is not deleted.
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _chores: Background = field(default_factory=lambda: Background("runs"))
    _stopping: bool = False
    _made: EngineRoom | None = None

    @property
    def room(self) -> EngineRoom:
        """Made when it is asked for first."""
        if self._made is None:
            self._made = self.make_room()
        return self._made

    @property
    def log(self) -> EventLog:
        return self.records.log

    async def stop_task(self, task_run: TaskRunId, who: str) -> None:
        """One task of a run fails; the run goes on by its own rules. One that this server has not
        taken up yet, a moment after its start, is waited for."""
        until = asyncio.get_running_loop().time() + _TAKEN_UP_SECONDS
        while not await self.room.executor.stop_task(task_run, who):
            view = await self.log.view(task_run)
            if view is None or view.is_over:
                return
            if asyncio.get_running_loop().time() > until:
                raise Conflict("The server has not resumed this task yet. Try again in a moment.")
            await asyncio.sleep(_LOOK_SECONDS)

    @property
    def is_busy(self) -> bool:
        """Whether a run has not ended."""
        return self.records.is_busy

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
        labels = wanted_labels(installed.entry.jobs[request.job].labels or (), request.labels)
        folder = await self.folder(request.cwd, labels)
        await self.entries.keep(installed)
        user_input = self.redactor.text(request.user_input)
        accepted = RunAccepted(
            job=request.job,
            entry=installed.digest,
            cwd=folder,
            user_input=user_input,
            who=request.who,
            trusted=installed.trusted,
            again=request.again,
            title=installed.entry.name_in_grid(request.job),
            short_title=title_of(request, user_input),
            input_start=input_start(user_input),
            trace=asked_in(),
            cage=request.cage,
            caged=await self.caging(installed, request.job, request.cage),
            labels=labels,
        )
        await self.records.offer(run, accepted.cwd, labels)
        writer = await self.log.writer(run)
        with self.records.beginning(run, writer):
            await writer.commit(accepted, origin="accepted")
        await self._begin_somewhere(run, 1)
        return await self.show(run)

    async def folder(self, cwd: str | None, labels: Sequence[str] = ()) -> str:
        """In which a run works: of this machine, or of another one that can take it."""
        if self.records.offers is not None:
            return await self.records.offers.folder(cwd, labels)
        return str(await asyncio.to_thread(self.folders.check, cwd))

    async def start_lone(self, accepted: RunAccepted) -> TaskRunId:
        """A run of one task by itself. Answers that: nobody else asks for the run."""
        if self._stopping:
            raise RuntimeUnavailable("The server is stopping.")
        run = new_lone_run_id()
        await self.records.offer(run, accepted.cwd, accepted.labels)
        writer = self.log.new_writer(run)
        view = begin_run(run, 1, now_ms(), accepted)
        return await self._begin_lone(view, accepted, writer.line(accepted, "accepted"))

    async def _begin_lone(self, view: RunView, accepted: RunAccepted, first: LogLine) -> TaskRunId:
        """On disk with the first words of its task, or nothing of it was said."""
        if not isinstance(view, LoneRunView) or accepted.lone is None:
            raise NotFound("task run", view.id)
        user_input, executor = accepted.lone.user_input, self.room.executor
        with self.records.beginning(view.id, first.writer):
            task_run = await executor.accept_lone(view, user_input, first)
        if await self.records.hand_over(view.id, task_run):
            executor.leave_lone(task_run)
        else:
            self.soon(self.begin(view.id, view.attempt, is_new=True))
        return task_run

    async def _begin_somewhere(self, run: RunId, attempt: int) -> None:
        """Here where there is room, behind the answer; else by whoever takes it."""
        if not await self.records.hand_over(run):
            self.soon(self.begin(run, attempt))

    async def begin(self, run: RunId, attempt: int, *, is_new: bool = False) -> None:
        """What is accepted is started; to be repeated by the next server."""
        engine, name = self.room.engine, name_of(run, attempt)
        try:
            view, writer = await self.view(run), await self.records.writer(run)
            if self.machine not in (None, view.machine):
                writer.say(RunPlaced(machine=self.machine))
            await keep_first_tree(view, writer)
            await engine.start(name, is_lone=is_lone(run), is_new=is_new)
        except Conflict:
            return  # the server is stopping: the next one begins it
        except AirbossError as error:
            await engine.end_surely(name, RunEnding(outcome="failed", reason=str(error)))

    async def show(self, run: str) -> RunView:
        """The run as of its own seq: a stream that begins there misses and repeats nothing. The run
        around a task is not known here."""
        view = await self.view(run)
        if isinstance(view, LoneRunView):
            raise NotFound("run", run)
        return view

    async def view(self, run: str) -> RunView:
        """Also of a run around a task."""
        return await self.records.view(run)

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

    async def filters(self) -> RunFilters:
        """The jobs and tags of all runs that are kept."""
        return await filters_of_runs(self.index.database)

    async def events(self, run: str, after: int, limit: int) -> StreamPage:
        return await page_of_events(self.log, run, after, limit)

    @at_owner(_STOP_SECONDS)
    async def stop(self, run: str, who: str) -> RunView:
        """Ends it with every agent. When this answers, nothing of it works any more."""
        await self.cancel(await self.show(run), who)
        return await self.show(run)

    async def cancel(self, view: RunView, who: str) -> None:
        if view.is_open:
            ending = RunEnding(outcome="canceled", reason=f"Stopped by {who}.", who=who)
            engine, name = self.room.engine, name_of(view.id, view.attempt)
            try:
                await engine.end(name, ending)
            except StoreUnavailable as error:
                if (await self.view(view.id)).ending is not None:
                    self._end_soon(name, ending, is_said=True)
                else:
                    once_known(error, partial(self._end_soon, name, ending))
                raise

    def _end_soon(self, name: str, ending: RunEnding, is_said: bool) -> None:
        if is_said:
            self.soon(self.room.engine.end_surely(name, ending))

    @at_owner()
    async def retry(self, run: str, who: str) -> RunView:
        """The failed part of the same run is done again; what had succeeded stays."""
        async with self._changing:
            return await self._retry(await self.show(run), who)

    async def retry_lone(self, run: RunId, who: str) -> TaskRunId:
        """The same for one task by itself: answers the task run that tries it again."""
        async with self._changing:
            view = await self.view(run)
            retried = await self._retried(view, who)
            writer = await self.records.writer(run)
            accepted = writer.said_from("accepted")
            if not isinstance(accepted, RunAccepted):
                raise NotFound("task run", run)
            again = fold_run(view, view.seq + 1, now_ms(), retried)
            first = writer.line(retried, f"retry@{retried.time}")
            return await self._begin_lone(again, accepted, first)

    async def _retry(self, view: RunView, who: str) -> RunView:
        retried = await self._retried(view, who)
        writer = await self.records.writer(view.id)
        with self.records.beginning(view.id, writer):
            await writer.commit(retried, origin=f"retry@{retried.time}")
        await self._begin_somewhere(view.id, retried.time)
        return await self.show(view.id)

    async def _retried(self, view: RunView, who: str) -> RunRetried:
        if view.state not in ("failed", "canceled"):
            raise Conflict(
                f"The run is {view.state}. You can retry only a run that failed or was stopped."
            )
        story = await self.story(view)
        redo = await self._culprits(view, story)
        await self.records.offer(view.id, view.cwd, view.labels)
        return RunRetried(time=view.attempt + 1, who=who, redo=redo)

    async def _culprits(self, view: RunView, story: RunStory) -> tuple[str, ...]:
        entry = await self.entries.by_digest(view.entry)
        latest = {work.path: work for work in story.works if work.ended_at}
        ended = {path: work.state == "succeeded" for path, work in latest.items()}
        unasked = [path for path, work in latest.items() if work.unasked]
        from airboss.engine.culprits import find_culprits
        from airboss.engine.walk import tree_of

        return find_culprits(tree_of(view, entry), ended, unasked)

    async def again(self, run: str, who: str) -> RunView:
        """The same job with the same input in the same folder, as a new run."""
        view = await self.show(run)
        story = await self.story(view)
        return await self.start(again_of(view, story.user_input, who))

    @at_owner(again=untold)
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
            await self.room.engine.forget(view.id)
            await self.keys.forget(view.id)
            await forget_run_trees(view)
            await self.log.forget([view.id, *tasks, *sessions], view.id)

    async def _sessions_of(self, task_run: str) -> list[str]:
        view = await self.log.view(task_run)
        return list(view.opened) if isinstance(view, TaskRunView) else []

    @at_owner()
    async def note(self, run: str, said: RunRenamed | RunTagged) -> RunView:
        """What people say of a run, whether it has ended or not."""
        async with self._changing:
            view = await self.show(run)
            async with self.records.voice(view.id) as writer:
                await writer.commit(said)
            return await self.show(run)

    async def held_for(self, view: RunView) -> str | None:
        """Whom it waits for, where no machine that lives could work on it."""
        offers = self.records.offers
        if offers is None or not view.is_open or self.log.is_own(view.id):
            return None
        return await offers.held_for(view.id)

    async def drain(self) -> None:
        """Before the server stops: what works may end, where others go on with the rest."""
        if self.records.offers is not None:
            await self.records.offers.drain()

    async def close(self) -> None:
        """The server stops; the next one goes on."""
        self._stopping = True
        if self._made is not None:
            await self._made.engine.close()
        await self._chores.close(cancel=True)

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """What is to be done is on disk: where the server stops, the next one does it."""
        self._chores.start_if_open(work)
