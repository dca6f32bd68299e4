"""Every event of a stream, frozen and tagged. What is not one of these did not happen."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, cast

from pydantic import Field, TypeAdapter, ValidationError

from airboss.model.account_events import AccountEvent
from airboss.model.audit_events import AuditEvent
from airboss.model.cage_events import CageEvent, EgressEvent
from airboss.model.context_events import AsideAnswered as AsideAnswered
from airboss.model.context_events import ContextEvent
from airboss.model.extension_events import ExtensionEvent
from airboss.model.gate_events import GateEvent, WaitEvent
from airboss.model.hook_events import HookEvent
from airboss.model.ids import PromptId, RunId, TaskRunId, TurnId
from airboss.model.inbox_events import InboxEvent
from airboss.model.limits import UsageLimits
from airboss.model.lineage_events import LineageEvent
from airboss.model.mcp_events import McpChanged
from airboss.model.prompt_events import Overtaking as Overtaking
from airboss.model.prompt_events import PromptAccepted as PromptAccepted
from airboss.model.prompt_events import PromptChanged as PromptChanged
from airboss.model.prompt_events import PromptDropped as PromptDropped
from airboss.model.prompt_events import PromptEvent, TurnMode
from airboss.model.prompt_events import PromptImage as PromptImage
from airboss.model.prompt_events import PromptMoved as PromptMoved
from airboss.model.prompt_events import PromptSteered as PromptSteered
from airboss.model.rules import Rule
from airboss.model.run_events import RunEvent
from airboss.model.setup import Setup
from airboss.model.sub_agent_events import SubAgentEvent
from airboss.model.sub_agent_events import SubAgentSaid as SubAgentSaid
from airboss.model.task_events import TaskEvent
from airboss.model.usage import Usage
from airboss.model.words import Frozen, Words


class ToolResult(Frozen):
    """What a tool gave back: the text, and a longer form of it where there is one. Of a diff of one
    file that was cut, `added` and `removed` count the lines of all of it."""

    content: Words
    detailed_content: Words | None = None
    added: int | None = None
    removed: int | None = None


class ToolError(Frozen):
    """Why a tool failed."""

    message: Words
    code: Words | None = None


class SessionOpened(Frozen):
    """A session was asked for; this is on disk before the runtime hears of it."""

    kind: Literal["session.opened"] = "session.opened"
    model: Words
    cwd: Words
    policy: Words
    who: Words
    # For whom it works, where no person opened it: nobody sits in front of it.
    task: TaskRunId | None = None
    run: RunId | None = None
    limits: UsageLimits = UsageLimits()
    # An approval in it counts as a no after so long, unless the server's settings say otherwise.
    approval_seconds: float | None = None
    # What else it is given, on every resume too. Where it is left out, nothing was said.
    setup: Setup | None = None
    # Why it works in no cage, where one was wished for: it asks instead.
    uncaged: Words | None = None


class SessionReady(Frozen):
    """The runtime has the session: it can work."""

    kind: Literal["session.ready"] = "session.ready"
    # Of the settings' accounts, the one that it uses.
    account: Words | None = None
    # Where it works, by the machine's name. Said only where several share a database.
    machine: Words | None = None


class SessionResumed(Frozen):
    """An interrupted session works again, with its history."""

    kind: Literal["session.resumed"] = "session.resumed"
    who: Words


class SessionInterrupted(Frozen):
    """The session lost its runtime or its server; it may be resumed."""

    kind: Literal["session.interrupted"] = "session.interrupted"
    reason: Words


class SessionClosed(Frozen):
    """The session was ended on purpose, or could not be opened."""

    kind: Literal["session.closed"] = "session.closed"
    reason: Words
    who: Words


class SessionRenamed(Frozen):
    """Somebody gave the session another name than the first line of its first request."""

    kind: Literal["session.renamed"] = "session.renamed"
    title: Words
    who: Words


class SessionPinned(Frozen):
    """Somebody wants to find the session at the top of lists, or no longer."""

    kind: Literal["session.pinned"] = "session.pinned"
    pinned: bool
    who: Words


class SessionError(Frozen):
    """Something failed inside the session."""

    kind: Literal["session.error"] = "session.error"
    name: Words
    message: Words
    status: int | None = None
    stack: Words | None = None
    cause: Words | None = None


class SessionIdle(Frozen):
    """The agent has nothing to do: every block is closed and the queue is empty or comes next."""

    kind: Literal["session.idle"] = "session.idle"


class TurnStarted(Frozen):
    """The agent begins to work; without a prompt where the runtime woke it itself. In the mode
    `plan` it only reads, until a person approves its plan."""

    kind: Literal["turn.started"] = "turn.started"
    turn: TurnId
    prompt: PromptId | None = None
    mode: TurnMode | None = None
    # The trace that it was asked for in, where traces are sent.
    trace: Words | None = None


class TurnRetrying(Frozen):
    """The model's service failed and is asked again."""

    kind: Literal["turn.retrying"] = "turn.retrying"
    turn: TurnId
    reason: Words


class TurnUsage(Frozen):
    """A model was called: what that took, so that a turn which is cut off is counted too."""

    kind: Literal["turn.usage"] = "turn.usage"
    # None where it came behind the turn's end.
    turn: TurnId | None = None
    usage: Usage
    # The call whose sub-agent took it.
    parent: Words | None = None


class TurnEnded(Frozen):
    """The agent ended its work, with the models that really answered. Its usage is that of the
    whole turn."""

    kind: Literal["turn.ended"] = "turn.ended"
    turn: TurnId
    outcome: Literal["done", "failed", "aborted", "interrupted"]
    models: tuple[Words, ...] = ()
    usage: Usage = Usage()
    # Whether all of it could be done again without doing anything twice, and the tools that speak
    # against that. Events of earlier versions do not say.
    replay_safe: bool | None = None
    effects: tuple[Words, ...] | None = None


class PermissionDecided(Frozen):
    """The agent asked to do something and got its answer."""

    kind: Literal["permission.decided"] = "permission.decided"
    request: Words
    wish: Words
    about: Words
    allowed: bool
    by: Words
    reason: Words
    # The tool call that it is about; events of earlier versions do not say.
    call: Words | None = None
    # The rule that spoke, as it was then: it may be changed or deleted since.
    rule: Rule | None = None


class BlockStarted(Frozen):
    """A text begins to arrive."""

    block: Words


class BlockDelta(Frozen):
    """A piece of a block's text, `offset` characters behind its beginning."""

    block: Words
    offset: int
    text: Words


class ReasoningStarted(BlockStarted):
    kind: Literal["reasoning.started"] = "reasoning.started"


class ReasoningDelta(BlockDelta):
    kind: Literal["reasoning.delta"] = "reasoning.delta"


class ReasoningEnded(Frozen):
    kind: Literal["reasoning.ended"] = "reasoning.ended"
    block: Words
    text: Words
    cut: bool = False
    # So many characters were left out of a text that was too long; a mark stands in their place.
    left_out: int | None = None


class MessageStarted(BlockStarted):
    kind: Literal["message.started"] = "message.started"


class MessageDelta(BlockDelta):
    kind: Literal["message.delta"] = "message.delta"


class MessageEnded(Frozen):
    kind: Literal["message.ended"] = "message.ended"
    block: Words
    text: Words
    cut: bool = False
    # So many characters were left out of a text that was too long; a mark stands in their place.
    left_out: int | None = None


class ToolStarted(BlockStarted):
    """Where the arguments were too long, `lines` has for each text among them how many lines it had
    before it was cut."""

    kind: Literal["tool.started"] = "tool.started"
    parent: Words | None = None
    name: Words
    arguments: Words
    lines: dict[Words, int] | None = None
    # The extension whose tool it is.
    extension: Words | None = None


class ToolDelta(BlockDelta):
    kind: Literal["tool.delta"] = "tool.delta"


class ToolEnded(Frozen):
    """`text` is all that the tool's deltas said. A result's content is that same text. Of an output
    that was too long, `left_out` counts the characters for which a mark stands in the text."""

    kind: Literal["tool.ended"] = "tool.ended"
    block: Words
    text: Words
    result: ToolResult | None = None
    error: ToolError | None = None
    cut: bool = False
    left_out: int | None = None
    # The extension whose tool it is.
    extension: Words | None = None


Event: TypeAlias = Annotated[
    SessionOpened
    | SessionReady
    | SessionResumed
    | SessionInterrupted
    | SessionClosed
    | SessionRenamed
    | SessionPinned
    | SessionError
    | SessionIdle
    | PromptEvent
    | AsideAnswered
    | TurnStarted
    | TurnRetrying
    | TurnUsage
    | TurnEnded
    | PermissionDecided
    | ReasoningStarted
    | ReasoningDelta
    | ReasoningEnded
    | MessageStarted
    | MessageDelta
    | MessageEnded
    | ToolStarted
    | ToolDelta
    | ToolEnded
    | TaskEvent
    | RunEvent
    | InboxEvent
    | ContextEvent
    | LineageEvent
    | SubAgentEvent
    | McpChanged
    | GateEvent
    | HookEvent
    | WaitEvent
    | AccountEvent
    | CageEvent
    | EgressEvent
    | ExtensionEvent
    | AuditEvent,
    Field(discriminator="kind"),
]

Delta: TypeAlias = ReasoningDelta | MessageDelta | ToolDelta
BlockEnd: TypeAlias = ReasoningEnded | MessageEnded | ToolEnded

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class UnknownEvent(Frozen):
    """A newer Airboss said it, on another machine. It is passed on, and folded by nobody here."""

    kind: str


def kept_event(body: str) -> Event:
    """As the store has it: a newer Airboss may have said more than this one knows. Whoever looks
    for events of a kind passes by those that nobody here knows."""
    try:
        return EVENT.validate_json(body, extra="ignore")
    except ValidationError as error:
        if any(wrong["type"] == "union_tag_invalid" for wrong in error.errors()):
            return cast("Event", UnknownEvent.model_validate_json(body, extra="ignore"))
        raise


@dataclass(slots=True)
class Recorded:
    """An event with its place: the stream's own count, and when it was said (ms, UTC).

    It holds the event's JSON, since most readers only pass it on, and parses it when asked.
    """

    seq: int
    at: int
    body: str
    _event: Event | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, seq: int, at: int, event: Event) -> "Recorded":
        # Of deltas there are many, and few readers look into them: their JSON is enough.
        kept = None if isinstance(event, BlockDelta) else event
        return cls(seq, at, event.model_dump_json(exclude_none=True), kept)

    @property
    def event(self) -> Event:
        if self._event is None:
            self._event = kept_event(self.body)
        return self._event

    @property
    def json(self) -> str:
        return f'{{"seq":{self.seq},"at":{self.at},"event":{self.body}}}'
