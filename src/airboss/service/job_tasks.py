"""The tasks of runs: what the engine asks for is done here, once, on real sessions."""

import asyncio
import logging
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from airboss.engine.acts import Act, Answer, Close, Open, Put
from airboss.engine.hands import ConditionUnasked, RunOver, TaskPlay
from airboss.engine.performer import Performer
from airboss.engine.slots import Slots
from airboss.engine.task import Verdict, plan_task, run_task
from airboss.engine.walk import RunTask
from airboss.entry.bounds import granted_policy
from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.log.writer import Writer
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
from airboss.model.runs import RunView
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
from airboss.service.job_task import JobTask
from airboss.service.own_sessions import OwnSessions
from airboss.service.runs import Runs, run_of
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

    async def do(self, number: int, act: Open | Put | Close) -> Answer:
        raise RunOver


def _nothing(verdict: Verdict) -> Generator[Act, Answer, Verdict]:
    yield from ()
    return verdict


@dataclass
class JobTasks:
    """The engine's hands. It may ask again after a crash: what is written is written once."""

    runs: Runs
    sessions: Sessions
    slots: Slots
    server_policy: Policy
    budgets: Budgets
    _entries: "dict[str, Entry]" = field(default_factory=dict[str, "Entry"])
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
        return (await self._entry(view)).jobs[view.job].work

    async def begin_task(self, run: str, step: RunTask) -> TaskPlay:
        name, time = run_of(run)
        view = await self._open_view(name)
        writer = await self.runs.writer(name)
        over = await self._came_to(writer, step.path, time, view.redo)
        if over is not None:
            return _Over(over)
        play = await self._begin(view, step, writer, time)
        self._plays.setdefault(name, {})[step.path] = play
        return play

    async def _begin(self, view: RunView, step: RunTask, writer: Writer, time: int) -> JobTask:
        entry, task_id = await self._entry(view), step.ref.task_id
        started = WorkStarted(
            work=step.ref.work_id_in_job or 0,
            path=step.path,
            task=task_id,
            task_run=new_task_run_id(),
        )
        origin = f"{step.path}/start@{time}"
        is_begun = writer.said_from(origin) is not None
        # On disk with the task's own first word, at the latest.
        started = cast("WorkStarted", self.log.say(writer.line(started, origin))[0].event)
        plan = plan_task(
            entry,
            task_id,
            user_input=_input(writer),
            borrowed=None,
            override=_model(entry, step.ref.model_override),
            checks_availability=True,
            previous_tasks=step.previous,
        )
        wished = entry.tasks[task_id].permissions
        policy = granted_policy(self.server_policy, entry.permissions, wished, trusted=view.trusted)
        accepted = TaskAccepted(
            task=task_id,
            entry=view.entry,
            model=plan.task_model,
            cwd=view.cwd,
            policy=policy,
            user_input=plan.user_input,
            who=f"run {view.id}",
            run=view.id,
            path=step.path,
            previous_tasks=step.previous,
            rules=plan.rules,
        )
        name = started.task_run
        own = await self.log.writer(name) if is_begun else self.log.new_writer(name)
        await self.budgets.begin_job_task(name, task_id, view, entry)
        # Nothing runs before the session that it asks for is on disk, and this with it.
        accepted = cast("TaskAccepted", self.log.say(own.line(accepted, "accepted"))[0].event)
        plan = replace(plan, rules=accepted.rules)
        agents = OwnSessions(self.sessions, started.task_run, view.cwd, policy, view.id)
        performer = Performer(own, agents, self.redactor)
        waits_for = _waits_for(view, step.path) if is_begun else None
        play = JobTask(started, run_task(plan), performer, self.slots, writer, waits_for)
        agents.pause = play
        return play

    async def end_task(self, run: str, path: str, verdict: Verdict) -> None:
        name, time = run_of(run)
        play = self._plays.get(name, {}).pop(path, None)
        if play is None:  # it had ended before
            return
        own = play.performer.writer
        # What missions used is in the view by their ends.
        usage, untold = await self._used(own, waits=False)
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
        own.say_from("end", ended)
        writer = await self.runs.writer(name)
        await writer.commit(stopped, origin=f"{path}/done@{time}")
        own.release()
        self.budgets.end_task(play.id)
        play.over.set()

    async def _used(self, own: Writer, *, waits: bool) -> tuple[Usage, Usage]:
        """What the missions of a task told, and what else its sessions used."""
        if waits:
            await own.settle()
        view = own.view
        if not isinstance(view, TaskRunView):
            return Usage(), Usage()
        return view.usage, await untold_by(self.log, view, waits=waits)

    async def end_run(self, run: str, *, succeeded: bool) -> None:
        name, time = run_of(run)
        await self._open_view(name)
        ended = RunEnded(
            outcome="succeeded" if succeeded else "failed",
            reason="All that had to succeed did." if succeeded else "A task failed.",
        )
        if not await self.runs.finish(name, time, ended):
            raise RunOver
        self._forget(name)

    async def crash_run(self, run: str, path: str, error: Exception) -> None:
        name, time = run_of(run)
        writer = await self.runs.writer(name)
        told = in_detail(error, self.redactor)
        # Without waiting: it may be the disk that has failed, and then it is written with the end.
        writer.say_from(f"error@{time}", RunError(**told))
        play = self._plays.get(name, {}).get(path)
        if play is not None:
            play.performer.writer.say_from("error", TaskError(**told))
        crashed = "" if isinstance(error, ConditionUnasked) else "A task crashed: "
        ending = RunEnding(outcome="failed", reason=f"{crashed}{told['message']}")
        await self.runs.end_surely(name, ending)

    # What a person asks for.

    async def dismiss(self, run: RunId, reason: str) -> None:
        """Every task of the run ends now: its sessions are closed, whoever opened them. Where that
        cannot be written down it is told, and to be asked for again."""
        view = await self.runs.show(run)
        plays = self._plays.pop(run, {}).values()
        at_work = {play.id: play.performer for play in plays}
        for work in view.running:  # also those that an earlier server began
            if work.task_run not in at_work:
                own = await self.log.writer(work.task_run)
                agents = OwnSessions(self.sessions, work.task_run, view.cwd, "deny-all")
                at_work[work.task_run] = Performer(own, agents, self.redactor)
        async with asyncio.TaskGroup() as group:
            ends = [group.create_task(self._dismiss(one, reason)) for one in at_work.values()]
        for play in plays:
            play.over.set()
        self._forget(run)
        for end in ends:
            if trouble := end.result():
                raise trouble
        writer = await self.runs.writer(run)
        for work in view.running:
            told = await self.log.view(work.task_run)
            if not isinstance(told, TaskRunView):
                continue
            # Its end may not be in the view yet.
            usage = told.usage if told.is_over else told.usage + await untold_by(self.log, told)
            cut = WorkCut(path=work.path, task_run=work.task_run, usage=usage)
            writer.say_from(f"{work.path}/cut@{view.time}", cut)

    async def _dismiss(self, performer: Performer, reason: str) -> StoreUnavailable | None:
        for error in await performer.clean_up():  # the next start closes what is left
            if isinstance(error, StoreUnavailable):
                return error
            _log.error("A session of a task could not be closed", exc_info=error)
        own = performer.writer
        crashed = own.said_from("error") is not None
        outcome = "crashed" if crashed else "canceled"
        try:
            _, untold = await self._used(own, waits=True)
        except StoreUnavailable as error:
            return error
        own.say_from("end", TaskEnded(outcome=outcome, reason=reason, usage=untold))
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
        self, writer: Writer, path: str, time: int, redo: tuple[str, ...]
    ) -> Verdict | None:
        """What the task came to, now or in an earlier time that still counts."""
        for earlier in range(time, 0, -1):
            stopped = writer.said_from(f"{path}/done@{earlier}")
            if isinstance(stopped, WorkStopped):
                counts = earlier == time or stopped.succeeded or path not in redo
                return await self._verdict(stopped) if counts else None
        return None

    async def _verdict(self, stopped: WorkStopped) -> Verdict:
        if not stopped.unasked:
            return Verdict(stopped.succeeded, "")
        # The run is still to be ended with this reason.
        view = await self.log.view(stopped.task_run)
        told = view.reason if isinstance(view, TaskRunView) else None
        return Verdict(stopped.succeeded, told or "", unasked=True)

    async def _open_view(self, run: RunId) -> RunView:
        view = await self.runs.show(run)
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
    return accepted.user_input if isinstance(accepted, RunAccepted) else ""


def _model(entry: "Entry", override: "Model | None") -> str | None:
    if override is None:
        return None
    return entry.models[override.category] if override.category else override.id
