"""What a person sees of a task run: a view that is kept, and the whole story where it is asked."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from airboss.model.events import Event, Recorded
from airboss.model.ids import PromptId, RunId, SessionId, TaskRunId
from airboss.model.task_events import (
    CheckedField,
    Mission,
    MissionEnded,
    MissionOutcome,
    MissionSent,
    TaskAccepted,
    TaskChecked,
    TaskDecided,
    TaskEnded,
    TaskError,
    TaskGoing,
    TaskRetrying,
    TaskSessionStarted,
    TaskSessionStopped,
    TaskWaiting,
    ToolCall,
)
from airboss.model.usage import Usage, worked_since
from airboss.model.words import Frozen

TaskRunState = Literal["running", "succeeded", "failed", "canceled", "crashed"]


class TaskRunView(Frozen):
    """One task run as of `seq`."""

    stream_kind: ClassVar[str] = "task"

    id: TaskRunId
    state: TaskRunState
    task: str
    entry: str
    model: str
    cwd: str
    policy: str
    who: str
    created_at: int
    updated_at: int
    seq: int
    # The borrowed session, where one was given.
    session: SessionId | None = None
    # Those of its own that are open.
    sessions: tuple[SessionId, ...] = ()
    # All that it ever opened.
    opened: tuple[SessionId, ...] = ()
    missions: int = 0
    crashes: int = 0
    retries: int = 0
    usage: Usage = Usage()
    # The run whose task this is, and where in it.
    run: RunId | None = None
    path: str | None = None
    # Of one that was started by itself: the run around it.
    own_run: RunId | None = None
    # A free place, or a person; only told of a task that was started by itself.
    waits_for: str | None = None
    # True, or nothing: what earlier versions told folds into what they made of it.
    for_person: bool | None = None
    # Of one that was started by itself, while it goes on: how long it worked before its last pause,
    # and since when it works again.
    worked_ms: int = 0
    working_since: int | None = None
    doing: str = ""
    reason: str | None = None
    # It failed since its prompt or a condition could not be asked.
    unasked: bool = False
    ended_at: int | None = None

    def worked_until(self, now: int) -> int:
        """What its agents worked, in milliseconds, without the time in which they waited."""
        going = self.worked_ms + worked_since(self.working_since, now)
        return going or self.usage.milliseconds

    @property
    def is_open(self) -> bool:
        return self.state == "running"

    @property
    def is_over(self) -> bool:
        """Nothing more will be said."""
        return self.state != "running"


def _changes(  # noqa: C901 - one arm a kind
    view: TaskRunView, at: int, event: Event
) -> dict[str, object]:
    match event:
        case TaskSessionStarted():
            opened = (*view.opened, event.session)
            return {"sessions": (*view.sessions, event.session), "opened": opened}
        case TaskSessionStopped():
            return {"sessions": tuple(one for one in view.sessions if one != event.session)}
        case MissionSent():
            return {"missions": view.missions + 1}
        case MissionEnded():
            crashes = view.crashes + (event.outcome == "crashed")
            return {"crashes": crashes, "usage": view.usage + event.usage}
        case TaskRetrying():
            return {"retries": event.retry}
        case TaskWaiting():
            worked = view.worked_ms + worked_since(view.working_since, at)
            said = {"waits_for": event.reason, "for_person": event.for_person or None}
            return {**said, "worked_ms": worked, "working_since": None}
        case TaskGoing():
            return {"waits_for": None, "for_person": None, "working_since": at}
        case TaskDecided():
            return {"doing": event.text}
        case TaskError():
            return {"reason": event.message}
        case TaskEnded():
            end = {"state": event.outcome, "reason": event.reason, "ended_at": at}
            said = {"sessions": (), "unasked": event.unasked}
            said |= {"waits_for": None, "for_person": None}
            said |= {"worked_ms": 0, "working_since": None}
            return {**end, **said, "usage": view.usage + event.usage}
        case _:
            return {}


def begin_task(stream: str, seq: int, at: int, event: TaskAccepted) -> TaskRunView:
    return TaskRunView(
        id=TaskRunId(stream),
        state="running",
        task=event.task,
        entry=event.entry,
        model=event.model,
        cwd=event.cwd,
        policy=event.policy,
        who=event.who,
        session=event.session,
        run=event.run,
        path=event.path,
        own_run=event.own_run,
        working_since=None if event.own_run is None else at,
        created_at=at,
        updated_at=at,
        seq=seq,
    )


def fold_task(view: TaskRunView, seq: int, at: int, event: Event) -> TaskRunView:
    return view.model_copy(update={**_changes(view, at, event), "seq": seq, "updated_at": at})


class Decision(Frozen):
    """A decision, and when it was made."""

    at: int
    text: str


class FieldCheck(Frozen):
    """A field that was looked at."""

    at: int
    field: CheckedField
    round: int
    holds: bool
    content: str
    reason: str
    # The condition could not be asked.
    unasked: bool = False


class Attempt(Frozen):
    """One sending of a mission's prompt, and what came of it."""

    mission: Mission
    session: SessionId
    prompt: PromptId
    text: str
    started_at: int
    ended_at: int | None = None
    outcome: MissionOutcome | None = None
    calls: tuple[ToolCall, ...] = ()
    reason: str | None = None
    usage: Usage = Usage()
    # Of one that crashed: the tools that may have done something, which the next may do again.
    effects: tuple[str, ...] | None = None


class TaskSession(Frozen):
    """A session that the task opened, and how it went."""

    session: SessionId
    model: str
    is_driving: bool
    started_at: int
    stopped_at: int | None = None
    succeeded: bool | None = None


class TaskRunStory(Frozen):
    """All that a task run did, in order."""

    user_input: str = ""
    decisions: tuple[Decision, ...] = ()
    checks: tuple[FieldCheck, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    task_sessions: tuple[TaskSession, ...] = ()


class TaskTeller:
    """Tells a task run's story, as far as it was told the events."""

    def __init__(self) -> None:
        self._user_input = ""
        self._decisions: list[Decision] = []
        self._checks: list[FieldCheck] = []
        self._attempts: list[Attempt] = []
        self._sessions: dict[SessionId, TaskSession] = {}

    @property
    def story(self) -> TaskRunStory:
        return TaskRunStory(
            user_input=self._user_input,
            decisions=tuple(self._decisions),
            checks=tuple(self._checks),
            attempts=tuple(self._attempts),
            task_sessions=tuple(self._sessions.values()),
        )

    def tell(self, at: int, event: Event) -> None:
        match event:
            case TaskAccepted():
                self._user_input = event.user_input
            case TaskDecided():
                self._decisions.append(Decision(at=at, text=event.text))
            case TaskChecked():
                self._checks.append(FieldCheck(at=at, **event.model_dump(exclude={"kind"})))
            case TaskSessionStarted():
                begun = event.model_dump(exclude={"kind"})
                self._sessions[event.session] = TaskSession(started_at=at, **begun)
            case TaskSessionStopped() if event.session in self._sessions:
                end = {"stopped_at": at, "succeeded": event.succeeded}
                session = self._sessions[event.session]
                self._sessions[event.session] = session.model_copy(update=end)
            case MissionSent():
                sent = event.model_dump(exclude={"kind"})
                self._attempts.append(Attempt(started_at=at, **sent))
            case MissionEnded() if self._attempts:
                ended = {
                    "outcome": event.outcome,
                    "calls": event.calls,
                    "reason": event.reason,
                    "usage": event.usage,
                    "effects": event.effects,
                }
                last = self._attempts[-1]
                self._attempts[-1] = last.model_copy(update={**ended, "ended_at": at})
            case _:
                pass


def tell_story(events: Iterable[Recorded]) -> TaskRunStory:
    teller = TaskTeller()
    for recorded in events:
        teller.tell(recorded.at, recorded.event)
    return teller.story
