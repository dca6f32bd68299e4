"""The tasks of runs: what the engine asks for is done here, once, on real sessions."""

import asyncio
import logging
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from airboss.engine.acts import Act, Answer, Close, OpenAct, Put
from airboss.engine.executor import ConditionUnasked, RunOver, TaskPlay
from airboss.engine.slots import Slots
from airboss.engine.task import TaskPlan, Verdict, plan_task, run_task
from airboss.engine.task_executor import TaskExecutor
from airboss.engine.walk import ROOT, RunTask
from airboss.entry.bounds import granted_policy
from airboss.entry.document import Ref
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
from airboss.model.task_events import (
    TaskAccepted,
    TaskChecked,
    TaskDecided,
    TaskEnded,
    TaskError,
    TaskRetrying,
)
from airboss.model.task_runs import TaskRunView
from airboss.model.usage import Usage
from airboss.service.budgets import Budgets, untold_by
from airboss.service.engine_room import run_of, work_of
from airboss.service.job_task import JobTask
from airboss.service.own_sessions import OwnSessions
from airboss.service.runs import Runs
from airboss.service.sessions import Sessions
from airboss.service.troubles import in_detail
from airboss.settings import Policy

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from airboss.entry.document import Entry, Model, Work


@dataclass(frozen=True)
class _Over:
    """A task that had ended before: it has nothing to do."""

    verdict: Verdict

    @property
    def acts(self) -> Generator[Act, Answer, Verdict]:
        return _nothing(self.verdict)

    async def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        raise RunOver

    async def do(self, number: int, act: OpenAct | Put | Close) -> Answer:
        raise RunOver


def _nothing(verdict: Verdict) -> Generator[Act, Answer, Verdict]:
    yield from ()
    return verdict


@dataclass(frozen=True)
class _Accepted:
    """A task, and its first words: in its run's stream and in its own."""

    task_run: TaskRunId
    own: Writer
    lines: tuple[LogLine, LogLine]
    policy: Policy
    entry: "Entry"
    plan: TaskPlan


@dataclass
class JobTasks:
    """The engine's executor. It may ask again after a crash: what is written is written once."""

    runs: Runs
    sessions: Sessions
    slots: Slots
    server_policy: Policy
    budgets: Budgets
    _entries: "dict[str, Entry]" = field(default_factory=dict[str, "Entry"])
    # Of tasks that are accepted and not begun yet.
    _new: dict[TaskRunId, Writer] = field(default_factory=dict[TaskRunId, Writer])
    _plays: dict[RunId, dict[str, JobTask]] = field(default_factory=dict[RunId, dict[str, JobTask]])

    @property
    def log(self) -> EventLog:
        return self.runs.log

    @property
    def redactor(self) -> Redactor:
        return self.runs.redactor

    # What the engine asks for.

    async def work_of(self, run: str) -> "Work":
        view = await self._open_view(run_of(run)[0])
        return work_of(view, await self._entry(view))

    async def begin_task(self, run: str, step: RunTask) -> TaskPlay:
        name, attempt = run_of(run)
        view = await self._open_view(name)
        writer = await self.runs.writer(name)
        over = await self._came_to(writer, step.path, attempt, view.redo)
        if over is not None:
            return _Over(over)
        play = await self._begin(view, step, writer, attempt)
        self._plays.setdefault(name, {})[step.path] = play
        return play

    async def _begin(self, view: RunView, step: RunTask, writer: Writer, attempt: int) -> JobTask:
        recorded = await self._accept(view, step, writer, attempt, _input(writer))
        await self.budgets.begin(recorded.task_run, step.ref.task_id, view, recorded.entry)
        # Nothing runs before the session that it asks for is on disk, and this with it.
        started, accepted = [said.event for said in self.log.say(*recorded.lines)]
        plan = replace(recorded.plan, rules=cast("TaskAccepted", accepted).rules)
        run = None if isinstance(view, LoneRunView) else view.id
        agents = OwnSessions(self.sessions, recorded.task_run, view.cwd, recorded.policy, run)
        play = JobTask(
            cast("WorkStarted", started),
            run_task(plan),
            TaskExecutor(recorded.own, agents, self.redactor),
            None if plan.borrowed else self.slots,
            writer,
            _waits_for(view, step.path),
            is_lone=run is None,
        )
        agents.pause = play
        return play

    async def _accept(
        self, view: RunView, step: RunTask, writer: Writer, attempt: int, user_input: str
    ) -> "_Accepted":
        """The first words of a task, not said yet. One that was accepted before keeps its own."""
        entry, task_id = await self._entry(view), step.ref.task_id
        origin = f"{step.path}/start@{attempt}"
        begun = writer.said_from(origin)
        started = WorkStarted(
            work=step.ref.work_id_in_job or 0,
            path=step.path,
            task=task_id,
            task_run=begun.task_run if isinstance(begun, WorkStarted) else new_task_run_id(),
        )
        name, lone = started.task_run, view if isinstance(view, LoneRunView) else None
        plan = plan_task(
            entry,
            task_id,
            user_input=user_input,
            borrowed=lone.session if lone else None,
            override=_model(entry, step.ref.model_override),
            checks_availability=lone.checks_availability if lone else True,
            previous_tasks=step.previous,
        )
        requested = entry.tasks[task_id].permissions
        policy = granted_policy(
            self.server_policy, entry.permissions, requested, trusted=view.trusted
        )
        accepted = TaskAccepted(
            task=task_id,
            entry=view.entry,
            model=plan.task_model,
            cwd=view.cwd,
            policy=(lone and lone.policy) or policy,
            user_input=plan.user_input,
            who=lone.who if lone else f"run {view.id}",
            session=plan.borrowed,
            checks_availability=plan.checks_availability,
            run=None if lone else view.id,
            path=None if lone else step.path,
            own_run=view.id if lone else None,
            previous_tasks=step.previous,
            rules=plan.rules,
        )
        own = self._new.pop(name, None)
        if own is None:
            own = await self.log.writer(name) if begun else self.log.new_writer(name)
        lines = (writer.line(started, origin), own.line(accepted, "accepted"))
        return _Accepted(name, own, lines, policy, entry, plan)

    async def accept_lone(self, view: LoneRunView, user_input: str, first: LogLine) -> TaskRunId:
        ref = work_of(view, await self._entry(view))
        if not isinstance(ref, Ref):
            raise TypeError(f"{view.id} is no run of one task.")
        step = RunTask(ROOT, ref, ())
        said = await self._accept(view, step, first.writer, view.attempt, user_input)
        await self.log.commit(first, *said.lines)
        self._new[said.task_run] = said.own
        return said.task_run

    async def end_task(self, run: str, path: str, verdict: Verdict) -> None:
        name, attempt = run_of(run)
        play = self._plays.get(name, {}).pop(path, None)
        if play is None:  # it had ended before
            return
        own = play.task_executor.writer
        # What missions used is in the view by their ends.
        usage, untold = await self._used(play.task_executor, waits=False)
        stopped = WorkStopped(
            work=play.started.work,
            path=path,
            task_run=play.id,
            succeeded=verdict.succeeded,
            unasked=verdict.unasked,
            usage=usage + untold,
        )
        outcome = "succeeded" if verdict.succeeded else "failed"
        reason = self.redactor.text(verdict.reason)
        ended = TaskEnded(outcome=outcome, reason=reason, unasked=verdict.unasked, usage=untold)
        writer = await self.runs.writer(name)
        ends = (own.line(ended, "end"), writer.line(stopped, f"{path}/done@{attempt}"))
        # The run around a task by itself ends with it: who sees one sees both.
        end = _end_of_run(succeeded=verdict.succeeded)
        if not (play.is_lone and await self.runs.finish(name, attempt, end, *ends)):
            await self.log.commit(*ends)
        own.release()
        self.budgets.end_task(play.id)
        play.over.set()

    async def _used(self, task_executor: TaskExecutor, *, waits: bool) -> tuple[Usage, Usage]:
        """What the missions of a task told, and what else its sessions used."""
        own = task_executor.writer
        if waits:
            await own.settle()
        view = own.view
        if not isinstance(view, TaskRunView):
            return Usage(), Usage()
        if view.session is not None:  # what others ask of it is not the task's
            return view.usage, await task_executor.cut_off()
        return view.usage, await untold_by(self.log, view, waits=waits)

    async def end_run(self, run: str, *, succeeded: bool) -> None:
        name, attempt = run_of(run)
        view = await self.runs.view(name)
        if not isinstance(view, LoneRunView) or view.is_open:  # else it has ended with its task
            await self._open_view(name)
            if not await self.runs.finish(name, attempt, _end_of_run(succeeded=succeeded)):
                raise RunOver
        self._forget(name)

    async def crash_run(self, run: str, path: str, error: Exception) -> None:
        name, attempt = run_of(run)
        writer = await self.runs.writer(name)
        said = in_detail(error, self.redactor)
        # Without waiting: it may be the disk that has failed, and then it is written with the end.
        writer.say_from(f"error@{attempt}", RunError(**said))
        play = self._plays.get(name, {}).get(path)
        if play is not None:
            play.task_executor.writer.say_from("error", TaskError(**said))
        is_plain = isinstance(error, ConditionUnasked) or (play is not None and play.is_lone)
        crashed = "" if is_plain else "A task crashed: "
        ending = RunEnding(outcome="failed", reason=f"{crashed}{said['message']}")
        await self.runs.end_surely(name, ending)

    # What a person asks for.

    async def dismiss(self, run: RunId, ending: RunEnding) -> None:
        """Every task of the run ends now: its sessions are closed, whoever opened them. Where that
        cannot be written down it is told, and to be asked for again."""
        view = await self.runs.view(run)
        plays = self._plays.pop(run, {}).values()
        at_work = {play.id: play.task_executor for play in plays}
        for work in view.running:  # also those that an earlier server began
            self._new.pop(work.task_run, None)
            if work.task_run not in at_work:
                own = await self.log.writer(work.task_run)
                agents = OwnSessions(self.sessions, work.task_run, view.cwd, "deny-all")
                at_work[work.task_run] = TaskExecutor(own, agents, self.redactor)
        if isinstance(view, LoneRunView) and ending.outcome == "failed":
            for task_executor in at_work.values():  # unless it was said why
                said = TaskError(name="NotBegun", message=ending.reason)
                task_executor.writer.say_from("error", said)
        async with asyncio.TaskGroup() as group:
            ends = [group.create_task(self._dismiss(one, ending)) for one in at_work.values()]
        for play in plays:
            play.over.set()
        self._forget(run)
        for end in ends:
            if trouble := end.result():
                raise trouble
        writer = await self.runs.writer(run)
        for work in view.running:
            said = await self.log.view(work.task_run)
            if not isinstance(said, TaskRunView):
                continue
            # Its end may not be in the view yet.
            usage = said.usage if said.is_over else said.usage + await untold_by(self.log, said)
            cut = WorkCut(path=work.path, task_run=work.task_run, usage=usage)
            writer.say_from(f"{work.path}/cut@{view.attempt}", cut)

    async def _dismiss(
        self, task_executor: TaskExecutor, ending: RunEnding
    ) -> StoreUnavailable | None:
        for error in await task_executor.clean_up():  # the next start closes what is left
            if isinstance(error, StoreUnavailable):
                return error
            _log.error("A session of a task could not be closed", exc_info=error)
        own = task_executor.writer
        try:
            _, untold = await self._used(task_executor, waits=True)
        except StoreUnavailable as error:
            return error
        crashed = own.said_from("error") is not None
        outcome = "crashed" if crashed else "canceled"
        said = TaskEnded(outcome=outcome, reason=ending.reason, who=ending.who, usage=untold)
        own.say_from("end", said)
        own.release()
        return None

    async def stop_task(self, task_run: TaskRunId, who: str) -> bool:
        """It fails, and its run goes on by its own rules. False where it is not at work here."""
        for play in [play for plays in self._plays.values() for play in plays.values()]:
            if play.id == task_run:
                await play.stop(who)
                return True
        return False

    # What is known.

    async def _came_to(
        self, writer: Writer, path: str, attempt: int, redo: tuple[str, ...]
    ) -> Verdict | None:
        """What the task came to, now or in an earlier time that still counts."""
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

    async def _open_view(self, run: RunId) -> RunView:
        view = await self.runs.view(run)
        if not view.is_open or view.ending is not None:
            raise RunOver
        return view

    async def _entry(self, view: RunView) -> "Entry":
        if view.entry not in self._entries:
            self._entries[view.entry] = await self.runs.entries.by_digest(view.entry)
        return self._entries[view.entry]

    def _forget(self, run: RunId) -> None:
        self._plays.pop(run, None)
        self.budgets.end_run(run)
        if not self._plays:
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


def _model(entry: "Entry", override: "Model | None") -> str | None:
    if override is None:
        return None
    return entry.models[override.category] if override.category else override.id
