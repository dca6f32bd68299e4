"""What a person sees of a stream right now: a fold over its events, nothing else."""

from typing import ClassVar, Literal, TypeAlias

from airboss.model.account_events import AccountChanged
from airboss.model.cage_events import (
    CageClosed,
    CageLimit,
    CageOpened,
    CageView,
    EgressClosed,
    EgressOpened,
    EgressRefused,
    HostTraffic,
    cage_after,
    traffic_after,
)
from airboss.model.context_events import (
    CompactionEnded,
    CompactionStarted,
    ContextMeasured,
    SessionChanged,
)
from airboss.model.events import (
    Event,
    PermissionDecided,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
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
from airboss.model.ids import (
    ItemId,
    PromptId,
    RunId,
    SessionId,
    TaskRunId,
    TurnId,
    runtime_session_name,
)
from airboss.model.inbox import InboxView, begin_inbox, fold_inbox
from airboss.model.inbox_events import (
    Asked,
    AskedOfPerson,
    InboxArrived,
    InboxItem,
    ItemSettled,
    LimitReached,
    goes_on_meanwhile,
    granted_by,
)
from airboss.model.limits import Granted, UsageLimits
from airboss.model.lineage_events import SessionForked, SessionRestarted
from airboss.model.mcp_events import McpChanged, McpServer, begun, ended, with_change
from airboss.model.prompt_events import TurnMode
from airboss.model.prompt_queue import QueuedPrompt as QueuedPrompt
from airboss.model.prompt_queue import (
    queue_changed,
    queue_moved,
    queue_with,
    without,
)
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
    # The number of the runtime's session in use, where it is not the first.
    restart_number: int = 0
    # The session that it began as a copy of, and what the runtime calls that copy.
    forked_from: SessionId | None = None
    runtime_copy: str | None = None
    # Its policy was set for itself, while it was open: it counts on a resume too.
    own_policy: bool = False
    # Its MCP servers, in the order in which they were named.
    mcp_servers: tuple[McpServer, ...] = ()
    # Its turn, or the one that was cut off, makes a plan: it only reads until that is approved.
    mode: TurnMode | None = None
    # A plan was approved in it.
    plan_approved: Literal[True] | None = None
    # The agent that it is, of those that it has; and whether somebody chose that meanwhile.
    agent: str | None = None
    own_agent: Literal[True] | None = None
    # The model that it returns to, while that one is at its rate limit.
    instead_of: str | None = None
    # Of the settings' accounts of Copilot, the one that it uses.
    account: str | None = None
    # The profile of the cage that it works in.
    cage_profile: str | None = None
    # That cage, where it has or had one.
    cage: CageView | None = None
    egress: tuple[HostTraffic, ...] | None = None
    machine: str | None = None

    @property
    def runtime_number(self) -> int:
        """How many sessions of the runtime it has had."""
        return self.restart_number or 1

    @property
    def runtime_id(self) -> str:
        """What the runtime calls it, and all that its agent starts is marked with."""
        if self.restart_number == 0 and self.runtime_copy is not None:
            return self.runtime_copy
        return runtime_session_name(self.id, self.restart_number)

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
        "instead_of": event.instead_of if event.model else view.instead_of,
        "reasoning_effort": event.reasoning_effort or view.reasoning_effort,
        "policy": event.policy or view.policy,
        "own_policy": view.own_policy or event.policy is not None,
        "agent": view.agent if event.agent is None else event.agent or None,
        "own_agent": view.own_agent if event.agent is None else True,
    }


def _changes(  # noqa: C901 - one arm a kind
    view: SessionView, at: int, event: Event
) -> dict[str, object]:
    match event:
        case SessionReady():
            used = {"account": event.account or view.account, "machine": event.machine}
            return {"state": "idle", "error": None, "compacting": False, **used}
        case AccountChanged():
            return {"account": event.to}
        case SessionResumed():
            return {"state": "opening", "error": None, "mcp_servers": begun(view.mcp_servers)}
        case PromptAccepted():
            title = view.title or _title(event.text)
            return {"queue": queue_with(view.queue, event), "title": title}
        case PromptChanged():
            return {"queue": queue_changed(view.queue, event)}
        case PromptMoved():
            return {"queue": queue_moved(view.queue, event)}
        case PromptDropped() | PromptSteered():
            return {"queue": without(view.queue, event.prompt)}
        case TurnStarted():
            queue = without(view.queue, event.prompt)
            said = {"state": "working", "turn": event.turn, "queue": queue}
            return {**said, "error": None, "mode": event.mode}
        case TurnEnded():
            models = tuple(dict.fromkeys((*view.models, *event.models)))
            usage = view.usage + event.usage
            asking, mode = (
                (view.asking, view.mode) if event.outcome == "interrupted" else (None, None)
            )
            said = {"turns": view.turns + 1, "models": models, "usage": usage}
            said |= {"waiting_calls": (), "compacting": False, "mode": mode}
            return {**said, "turn": None, "asking": asking, "spending": Usage()}
        case TurnUsage() if event.turn is not None and event.turn == view.turn:
            return {"spending": view.spending + event.usage}
        case TurnUsage():
            return {"usage": view.usage + event.usage}
        case AskedOfPerson():
            asking = view.asking if goes_on_meanwhile(event) else event.prompt
            return {"items": (*view.items, item_of(view, at, event)), "asking": asking}
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
            is_approved = event.outcome == "approved"
            said = {"items": items, "granted": granted}
            said |= {"mode": None, "plan_approved": True} if is_approved else {}
            return {**said, "allowances": (*view.allowances, *new)}
        case SessionRenamed():
            return {"title": event.title}
        case SessionChanged():
            return _switched(view, event)
        case SessionRestarted():
            return {"restart_number": event.number, "context": None}
        case SessionForked() if event.source is not None:
            said = {"forked_from": event.source, "runtime_copy": event.runtime}
            return {**said, "restart_number": 0, "state": "opening"}
        case SessionPinned():
            return {"pinned": event.pinned}
        case SessionIdle():
            return {"state": "idle"}
        case SessionError():
            return {"error": event.message}
        case SessionInterrupted():
            said = {"state": "interrupted", "error": event.reason}
            servers = ended(view.mcp_servers)
            return {**said, "waiting_calls": (), "compacting": False, "mcp_servers": servers}
        case SessionClosed():
            none = {"turn": None, "queue": (), "items": (), "waiting_calls": (), "mode": None}
            servers = ended(view.mcp_servers)
            return {"state": "closed", **none, "compacting": False, "mcp_servers": servers}
        case McpChanged():
            return {"mcp_servers": with_change(view.mcp_servers, event)}
        case ContextMeasured() | CompactionStarted() | CompactionEnded():
            return _measured(view, event)
        case CageOpened() | CageClosed() | CageLimit():
            return {"cage": cage_after(view.cage, event)}
        case EgressOpened() | EgressClosed() | EgressRefused():
            return {"egress": traffic_after(view.egress, event, at)}
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
        mcp_servers=tuple(
            McpServer(name=name) for name in (event.setup.mcp_servers if event.setup else ())
        ),
        agent=event.setup.agent if event.setup else None,
        cage_profile=event.setup.cage.profile if event.setup and event.setup.cage else None,
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
