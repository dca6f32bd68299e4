"""Does what runs ask for, once, on real sessions, and writes it down: whatever is asked for again
after a crash is answered from the log."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from airboss.engine.accepted_task import AcceptedTask, accept_task
from airboss.engine.budgets import Budgets, untold_by
from airboss.engine.conclusions import conclude
from airboss.engine.executor import ConditionUnasked, RunOver
from airboss.engine.own_sessions import AgentSessions, OwnSessions
from airboss.engine.run_records import RunRecords, ended_by, run_of
from airboss.engine.slots import Slots
from airboss.engine.task import Verdict, run_task
from airboss.engine.task_at_work import TaskAtWork
from airboss.engine.task_executor import TaskExecutor
from airboss.engine.task_place import TaskPlace
from airboss.engine.troubles import in_detail
from airboss.engine.walk import RunTask, only_task, tree_of
from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.log.writer import LogLine, Writer
from airboss.model.ids import RunId, TaskRunId, new_task_run_id
from airboss.model.redaction import Redactor
from airboss.model.run_events import (
    RunAccepted,
    RunEnded,
    RunEnding,
    RunError,
    WorkCut,
    WorkStarted,
    WorkStopped,
)
from airboss.model.runs import LoneRunView, RunView
from airboss.model.task_events import TaskAccepted, TaskEnded, TaskError
from airboss.model.task_runs import TaskRunView
from airboss.model.traces import TraceContext, asked_in, attempt_of, trace_of
from airboss.model.usage import Usage
from airboss.settings import Policy

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from airboss.entry.document import Entry, Work


@dataclass(frozen=True)
class _Beginning:
    """A task, and its first words: in its run's stream and in its own."""

    task_run: TaskRunId
    own: Writer
    lines: tuple[LogLine, LogLine]
    accepted: AcceptedTask


@dataclass
class RunExecutor:
    """The executor of all runs of this server."""

    records: RunRecords
    sessions: AgentSessions
    slots: Slots
    server_policy: Policy
    budgets: Budgets
    redactor: Redactor
    # An entry that was accepted once, by its digest.
    find_entry: "Callable[[str], Awaitable[Entry]]"
    # Whether somebody follows the work as traces.
    is_traced: bool = False
    # Whether tasks may work in a cage where they would have to ask.
    offers_cage: bool = False
    _entries: "dict[str, Entry]" = field(default_factory=dict[str, "Entry"])
    # Of tasks that are accepted and not begun yet.
    _new: dict[TaskRunId, Writer] = field(default_factory=dict[TaskRunId, Writer])
    _at_work: dict[RunId, dict[str, TaskAtWork]] = field(
        default_factory=dict[RunId, dict[str, TaskAtWork]]
    )

    @property
    def log(self) -> EventLog:
        return self.records.log

    # What the engine asks for.

    async def work_of(self, run: str) -> "Work":
        view = await self.records.open_view(run_of(run)[0])
        return tree_of(view, await self._entry(view))

    async def run_task(self, run: str, step: RunTask) -> Verdict:
        name, attempt = run_of(run)
        view = await self.records.open_view(name)
        writer = await self.records.writer(name)
        over = await self._came_to(writer, step.path, attempt, view.redo)
        if over is not None:
            return over
        task = await self._begin(view, step, writer, attempt)
        self._at_work.setdefault(name, {})[step.path] = task
        verdict = await task.run()
        if self._at_work.get(name, {}).pop(step.path, None) is not None:  # else it was dismissed
            await self._end_task(name, attempt, task, verdict)
        return verdict

    async def _begin(
        self, view: RunView, step: RunTask, writer: Writer, attempt: int
    ) -> TaskAtWork:
        begun = await self._accept(view, step, writer, attempt, _input(writer))
        entry = await self._entry(view)
        await self.budgets.begin(begun.task_run, step.ref.task_id, view, entry)
        # Nothing runs before the session that it asks for is on disk, and this with it.
        said = [recorded.event for recorded in self.log.say(*begun.lines)]
        started, accepted = cast("tuple[WorkStarted, TaskAccepted]", tuple(said))
        plan = replace(begun.accepted.plan, rules=accepted.rules)
        is_lone, given = isinstance(view, LoneRunView), begun.accepted
        run = None if is_lone else view.id
        slots = None if plan.borrowed else self.slots
        own = begun.own if is_lone else None
        place = TaskPlace(started, writer, slots, own, _waits_for(view, step.path))
        agents = OwnSessions(
            self.sessions, begun.task_run, view.cwd, given.policy, run, place, given.said
        )
        executor = TaskExecutor(begun.own, agents, self.redactor)
        trace = trace_of(begun.task_run, accepted.trace) if self.is_traced else None
        return TaskAtWork(started, run_task(plan), executor, place, writer, is_lone, trace=trace)

    async def _accept(
        self, view: RunView, step: RunTask, writer: Writer, attempt: int, user_input: str
    ) -> _Beginning:
        """The first words of a task, not said yet. One that was accepted before keeps its own."""
        entry = await self._entry(view)
        accepted = accept_task(
            view, entry, step, user_input, self.server_policy, offers_cage=self.offers_cage
        )
        origin = f"{step.path}/start@{attempt}"
        begun = writer.said_from(origin)
        started = WorkStarted(
            work=step.ref.work_id_in_job or 0,
            path=step.path,
            task=step.ref.task_id,
            task_run=begun.task_run if isinstance(begun, WorkStarted) else new_task_run_id(),
        )
        name = started.task_run
        own = self._new.pop(name, None)
        if own is None:
            own = await self.log.writer(name) if begun else self.log.new_writer(name)
        if trace := self._trace(view, writer, attempt):
            accepted = replace(
                accepted, event=accepted.event.model_copy(update={"trace": str(trace)})
            )
        lines = (writer.line(started, origin), own.line(accepted.event, "accepted"))
        return _Beginning(name, own, lines, accepted)

    def _trace(self, view: RunView, writer: Writer, attempt: int) -> TraceContext | None:
        """Where the run stands in a trace; the same after a crash."""
        if not self.is_traced:
            return None
        accepted = writer.said_from("accepted")
        given = accepted.trace if isinstance(accepted, RunAccepted) else asked_in()
        return attempt_of(trace_of(view.id, given), attempt)

    async def _end_task(self, run: RunId, attempt: int, task: TaskAtWork, verdict: Verdict) -> None:
        own, path = task.executor.writer, task.started.path
        # What missions used is in the view by their ends.
        await task.executor.written()
        usage, untold = await self._used(task.executor, waits=False)
        stopped = WorkStopped(
            work=task.started.work,
            path=path,
            task_run=task.id,
            succeeded=verdict.succeeded,
            unasked=verdict.unasked,
            usage=usage + untold,
            conclusion=task.executor.conclusion or await conclude(self.log, task.id),
        )
        outcome = "succeeded" if verdict.succeeded else "failed"
        reason = self.redactor.text(verdict.reason)
        ended = TaskEnded(outcome=outcome, reason=reason, unasked=verdict.unasked, usage=untold)
        writer = await self.records.writer(run)
        ends = (own.line(ended, "end"), writer.line(stopped, f"{path}/done@{attempt}"))
        # The run around a task by itself ends with it: who sees one sees both.
        end = _end_of_run(succeeded=verdict.succeeded)
        if not (task.is_lone and await self.records.finish(run, attempt, end, *ends)):
            # On disk with what its run does next: until then a crash closes its sessions again.
            self.log.say(*ends)
            if task.stopped_by:  # by somebody who looks at it now
                await writer.settle()
        own.release()
        self.budgets.end_task(task.id)
        task.over.set()

    async def _used(self, executor: TaskExecutor, *, waits: bool) -> tuple[Usage, Usage]:
        """What the missions of a task told, and what else its sessions used."""
        own = executor.writer
        if waits:
            await own.settle()
        view = own.view
        if not isinstance(view, TaskRunView):
            return Usage(), Usage()
        if view.session is not None:  # what others ask of it is not the task's
            return view.usage, await executor.cut_off()
        return view.usage, await untold_by(self.log, view, waits=waits)

    async def end_run(self, run: str, *, succeeded: bool) -> None:
        name, attempt = run_of(run)
        view = await self.records.view(name)
        if not isinstance(view, LoneRunView) or view.is_open:  # else it has ended with its task
            await self.records.open_view(name)
            if not await self.records.finish(name, attempt, _end_of_run(succeeded=succeeded)):
                raise RunOver
        self._forget(name)

    async def crash_run(self, run: str, path: str, error: Exception) -> RunEnding:
        name, attempt = run_of(run)
        writer = await self.records.writer(name)
        said = in_detail(error, self.redactor)
        # Without waiting: it may be the disk that has failed, and then it is written with the end.
        writer.say_from(f"error@{attempt}", RunError(**said))
        task = self._at_work.get(name, {}).get(path)
        if task is not None:
            task.executor.writer.say_from("error", TaskError(**said))
        is_plain = isinstance(error, ConditionUnasked) or (task is not None and task.is_lone)
        crashed = "" if is_plain else "A task crashed: "
        return RunEnding(outcome="failed", reason=f"{crashed}{said['message']}")

    async def begin_ending(self, run: str, ending: RunEnding) -> RunEnding | None:
        name, _ = run_of(run)
        return await self.records.begin_ending(await self.records.view(name), ending)

    async def dismiss(self, run: str, ending: RunEnding) -> None:
        """The sessions of its tasks are closed, whoever opened them. Where that cannot be written
        down it is told, and to be asked for again."""
        name, attempt = run_of(run)
        writer = await self.records.writer(name)
        with contextlib.suppress(StoreUnavailable):  # a task may have ended a moment ago
            await writer.settle()
        view = await self.records.view(name)
        await self._dismiss_tasks(view, ending)
        for work in view.running:
            said = await self.log.view(work.task_run)
            if not isinstance(said, TaskRunView):
                continue
            # Its end may not be in the view yet.
            usage = said.usage if said.is_over else said.usage + await untold_by(self.log, said)
            cut = WorkCut(path=work.path, task_run=work.task_run, usage=usage)
            writer.say_from(f"{work.path}/cut@{attempt}", cut)
        await self.records.end(name, attempt, ended_by(ending))

    async def _dismiss_tasks(self, view: RunView, ending: RunEnding) -> None:
        tasks = self._at_work.pop(view.id, {}).values()
        executors = {task.id: task.executor for task in tasks}
        for work in view.running:  # also those that an earlier server began
            self._new.pop(work.task_run, None)
            if work.task_run not in executors:
                own = await self.log.writer(work.task_run)
                agents = OwnSessions(self.sessions, work.task_run, view.cwd, "deny-all")
                executors[work.task_run] = TaskExecutor(own, agents, self.redactor)
        if isinstance(view, LoneRunView) and ending.outcome == "failed":
            for executor in executors.values():  # unless it was said why
                said = TaskError(name="NotBegun", message=ending.reason)
                executor.writer.say_from("error", said)
        async with asyncio.TaskGroup() as group:
            ends = [group.create_task(self._dismiss(one, ending)) for one in executors.values()]
        for task in tasks:
            task.over.set()
        self._forget(view.id)
        for end in ends:
            if trouble := end.result():
                raise trouble

    async def _dismiss(self, executor: TaskExecutor, ending: RunEnding) -> StoreUnavailable | None:
        for error in await executor.clean_up():  # the next start closes what is left
            if isinstance(error, StoreUnavailable):
                return error
            _log.error("A session of a task could not be closed", exc_info=error)
        own = executor.writer
        try:
            _, untold = await self._used(executor, waits=True)
        except StoreUnavailable as error:
            return error
        crashed = own.said_from("error") is not None
        outcome = "crashed" if crashed else "canceled"
        said = TaskEnded(outcome=outcome, reason=ending.reason, who=ending.who, usage=untold)
        own.say_from("end", said)
        own.release()
        self.budgets.end_task(executor.agents.task_run)
        return None

    # What a person asks for.

    async def accept_lone(self, view: LoneRunView, user_input: str, first: LogLine) -> TaskRunId:
        """The task of such a run: on disk with the run's own word, before anything works on it."""
        step = only_task(view.id, tree_of(view, await self._entry(view)))
        begun = await self._accept(view, step, first.writer, view.attempt, user_input)
        await self.log.commit(first, *begun.lines)
        self._new[begun.task_run] = begun.own
        return begun.task_run

    async def leave(self, run: RunId) -> None:
        """Another worker goes on with it; nothing of it works here any more."""
        for task in self._at_work.get(run, {}).values():
            await task.executor.writer.settle()
            task.executor.writer.release()
            self.budgets.end_task(task.id)
            task.over.set()
        self._forget(run)

    def leave_lone(self, task_run: TaskRunId) -> None:
        """Another worker begins it."""
        if own := self._new.pop(task_run, None):
            own.release()

    async def stop_task(self, task_run: TaskRunId, who: str) -> bool:
        """It fails, and its run goes on by its own rules. False where it is not at work here."""
        for task in [task for tasks in self._at_work.values() for task in tasks.values()]:
            if task.id == task_run:
                await task.stop(who)
                return True
        return False

    # What is known.

    async def _came_to(
        self, writer: Writer, path: str, attempt: int, redo: tuple[str, ...]
    ) -> Verdict | None:
        """What the task came to, now or in an earlier attempt that still counts."""
        for earlier in range(attempt, 0, -1):
            stopped = writer.said_from(f"{path}/done@{earlier}")
            if isinstance(stopped, WorkStopped):
                counts = earlier == attempt or stopped.succeeded or path not in redo
                return await self._verdict(stopped) if counts else None
        return None

    async def _verdict(self, stopped: WorkStopped) -> Verdict:
        if not stopped.unasked:
            return Verdict(stopped.succeeded, "")
        # The run is still to be ended with this reason.
        view = await self.log.view(stopped.task_run)
        said = view.reason if isinstance(view, TaskRunView) else None
        return Verdict(stopped.succeeded, said or "", unasked=True)

    async def _entry(self, view: RunView) -> "Entry":
        if view.entry not in self._entries:
            self._entries[view.entry] = await self.find_entry(view.entry)
        return self._entries[view.entry]

    def _forget(self, run: RunId) -> None:
        self._at_work.pop(run, None)
        self.budgets.end_run(run)
        if not self._at_work:
            self._entries.clear()


def _waits_for(view: RunView, path: str) -> str | None:
    return next((work.waits_for for work in view.running if work.path == path), None)


def _input(writer: Writer) -> str:
    accepted = writer.said_from("accepted")
    if not isinstance(accepted, RunAccepted):
        return ""
    return accepted.lone.user_input if accepted.lone else accepted.user_input


def _end_of_run(*, succeeded: bool) -> RunEnded:
    return RunEnded(
        outcome="succeeded" if succeeded else "failed",
        reason="All that had to succeed did." if succeeded else "A task failed.",
    )
