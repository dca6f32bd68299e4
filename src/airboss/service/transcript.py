"""What was said in a stream, as passages that a person reads one after another."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from airboss.log.log import EventLog
from airboss.model.events import (
    AsideAnswered,
    Event,
    MessageEnded,
    PermissionDecided,
    PromptAccepted,
    PromptDropped,
    ReasoningEnded,
    SessionClosed,
    SessionError,
    SessionInterrupted,
    SessionResumed,
    SubAgentSaid,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from airboss.model.excerpt import left_out_words
from airboss.model.hook_events import HookRan
from airboss.model.inbox_events import (
    ApprovalAsked,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
    Subject,
)
from airboss.model.run_events import RunEnded
from airboss.model.task_events import TaskChecked, TaskDecided, TaskEnded

Voice: TypeAlias = Literal["prompt", "message", "reasoning", "tool", "note"]

_PAGE: Final = 200


@dataclass(frozen=True)
class Passage:
    """`title` says who or what; a tool has what it was given beside what it brought."""

    voice: Voice
    at: int
    title: str
    text: str = ""
    given: str = ""


async def passages(log: EventLog, stream: str) -> AsyncGenerator[Passage]:
    """In the order of the stream, read page by page: it may be longer than the memory."""
    calls: dict[str, ToolStarted] = {}
    after = 0
    while found := await log.transcript(stream, after, _PAGE):
        after = found[-1].seq
        for recorded in found:
            event = recorded.event
            if isinstance(event, ToolStarted):
                calls[event.block] = event
            elif passage := _passage(recorded.at, event, calls):
                yield passage


def _passage(at: int, event: Event, calls: dict[str, ToolStarted]) -> Passage | None:
    match event:
        case PromptAccepted():
            return Passage("prompt", at, event.who, event.text)
        case MessageEnded() if event.text.strip():
            return Passage("message", at, "agent", event.text)
        case SubAgentSaid():
            return Passage("message", at, "sub-agent", event.text)
        case ReasoningEnded() if event.text.strip():
            return Passage("reasoning", at, "reasoning", event.text)
        case ToolEnded():
            call = calls.pop(event.block, None)
            brought = event.error.message if event.error else event.text
            said = f"{call.name if call else 'tool'}{' failed' if event.error else ''}"
            if event.left_out:
                said = f"{said}, {left_out_words(event.left_out)}"
            return Passage("tool", at, said, brought, _pretty(call.arguments) if call else "")
        case AsideAnswered():
            return Passage("note", at, f"{event.who} asked a side question", _aside(event))
        case ApprovalAsked():
            title = f"asked for permission: {event.title}"
            return Passage("tool", at, title, "", _subject(event.subject))
        case _:
            recorded = _note(event)
            return Passage("note", at, recorded) if recorded else None


def _note(event: Event) -> str | None:  # noqa: C901 - one arm a kind
    match event:
        case PermissionDecided():
            allowed = "allowed" if event.allowed else "denied"
            return f"{event.wish}: {event.about}, {allowed} by {event.by}"
        case QuestionAsked():
            return f"{'Airboss ' if event.by else ''}asked: {event.question}"
        case LimitReached():
            return "a limit was reached"
        case SignInAsked():
            return f"the MCP server {event.server} wanted a person to sign in"
        case PlanAsked():
            return f"showed its plan: {event.plan or event.summary}"
        case PromptDropped():
            return f"a message was not delivered: {event.reason}"
        case TurnEnded() if event.outcome != "done":
            return f"the turn ended: {event.outcome}"
        case SessionError():
            return f"{event.name}: {event.message}"
        case SessionInterrupted() | SessionClosed():
            return event.reason
        case SessionResumed():
            return f"resumed by {event.who}"
        case HookRan() if event.error or event.decided != "nothing":
            return _of_hook(event)
        case TaskDecided():
            return event.text
        case TaskChecked():
            outcome = "could not be checked" if event.unasked else "does not hold"
            return f"{event.field}: {'holds' if event.holds else outcome}: {event.reason}"
        case TaskEnded() | RunEnded():
            return f"{event.outcome}: {event.reason}"
        case _:
            return None


def _of_hook(event: HookRan) -> str:
    about = f"{event.hook} hook {event.program}{f' for {event.tool}' if event.tool else ''}"
    if event.error:
        return f"the {about} failed: {event.error}"
    words = f"the {about}: {event.decided}"
    return f"{words}: {event.reason}" if event.reason else words


def _subject(subject: Subject) -> str:
    """All that was decided about."""
    shown = (subject.command, subject.path, subject.address, subject.diff)
    return "\n".join(part for part in shown if part) or _pretty(subject.arguments)


def _aside(event: AsideAnswered) -> str:
    return f"{event.question}\n\n{event.answer}"


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), indent=1, ensure_ascii=False)
    except ValueError:
        return arguments
