"""What happened to a session, in words: the same as the pages have."""

from airboss.model.blocks import Tone
from airboss.model.context_events import CompactionEnded, SessionChanged
from airboss.model.events import (
    AsideAnswered,
    Event,
    PermissionDecided,
    PromptDropped,
    SessionClosed,
    SessionError,
    SessionInterrupted,
    SessionResumed,
    TurnEnded,
    TurnRetrying,
)
from airboss.model.gate_events import LoopNoticed, ToolVetoed

Note = tuple[Tone, str, str]


def note_of(event: Event) -> Note | None:  # noqa: C901 - one arm a kind
    """None where it is shown otherwise, or is nothing to tell."""
    match event:
        case SessionError():
            return "error", event.name, event.message
        case SessionInterrupted():
            return "warning", "Interrupted", event.reason
        case SessionResumed():
            return "info", "Resumed", f"By {event.who}."
        case SessionClosed():
            return "info", "Closed", event.reason
        case TurnRetrying():
            return "warning", "Retrying the model", event.reason
        case TurnEnded(outcome="failed"):
            return "error", "The turn failed", ""
        case TurnEnded(outcome="aborted"):
            return "info", "Stopped", ""
        case PromptDropped():
            return "warning", "A message was dropped", event.reason
        case LoopNoticed():
            tone: Tone = "error" if event.level == "critical" else "warning"
            return tone, "The agent is repeating itself", event.text
        case AsideAnswered():
            said = f"{event.who}: {event.question}\n\n{event.answer}"
            return "info", "Side question", said
        case SessionChanged():
            return "info", "From the next turn on", _switched(event)
        case CompactionEnded():
            return _compacted(event)
        case ToolVetoed():
            return "warning", f"Blocked: {event.tool}", event.reason
        # A person's no stands in what the person was asked.
        case PermissionDecided(allowed=False) if not event.by.startswith(("person", "nobody")):
            return "warning", f"Denied: {event.wish} {event.about}", event.reason
        case _:
            return None


def _switched(event: SessionChanged) -> str:
    said = [
        event.model and f"model {event.model}",
        event.reasoning_effort and f"effort {event.reasoning_effort}",
        event.policy and f"permissions {event.policy}",
    ]
    return f"{', '.join(part for part in said if part)}. By {event.who}."


def _compacted(event: CompactionEnded) -> Note | None:
    if event.error is not None:
        return "warning", "The history was not compacted", event.error
    if not event.removed:
        return None
    messages = "1 message" if event.removed == 1 else f"{event.removed} messages"
    before = "?" if event.before is None else event.before
    sizes = "" if event.after is None else f": {before} tokens before, {event.after} now"
    return "info", "The history was compacted", f"A summary stands for {messages}{sizes}."
