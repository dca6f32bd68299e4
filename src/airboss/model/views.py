"""What a person sees of a stream right now: a fold over its events, nothing else."""

from typing import ClassVar, Literal, TypeAlias

from airboss.model.events import (
    Event,
    PromptAccepted,
    PromptDropped,
    SessionClosed,
    SessionError,
    SessionIdle,
    SessionInterrupted,
    SessionOpened,
    SessionReady,
    SessionResumed,
    TurnEnded,
    TurnStarted,
    Usage,
)
from airboss.model.ids import PromptId, SessionId, TaskRunId, TurnId
from airboss.model.task_events import TaskAccepted
from airboss.model.task_runs import TaskRunView, begin_task, fold_task
from airboss.model.words import Frozen

SessionState = Literal["opening", "idle", "working", "interrupted", "closed"]
OPEN_STATES: tuple[SessionState, ...] = ("opening", "idle", "working")

_TITLE_LENGTH = 80


class QueuedPrompt(Frozen):
    """A request that waits for its turn."""

    prompt: PromptId
    text: str
    # Where a task asks.
    task: TaskRunId | None = None


class SessionView(Frozen):
    """One session as of `seq`, the last event that this view has seen and that is no delta."""

    stream_kind: ClassVar[str] = "session"

    id: SessionId
    state: SessionState
    model: str
    cwd: str
    policy: str
    who: str
    created_at: int
    updated_at: int
    seq: int
    title: str = ""
    turn: TurnId | None = None
    turns: int = 0
    queue: tuple[QueuedPrompt, ...] = ()
    models: tuple[str, ...] = ()
    usage: Usage = Usage()
    error: str | None = None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def is_over(self) -> bool:
        """Nothing more will be said; an interrupted one may be resumed."""
        return self.state == "closed"


View: TypeAlias = SessionView | TaskRunView
# How a stream's view is read, by what the stream tells of.
VIEWS: dict[str, type[SessionView] | type[TaskRunView]] = {
    view.stream_kind: view for view in (SessionView, TaskRunView)
}


def _title(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1] + "…"


def _sum(first: Usage, second: Usage) -> Usage:
    return Usage(
        requests=first.requests + second.requests,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cost=first.cost + second.cost,
    )


def _without(queue: tuple[QueuedPrompt, ...], prompt: PromptId | None) -> tuple[QueuedPrompt, ...]:
    return tuple(queued for queued in queue if queued.prompt != prompt)


def _changes(view: SessionView, event: Event) -> dict[str, object]:  # noqa: C901 - one arm a kind
    match event:
        case SessionReady():
            return {"state": "idle", "error": None}
        case SessionResumed():
            return {"state": "opening", "error": None}
        case PromptAccepted():
            queued = QueuedPrompt(prompt=event.prompt, text=event.text, task=event.task)
            title = view.title or _title(event.text)
            return {"queue": (*view.queue, queued), "title": title}
        case PromptDropped():
            return {"queue": _without(view.queue, event.prompt)}
        case TurnStarted():
            queue = _without(view.queue, event.prompt)
            return {"state": "working", "turn": event.turn, "queue": queue, "error": None}
        case TurnEnded():
            models = tuple(dict.fromkeys((*view.models, *event.models)))
            usage = _sum(view.usage, event.usage)
            return {"turn": None, "turns": view.turns + 1, "models": models, "usage": usage}
        case SessionIdle():
            return {"state": "idle"}
        case SessionError():
            return {"error": event.message}
        case SessionInterrupted():
            return {"state": "interrupted", "error": event.reason}
        case SessionClosed():
            return {"state": "closed", "turn": None, "queue": ()}
        case _:
            return {}


def _begin(stream: str, seq: int, at: int, event: SessionOpened) -> SessionView:
    return SessionView(
        id=SessionId(stream),
        state="opening",
        model=event.model,
        cwd=event.cwd,
        policy=event.policy,
        who=event.who,
        created_at=at,
        updated_at=at,
        seq=seq,
    )


def fold(view: View | None, stream: str, seq: int, at: int, event: Event) -> View | None:
    """The next view. The first event of a stream says what it tells of; no other can."""
    match view, event:
        case None, SessionOpened():
            return _begin(stream, seq, at, event)
        case None, TaskAccepted():
            return begin_task(stream, seq, at, event)
        case SessionView(), _:
            return view.model_copy(update={**_changes(view, event), "seq": seq, "updated_at": at})
        case TaskRunView(), _:
            return fold_task(view, seq, at, event)
        case _:
            return None
