"""The tasks of runs: what the engine asks for is done here, once, on real sessions."""

import asyncio
import contextlib
import logging
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from airboss.engine.acts import Act, Answer, Close, Done, Open, Put, Refused
from airboss.engine.hands import RunOver, TaskPlay
from airboss.engine.performer import Performer
from airboss.engine.slots import CalledAway, Place, Slots
from airboss.engine.task import Verdict, plan_task, run_task
from airboss.engine.walk import RunTask
from airboss.entry.bounds import granted_policy
from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog, Writer
from airboss.model.ids import RunId, TaskRunId, new_task_run_id
from airboss.model.redaction import Redactor
from airboss.model.run_events import (
    RunAccepted,
    RunEnded,
    RunEnding,
    RunError,
    WorkCut,
    WorkGoing,
    WorkRetrying,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
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
from airboss.service.own_sessions import OwnSessions
from airboss.service.runs import Runs, run_of
from airboss.service.sessions import Sessions
from airboss.service.troubles import in_detail
from airboss.settings import Policy

_log = logging.getLogger(__name__)

_STOP_SECONDS = 1.8

if TYPE_CHECKING:
    from airboss.entry.document import Entry, Model, Work


@dataclass
class JobTask:
    """One task of a run at work."""

    started: WorkStarted
    acts: Generator[Act, Answer, Verdict]
    performer: Performer
    slots: Slots
    run_writer: Writer
    # What the run says that it waits for; an earlier server may have said so.
    waits_for: str | None = None
    # Who stopped it, once somebody has: it fails with that.
    stopped_by: str | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    place: Place = field(init=False)

    def __post_init__(self) -> None:
        self.place = self.slots.place(self.id, self._wait)

    @property
    def id(self) -> TaskRunId:
        return self.started.task_run

    async def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        self.performer.tell(number, event)
        if isinstance(event, TaskRetrying):
            path, retry = self.started.path, event.retry
            told = WorkRetrying(path=path, task_run=self.id, retry=retry, of=event.of)
            self.run_writer.say_once(f"{self.id}/retry{retry}", told)

    async def do(self, number: int, act: Open | Put | Close) -> Answer:
        if not isinstance(act, Put):
            return await self.performer.do(number, act)
        answer: Answer = None
        # What an earlier server began is answered, or waits for a person: it needs no place yet.
        is_begun = self.performer.has_begun(number)
        if self.stopped_by is None or is_begun:
            with contextlib.suppress(CalledAway), self.place:
                if not is_begun:
                    await self.place.take()
                    self._go()
                answer = await self.performer.do(number, act)
        if self.stopped_by is None or isinstance(answer, Done):
            return answer
        return Refused(f"Stopped by {self.stopped_by}.")

    async def stop(self, who: str) -> None:
        """It fails. This answers when it has, or soon."""
        self.stopped_by = self.stopped_by or who
        self.slots.call_away(self.id)
        await self.performer.abort()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await self.over.wait()

    # While its agent waits for a person.

    def begin(self, reason: str) -> None:
        self.place.give_back()
        self._say_waiting(reason, for_person=True)

    async def end(self) -> None:
        await self.place.take()
        self._go()

    def _wait(self) -> None:
        count = self.slots.count
        self._say_waiting(f"a free place: {count} of {count} agents of jobs are at work")

    def _say_waiting(self, reason: str, *, for_person: bool = False) -> None:
        if self.waits_for != reason:
            self.waits_for = reason
            waiting = WorkWaiting(path=self.started.path, reason=reason, for_person=for_person)
            self.run_writer.say(waiting)

    def _go(self) -> None:
        if self.waits_for:
            self.waits_for = None
            self.run_writer.say(WorkGoing(path=self.started.path))


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
        over = self._came_to(writer, step.path, time, view.redo)
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
        started = cast("WorkStarted", writer.say_once(origin, started))
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
        )
        name = started.task_run
        own = await self.log.writer(name) if is_begun else self.log.new_writer(name)
        await self.budgets.begin_job_task(name, task_id, view, entry)
        # Nothing runs before the session that it asks for is on disk, and this with it.
        own.say_once("accepted", accepted)
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
            usage=usage + untold,
        )
        outcome = "succeeded" if verdict.succeeded else "failed"
        reason = self.redactor.text(verdict.reason)
        own.say_once("end", TaskEnded(outcome=outcome, reason=reason, usage=untold))
        writer = await self.runs.writer(name)
        await writer.once(f"{path}/done@{time}", stopped)
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
        writer.say_once(f"error@{time}", RunError(**told))
        play = self._plays.get(name, {}).get(path)
        if play is not None:
            play.performer.writer.say_once("error", TaskError(**told))
        ending = RunEnding(outcome="failed", reason=f"A task crashed: {told['message']}")
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
            writer.say_once(f"{work.path}/cut@{view.time}", cut)

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
        own.say_once("end", TaskEnded(outcome=outcome, reason=reason, usage=untold))
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

    def _came_to(
        self, writer: Writer, path: str, time: int, redo: tuple[str, ...]
    ) -> Verdict | None:
        """What the task came to, now or in an earlier time that still counts."""
        for earlier in range(time, 0, -1):
            stopped = writer.said_from(f"{path}/done@{earlier}")
            if isinstance(stopped, WorkStopped):
                counts = earlier == time or stopped.succeeded or path not in redo
                return Verdict(stopped.succeeded, "") if counts else None
        return None

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
