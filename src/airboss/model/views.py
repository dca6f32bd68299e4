"""What a person sees of a stream right now: a fold over its events, nothing else."""

from collections.abc import Sequence
from typing import ClassVar, Literal, TypeAlias

from airboss.model.context_events import (
    CompactionEnded,
    CompactionStarted,
    ContextMeasured,
    SessionChanged,
)
from airboss.model.events import (
    Event,
    Overtaking,
    PermissionDecided,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
    PromptImage,
    PromptMoved,
    PromptSteered,
    SessionClosed,
    SessionError,
    SessionIdle,
    SessionInterrupted,
    SessionOpened,
    SessionPinned,
    SessionReady,
    SessionRenamed,
    SessionResumed,
    ToolEnded,
    TurnEnded,
    TurnStarted,
    TurnUsage,
)
from airboss.model.gate_events import ToolGoing, ToolWaiting
from airboss.model.ids import ItemId, PromptId, RunId, SessionId, TaskRunId, TurnId
from airboss.model.inbox import InboxView, begin_inbox, fold_inbox
from airboss.model.inbox_events import (
    ApprovalAsked,
    Asked,
    InboxArrived,
    InboxItem,
    ItemSettled,
    LimitReached,
    QuestionAsked,
    granted_by,
)
from airboss.model.limits import Granted, UsageLimits
from airboss.model.rules import Rule
from airboss.model.run_events import RunAccepted
from airboss.model.runs import LoneRunView, RunView, begin_run, fold_run
from airboss.model.task_events import TaskAccepted
from airboss.model.task_runs import TaskRunView, begin_task, fold_task
from airboss.model.usage import Usage
from airboss.model.words import Frozen

SessionStateName = Literal["opening", "idle", "working", "interrupted", "closed"]
OPEN_STATES: tuple[SessionStateName, ...] = ("opening", "idle", "working")

_TITLE_LENGTH = 80


class QueuedPrompt(Frozen):
    """A request that waits for its turn."""

    prompt: PromptId
    text: str
    # Where a task asks.
    task: TaskRunId | None = None
    who: str = ""
    delivery: Overtaking | None = None
    images: tuple[PromptImage, ...] | None = None


class WaitingCall(Frozen):
    """A call that waits until another's approval is decided: both edit the same file."""

    block: str
    item: ItemId
    title: str
    session: SessionId
    session_title: str = ""


class ContextUse(Frozen):
    """How many tokens the agent's context has, of so many that its model takes."""

    tokens: int
    limit: int


class SessionView(Frozen):
    """One session as of `seq`, the last event that this view has seen and that is no delta."""

    stream_kind: ClassVar[str] = "session"

    id: SessionId
    state: SessionStateName
    model: str
    cwd: str
    policy: str
    who: str
    created_at: int
    updated_at: int
    seq: int
    title: str = ""
    pinned: bool = False
    turn: TurnId | None = None
    turns: int = 0
    queue: tuple[QueuedPrompt, ...] = ()
    models: tuple[str, ...] = ()
    usage: Usage = Usage()
    # Of the turn that runs, as far as it is known.
    spending: Usage = Usage()
    limits: UsageLimits = UsageLimits()
    approval_seconds: float | None = None
    granted: tuple[Granted, ...] = ()
    # What is allowed without asking until the session ends.
    allowances: tuple[Rule, ...] = ()
    error: str | None = None
    task: TaskRunId | None = None
    run: RunId | None = None
    # What waits for a person, in the order in which it was asked.
    items: tuple[InboxItem, ...] = ()
    # The request whose turn asked a person for something and has not gone on since.
    asking: PromptId | None = None
    # Its calls that wait for what another call, mostly of another session, has asked a person.
    waiting_calls: tuple[WaitingCall, ...] = ()
    # As the runtime last told it, to a hundredth.
    context: ContextUse | None = None
    # Its history is being replaced by a summary.
    compacting: bool = False
    reasoning_effort: str | None = None
    # Its policy was set for itself, while it was open: it counts on a resume too.
    own_policy: bool = False

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def is_over(self) -> bool:
        """Nothing more will be said; an interrupted one may be resumed."""
        return self.state == "closed"


View: TypeAlias = SessionView | TaskRunView | RunView | InboxView
# How a stream's view is read, by what the stream tells of.
VIEWS: dict[str, type[SessionView] | type[TaskRunView] | type[RunView] | type[InboxView]] = {
    view.stream_kind: view for view in (SessionView, TaskRunView, RunView, LoneRunView, InboxView)
}


def _title(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1] + "…"


def _without(queue: tuple[QueuedPrompt, ...], prompt: PromptId | None) -> tuple[QueuedPrompt, ...]:
    return tuple(queued for queued in queue if queued.prompt != prompt)


def place(waiting: Sequence[Overtaking | None], delivery: Overtaking | None) -> int:
    """Where a new request goes among those that wait: what interrupts comes first, what steers
    before all that does not."""
    match delivery:
        case None:
            return len(waiting)
        case "interrupt":
            return 0
        case "steer":
            return next((at for at, other in enumerate(waiting) if other is None), len(waiting))


def _with(queue: tuple[QueuedPrompt, ...], event: PromptAccepted) -> tuple[QueuedPrompt, ...]:
    queued = QueuedPrompt(
        prompt=event.prompt,
        text=event.text,
        task=event.task,
        who=event.who,
        delivery=event.delivery,
        images=event.images,
    )
    at = place([other.delivery for other in queue], event.delivery)
    return (*queue[:at], queued, *queue[at:])


def _changed(queue: tuple[QueuedPrompt, ...], event: PromptChanged) -> tuple[QueuedPrompt, ...]:
    return tuple(
        queued.model_copy(update={"text": event.text}) if queued.prompt == event.prompt else queued
        for queued in queue
    )


def _moved(queue: tuple[QueuedPrompt, ...], event: PromptMoved) -> tuple[QueuedPrompt, ...]:
    meant = tuple(queued for queued in queue if queued.prompt == event.prompt)
    others = _without(queue, event.prompt)
    names = [queued.prompt for queued in others]
    at = names.index(event.before) if event.before and event.before in names else len(others)
    return (*others[:at], *meant, *others[at:])


def item_of(view: SessionView, at: int, asked: Asked) -> InboxItem:
    return InboxItem(
        id=asked.item,
        session=view.id,
        asked=asked,
        asked_at=at,
        task_run=view.task,
        run=view.run,
    )


def _granted(view: SessionView, settled: ItemSettled) -> list[Granted]:
    if settled.outcome != "go-on":
        return []
    asked = [item.asked for item in view.items if item.id == settled.item]
    return [granted_by(one) for one in asked if isinstance(one, LimitReached)]


def _not_waiting(view: SessionView, block: str) -> tuple[WaitingCall, ...]:
    return tuple(call for call in view.waiting_calls if call.block != block)


def _measured(
    view: SessionView, event: ContextMeasured | CompactionStarted | CompactionEnded
) -> dict[str, object]:
    match event:
        case ContextMeasured():
            return {"context": ContextUse(tokens=event.tokens, limit=event.limit)}
        case CompactionStarted():
            return {"compacting": True}
        case CompactionEnded() if view.context and event.after is not None:
            held = ContextUse(tokens=event.after, limit=view.context.limit)
            return {"compacting": False, "context": held}
        case CompactionEnded():
            return {"compacting": False}


def _switched(view: SessionView, event: SessionChanged) -> dict[str, object]:
    return {
        "model": event.model or view.model,
        "reasoning_effort": event.reasoning_effort or view.reasoning_effort,
        "policy": event.policy or view.policy,
        "own_policy": view.own_policy or event.policy is not None,
    }


def _changes(  # noqa: C901 - one arm a kind
    view: SessionView, at: int, event: Event
) -> dict[str, object]:
    match event:
        case SessionReady():
            return {"state": "idle", "error": None, "compacting": False}
        case SessionResumed():
            return {"state": "opening", "error": None}
        case PromptAccepted():
            title = view.title or _title(event.text)
            return {"queue": _with(view.queue, event), "title": title}
        case PromptChanged():
            return {"queue": _changed(view.queue, event)}
        case PromptMoved():
            return {"queue": _moved(view.queue, event)}
        case PromptDropped() | PromptSteered():
            return {"queue": _without(view.queue, event.prompt)}
        case TurnStarted():
            queue = _without(view.queue, event.prompt)
            return {"state": "working", "turn": event.turn, "queue": queue, "error": None}
        case TurnEnded():
            models = tuple(dict.fromkeys((*view.models, *event.models)))
            usage = view.usage + event.usage
            asking = view.asking if event.outcome == "interrupted" else None
            said = {"turns": view.turns + 1, "models": models, "usage": usage}
            said |= {"waiting_calls": (), "compacting": False}
            return {**said, "turn": None, "asking": asking, "spending": Usage()}
        case TurnUsage() if event.turn is not None and event.turn == view.turn:
            return {"spending": view.spending + event.usage}
        case TurnUsage():
            return {"usage": view.usage + event.usage}
        case ApprovalAsked() | QuestionAsked() | LimitReached():
            return {"items": (*view.items, item_of(view, at, event)), "asking": event.prompt}
        case PermissionDecided() if view.asking:
            return {"asking": None}
        case ToolEnded():
            asking = view.asking if event.cut else None
            return {"asking": asking, "waiting_calls": _not_waiting(view, event.block)}
        case ToolWaiting():
            call = WaitingCall(**event.model_dump(exclude={"kind"}))
            return {"waiting_calls": (*_not_waiting(view, event.block), call)}
        case ToolGoing():
            return {"waiting_calls": _not_waiting(view, event.block)}
        case ItemSettled():
            items = tuple(item for item in view.items if item.id != event.item)
            granted = (*view.granted, *_granted(view, event))
            new = (event.allows,) if event.allows and event.allows not in view.allowances else ()
            return {"items": items, "granted": granted, "allowances": (*view.allowances, *new)}
        case SessionRenamed():
            return {"title": event.title}
        case SessionChanged():
            return _switched(view, event)
        case SessionPinned():
            return {"pinned": event.pinned}
        case SessionIdle():
            return {"state": "idle"}
        case SessionError():
            return {"error": event.message}
        case SessionInterrupted():
            said = {"state": "interrupted", "error": event.reason}
            return {**said, "waiting_calls": (), "compacting": False}
        case SessionClosed():
            ended = {"turn": None, "queue": (), "items": (), "waiting_calls": ()}
            return {"state": "closed", **ended, "compacting": False}
        case ContextMeasured() | CompactionStarted() | CompactionEnded():
            return _measured(view, event)
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
        task=event.task,
        run=event.run,
        limits=event.limits,
        approval_seconds=event.approval_seconds,
        reasoning_effort=event.setup.reasoning_effort if event.setup else None,
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
        case None, RunAccepted():
            return begin_run(stream, seq, at, event)
        case None, InboxArrived():
            return begin_inbox(seq, at, event)
        case SessionView(), _:
            return view.model_copy(
                update={**_changes(view, at, event), "seq": seq, "updated_at": at}
            )
        case TaskRunView(), _:
            return fold_task(view, seq, at, event)
        case RunView(), _:
            return fold_run(view, seq, at, event)
        case InboxView(), _:
            return fold_inbox(view, seq, at, event)
        case _:
            return None
