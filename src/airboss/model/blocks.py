"""What a conversation is made of: texts, tools, what a person was asked, and notes."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from airboss.model.events import PromptImage, TurnUsage
from airboss.model.inbox_events import InboxItem, ItemOutcome
from airboss.model.rules import Rule
from airboss.model.sub_agent_events import SkillInvoked, SubAgentEnded

Tone: TypeAlias = Literal["info", "warning", "error"]


@dataclass(slots=True, kw_only=True)
class _Placed:
    id: str
    # Where it began, in the stream and in time.
    seq: int
    at: int


@dataclass(slots=True, kw_only=True)
class _Received(_Placed):
    """A block whose text comes piece by piece."""

    received: int = 0
    receiving: bool = True
    # Ended by us before its time.
    cut: bool = False
    # So many characters of it were too many; a mark stands for them in the text.
    left_out: int | None = None
    ended_at: int | None = None


@dataclass(slots=True, kw_only=True)
class TextBlock(_Received):
    kind: Literal["user", "reasoning", "message"]
    # `Task` or `Steered`.
    title: str | None = None
    # The call of the agent that said it, where that is not the session's own.
    parent: str | None = None
    text: str = ""
    who: str | None = None
    # Those of a request.
    images: tuple[PromptImage, ...] | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a call was allowed, and by whom or what: `policy caged`, `rule rul_…`."""

    allowed: bool
    by: str
    reason: str
    rule: Rule | None


@dataclass(slots=True, kw_only=True)
class SubAgent:
    """The agent that a call began: what it is, and what it has used."""

    name: str
    model: str | None = None
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    outcome: str | None = None
    error: str | None = None
    # Those that it has read, by name.
    skills: list[str] = field(default_factory=list[str])


@dataclass(slots=True, kw_only=True)
class ToolBlock(_Received):
    kind: Literal["tool"] = "tool"
    name: str = "tool"
    arguments: str = ""
    output: str = ""
    # Only where it differs from the output.
    result: str | None = None
    detail: str | None = None
    error: str | None = None
    # Why the gate did not let it through.
    vetoed: str | None = None
    # None also where nobody had to be asked, and in what earlier versions wrote.
    permission: Permission | None = None
    # The tool that called it, and those that it called, in order.
    parent: str | None = None
    children: list[str] = field(default_factory=list[str])
    # Where it handed work to another agent. Earlier versions did not tell.
    agent: SubAgent | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of what a person was asked."""

    at: int
    outcome: ItemOutcome
    who: str | None
    answer: str | None
    was_words: bool
    rule: str | None


@dataclass(slots=True, kw_only=True)
class AskBlock(_Placed):
    kind: Literal["ask"] = "ask"
    item: InboxItem
    settled: Settled | None = None


@dataclass(slots=True, kw_only=True)
class NoteBlock(_Placed):
    """Something that happened to the session, in words."""

    kind: Literal["note"] = "note"
    tone: Tone
    title: str
    text: str


Block: TypeAlias = TextBlock | ToolBlock | AskBlock | NoteBlock


def block_json(block: Block) -> dict[str, Any]:
    """As JSON has it."""
    plain = _fields(block)
    if isinstance(block, AskBlock):
        plain["item"] = block.item.model_dump(mode="json")
        plain["settled"] = block.settled and _fields(block.settled)
    elif isinstance(block, ToolBlock):
        if permission := block.permission:
            rule = permission.rule and permission.rule.model_dump(mode="json")
            plain["permission"] = {**_fields(permission), "rule": rule}
        plain["agent"] = block.agent and _fields(block.agent)
    return plain


def _fields(value: Block | Settled | Permission | SubAgent) -> dict[str, Any]:
    return {part.name: getattr(value, part.name) for part in fields(value)}


def tell_agent(agent: SubAgent, event: SubAgentEnded | TurnUsage | SkillInvoked) -> None:
    match event:
        case SubAgentEnded():
            agent.model = event.model or agent.model
            agent.outcome, agent.error = event.outcome, event.error
        case TurnUsage():
            spent = event.usage.sub_agents
            agent.requests += spent.requests
            agent.input_tokens += spent.input_tokens
            agent.output_tokens += spent.output_tokens
        case SkillInvoked():
            agent.skills.append(event.name)
