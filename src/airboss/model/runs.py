"""What a person sees of a run: a view that is kept, and every work where it is asked for."""

from collections.abc import Iterable
from typing import Any, ClassVar, Literal, cast

from pydantic import computed_field, model_validator

from airboss.model.events import Event, Recorded
from airboss.model.ids import RunId, SessionId, TaskRunId
from airboss.model.run_events import (
    RunAccepted,
    RunCaged,
    RunEnded,
    RunEnding,
    RunError,
    RunMoved,
    RunPlaced,
    RunRenamed,
    RunResumed,
    RunRetried,
    RunTagged,
    WorkCut,
    WorkGoing,
    WorkRetrying,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.usage import Usage, worked_since
from airboss.model.words import Frozen

RunState = Literal["waiting", "running", "waiting-for-person", "succeeded", "failed", "canceled"]
OPEN_RUNS: tuple[RunState, ...] = ("waiting", "running", "waiting-for-person")


class RunningWork(Frozen):
    """A task of the job that is at work, or waits."""

    work: int
    path: str
    task: str
    task_run: TaskRunId
    started_at: int
    waits_for: str | None = None
    for_person: bool = False
    # How long it worked before its last pause, and since when it works again; its end tells both.
    worked_ms: int = 0
    working_since: int | None = None

    def worked_until(self, now: int) -> int:
        """Without its pauses, in milliseconds."""
        return self.worked_ms + worked_since(self.working_since, now)


class RunMove(Frozen):
    """When a run went on with another worker: which tasks began again with that, and how many had
    succeeded before."""

    at: int
    before: str
    to: str
    reason: str
    again: tuple[str, ...] = ()
    done: int = 0


class RunView(Frozen):
    """One run as of `seq`. It has the works at hand only: a run may have thousands."""

    stream_kind: ClassVar[str] = "run"

    id: RunId
    state: RunState
    job: str
    entry: str
    cwd: str
    who: str
    created_at: int
    updated_at: int
    seq: int
    again: RunId | None = None
    # What its job is called in the grid, where it is in there.
    title: str = ""
    running: tuple[RunningWork, ...] = ()
    works_succeeded: int = 0
    works_failed: int = 0
    restarts: int = 0
    attempt: int = 1
    usage: Usage = Usage()
    waits_for: str | None = "a worker to begin it"
    # Set while what still works is being stopped.
    ending: RunEnding | None = None
    trusted: bool = False
    redo: tuple[str, ...] = ()
    reason: str | None = None
    ended_at: int | None = None
    # What it is known by beside its job: from the input, or by a person's word.
    short_title: str = ""
    # The beginning of its input.
    input_start: str = ""
    tags: tuple[str, ...] = ()
    # The profile of the cage that its sessions work in, where whoever started it named one.
    cage: str | None = None
    # Whether its agents work in cages; null of a run that an earlier version accepted.
    caged: RunCaged | None = None
    # Of several on one database, the machine that works on it, by its name.
    machine: str | None = None
    # The last time that another one took it over.
    moved: RunMove | None = None
    # What a worker must have to take it, of several machines.
    labels: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_earlier_name(cls, data: Any) -> Any:
        """Rows of earlier versions call the attempt `time`, and answers still have both."""
        if isinstance(data, dict) and "time" in data:
            known = cast("dict[str, Any]", data)
            rest = {name: value for name, value in known.items() if name != "time"}
            return {"attempt": known["time"], **rest}
        return cast("Any", data)

    @computed_field(description="The attempt, by its earlier name.")
    @property
    def time(self) -> int:
        return self.attempt

    @property
    def task_runs(self) -> int:
        """How many have come to an end: each round of a loop and each retry is one."""
        return self.works_succeeded + self.works_failed

    def worked_until(self, now: int) -> int:
        """What its agents worked, in milliseconds: without the time in which they waited for people
        or for a place. Of those beside each other each counts."""
        return self.usage.milliseconds + sum(work.worked_until(now) for work in self.running)

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_RUNS

    @property
    def is_over(self) -> bool:
        """A retry may go on with it, and whoever follows it comes back then."""
        return self.state not in OPEN_RUNS


class LoneRunView(RunView):
    """The run around a task that was started by itself. It is no row of any list: the task is."""

    stream_kind: ClassVar[str] = "lone"

    task: str
    model: str | None = None
    # Lent by somebody; it takes no slot then.
    session: SessionId | None = None
    policy: str | None = None
    checks_availability: bool = True


def _with_works(running: tuple[RunningWork, ...]) -> dict[str, object]:
    """A run waits when all that it has begun waits; for a person, when one of them does."""
    if running and all(work.waits_for for work in running):
        first = next((work for work in running if work.for_person), running[0])
        state = "waiting-for-person" if first.for_person else "waiting"
        return {"running": running, "state": state, "waits_for": first.waits_for}
    return {"running": running, "state": "running", "waits_for": None}


def _with_wait(
    view: RunView, at: int, path: str, reason: str | None, *, for_person: bool = False
) -> dict[str, object]:
    said = {"waits_for": reason, "for_person": for_person}

    def waiting(work: RunningWork) -> RunningWork:
        times = {"worked_ms": work.worked_until(at), "working_since": None if reason else at}
        return work.model_copy(update={**said, **times})

    return _with_works(tuple(waiting(work) if work.path == path else work for work in view.running))


def _moved(view: RunView, at: int, event: RunMoved) -> dict[str, object]:
    """What was at work is cut off; what waited goes on waiting."""
    again = tuple(work.task for work in view.running if work.waits_for is None)
    said = {"before": event.before, "to": event.to, "reason": event.reason}
    moved = RunMove(at=at, **said, again=again, done=view.works_succeeded)
    return {"machine": event.to, "moved": moved}


def _changes(  # noqa: C901 - one arm a kind
    view: RunView, at: int, event: Event
) -> dict[str, object]:
    match event:
        case WorkStarted():
            begun = event.model_dump(exclude={"kind"})
            work = RunningWork(started_at=at, working_since=at, **begun)
            return _with_works((*view.running, work))
        case WorkWaiting():
            return _with_wait(view, at, event.path, event.reason, for_person=event.for_person)
        case WorkGoing():
            return _with_wait(view, at, event.path, None)
        case WorkStopped():
            counted = "works_succeeded" if event.succeeded else "works_failed"
            rest = tuple(work for work in view.running if work.path != event.path)
            count = view.works_succeeded if event.succeeded else view.works_failed
            return {**_with_works(rest), counted: count + 1, "usage": view.usage + event.usage}
        case WorkCut():
            return {"usage": view.usage + event.usage}
        case RunResumed():
            return {"restarts": view.restarts + 1}
        case RunPlaced():
            return {"machine": event.machine}
        case RunMoved():
            return {"restarts": view.restarts + 1, **_moved(view, at, event)}
        case RunRetried():
            again = {"state": "waiting", "waits_for": "a worker to begin it", "attempt": event.time}
            said = {"reason": None, "ended_at": None, "moved": None}
            return {**again, **said, "running": (), "redo": event.redo}
        case RunEnding():
            return {"ending": event, "reason": event.reason}
        case RunError():
            return {"reason": event.message}
        case RunRenamed():
            return {"short_title": event.short_title}
        case RunTagged():
            return {"tags": event.tags}
        case RunEnded():
            end = {"state": event.outcome, "reason": event.reason, "ended_at": at}
            return {**end, "running": (), "waits_for": None, "ending": None}
        case _:
            return {}


def begin_run(stream: str, seq: int, at: int, event: RunAccepted) -> RunView:
    said = event.model_dump(exclude={"kind", "user_input", "lone", "trace"})
    said |= {"id": stream, "state": "waiting", "created_at": at, "updated_at": at, "seq": seq}
    if event.lone is None:
        return RunView(**said)
    return LoneRunView(**said, **event.lone.model_dump(exclude={"user_input"}))


def fold_run(view: RunView, seq: int, at: int, event: Event) -> RunView:
    return view.model_copy(update={**_changes(view, at, event), "seq": seq, "updated_at": at})


class WorkRecord(Frozen):
    """One execution of a work, as far as it came."""

    work: int
    path: str
    task: str
    task_run: TaskRunId
    state: RunState
    started_at: int
    ended_at: int | None = None
    waits_for: str | None = None
    # When each retry began; and once there is one, how many there may be.
    retried_at: tuple[int, ...] = ()
    retries: int | None = None
    # It failed since it could not be asked.
    unasked: bool = False
    usage: Usage = Usage()
    conclusion: str = ""
    # While it goes on, as `RunningWork` has them.
    worked_ms: int = 0
    working_since: int | None = None

    def worked_until(self, now: int) -> int:
        """What its agents worked, in milliseconds, without the time in which they waited."""
        if self.ended_at is not None:
            return self.usage.milliseconds
        return self.worked_ms + worked_since(self.working_since, now)


class RunStory(Frozen):
    """All that a run did, in order; of a work in a loop, every round."""

    user_input: str = ""
    works: tuple[WorkRecord, ...] = ()


class RunTeller:
    """Tells a run's story, as far as it was told the events."""

    def __init__(self) -> None:
        self._user_input = ""
        self._works: dict[str, WorkRecord] = {}
        # Those without an end: of thousands of works, few.
        self._open: dict[str, None] = {}

    @property
    def story(self) -> RunStory:
        return RunStory(user_input=self._user_input, works=tuple(self._works.values()))

    def tell(self, at: int, event: Event) -> list[WorkRecord]:
        """The works that it is about, as they are now."""
        match event:
            case RunAccepted():
                self._user_input = event.user_input
                return []
            case WorkStarted():
                begun = event.model_dump(exclude={"kind"})
                work = WorkRecord(state="running", started_at=at, working_since=at, **begun)
                self._works[event.task_run] = work
                self._open[event.task_run] = None
                return [work]
            case WorkWaiting() | WorkGoing():
                reason = event.reason if isinstance(event, WorkWaiting) else None
                return self._wait(at, event.path, reason, _state_of(event))
            case WorkRetrying():
                return self._retry(at, event)
            case WorkStopped():
                state = "succeeded" if event.succeeded else "failed"
                end = {"state": state, "ended_at": at, "waits_for": None, "usage": event.usage}
                end |= {"unasked": event.unasked, "conclusion": event.conclusion}
                return self._change([event.task_run], **end)
            case WorkCut():
                return self._change([event.task_run], usage=event.usage)
            case RunEnded():
                return self._change([*self._open], state="canceled", ended_at=at, waits_for=None)
            case _:
                return []

    def _wait(self, at: int, path: str, reason: str | None, state: RunState) -> list[WorkRecord]:
        names = [name for name in self._open if self._works[name].path == path]
        since = None if reason else at
        for name in names:
            worked = self._works[name].worked_until(at)
            times = {"worked_ms": worked, "working_since": since}
            self._change([name], state=state, waits_for=reason, **times)
        return [self._works[name] for name in names]

    def _change(self, names: list[str], **change: object) -> list[WorkRecord]:
        known = [name for name in names if name in self._works]
        if "ended_at" in change:
            change |= {"worked_ms": 0, "working_since": None}
        for name in known:
            self._works[name] = self._works[name].model_copy(update=change)
            if "ended_at" in change:
                self._open.pop(name, None)
        return [self._works[name] for name in known]

    def _retry(self, at: int, event: WorkRetrying) -> list[WorkRecord]:
        if event.task_run not in self._works:
            return []
        begun = (*self._works[event.task_run].retried_at, at)
        return self._change([event.task_run], retried_at=begun, retries=event.of)


def tell_run(events: Iterable[Recorded]) -> RunStory:
    teller = RunTeller()
    for recorded in events:
        teller.tell(recorded.at, recorded.event)
    return teller.story


def _state_of(event: WorkWaiting | WorkGoing) -> RunState:
    if isinstance(event, WorkGoing):
        return "running"
    return "waiting-for-person" if event.for_person else "waiting"
