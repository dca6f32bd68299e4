"""What a person sees of a run: a view that is kept, and every work where it is asked for."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from airboss.model.events import Event, Recorded
from airboss.model.ids import RunId, TaskRunId
from airboss.model.run_events import (
    RunAccepted,
    RunEnded,
    RunEnding,
    RunError,
    RunResumed,
    RunRetried,
    WorkGoing,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.usage import Usage
from airboss.model.words import Frozen

RunState = Literal["waiting", "running", "succeeded", "failed", "canceled"]
OPEN_RUNS: tuple[RunState, ...] = ("waiting", "running")


class RunningWork(Frozen):
    """A task of the job that is at work, or waits."""

    work: int
    path: str
    task: str
    task_run: TaskRunId
    started_at: int
    waits_for: str | None = None


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
    running: tuple[RunningWork, ...] = ()
    works_succeeded: int = 0
    works_failed: int = 0
    restarts: int = 0
    time: int = 1
    usage: Usage = Usage()
    waits_for: str | None = "a worker to begin it"
    # Set while what still works is being stopped.
    ending: RunEnding | None = None
    trusted: bool = False
    redo: tuple[str, ...] = ()
    reason: str | None = None
    ended_at: int | None = None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_RUNS

    @property
    def is_over(self) -> bool:
        """A retry may go on with it, and whoever follows it comes back then."""
        return self.state not in OPEN_RUNS


def _with_works(running: tuple[RunningWork, ...]) -> dict[str, object]:
    """A run waits when all that it has begun waits."""
    waits = [work.waits_for for work in running]
    if running and all(waits):
        return {"running": running, "state": "waiting", "waits_for": waits[0]}
    return {"running": running, "state": "running", "waits_for": None}


def _with_wait(view: RunView, path: str, reason: str | None) -> dict[str, object]:
    return _with_works(
        tuple(
            work.model_copy(update={"waits_for": reason}) if work.path == path else work
            for work in view.running
        )
    )


def _changes(view: RunView, at: int, event: Event) -> dict[str, object]:
    match event:
        case WorkStarted():
            begun = event.model_dump(exclude={"kind"})
            return _with_works((*view.running, RunningWork(started_at=at, **begun)))
        case WorkWaiting():
            return _with_wait(view, event.path, event.reason)
        case WorkGoing():
            return _with_wait(view, event.path, None)
        case WorkStopped():
            counted = "works_succeeded" if event.succeeded else "works_failed"
            rest = tuple(work for work in view.running if work.path != event.path)
            count = view.works_succeeded if event.succeeded else view.works_failed
            return {**_with_works(rest), counted: count + 1, "usage": view.usage + event.usage}
        case RunResumed():
            return {"restarts": view.restarts + 1}
        case RunRetried():
            again = {"state": "waiting", "waits_for": "a worker to begin it", "time": event.time}
            return {**again, "reason": None, "ended_at": None, "running": (), "redo": event.redo}
        case RunEnding():
            return {"ending": event, "reason": event.reason}
        case RunError():
            return {"reason": event.message}
        case RunEnded():
            end = {"state": event.outcome, "reason": event.reason, "ended_at": at}
            return {**end, "running": (), "waits_for": None, "ending": None}
        case _:
            return {}


def begin_run(stream: str, seq: int, at: int, event: RunAccepted) -> RunView:
    told = event.model_dump(exclude={"kind", "user_input"})
    return RunView(id=RunId(stream), state="waiting", created_at=at, updated_at=at, seq=seq, **told)


def fold_run(view: RunView, seq: int, at: int, event: Event) -> RunView:
    return view.model_copy(update={**_changes(view, at, event), "seq": seq, "updated_at": at})


class WorkTold(Frozen):
    """One execution of a work, as far as it came."""

    work: int
    path: str
    task: str
    task_run: TaskRunId
    state: Literal["waiting", "running", "succeeded", "failed", "canceled"]
    started_at: int
    ended_at: int | None = None
    waits_for: str | None = None
    usage: Usage = Usage()


class RunStory(Frozen):
    """All that a run did, in order; of a work in a loop, every round."""

    user_input: str = ""
    works: tuple[WorkTold, ...] = ()


def tell_run(events: Iterable[Recorded]) -> RunStory:
    user_input = ""
    works: dict[str, WorkTold] = {}
    for recorded in events:
        at, event = recorded.at, recorded.event
        match event:
            case RunAccepted():
                user_input = event.user_input
            case WorkStarted():
                begun = event.model_dump(exclude={"kind"})
                works[event.task_run] = WorkTold(state="running", started_at=at, **begun)
            case WorkWaiting() | WorkGoing():
                _wait(works, event)
            case WorkStopped():
                state = "succeeded" if event.succeeded else "failed"
                change = {"state": state, "ended_at": at, "usage": event.usage}
                works[event.task_run] = works[event.task_run].model_copy(update=change)
            case RunEnded():
                for name, work in works.items():
                    if work.ended_at is None:
                        end = {"state": "canceled", "ended_at": at, "waits_for": None}
                        works[name] = work.model_copy(update=end)
            case _:
                pass
    return RunStory(user_input=user_input, works=tuple(works.values()))


def _wait(works: dict[str, WorkTold], event: WorkWaiting | WorkGoing) -> None:
    reason = event.reason if isinstance(event, WorkWaiting) else None
    for name, work in works.items():
        if work.path == event.path and work.ended_at is None:
            change = {"state": "waiting" if reason else "running", "waits_for": reason}
            works[name] = work.model_copy(update=change)
