"""What happened to a session, in words: the same as the pages have."""

from typing import Final

from airboss.model.account_events import AccountChanged
from airboss.model.blocks import Tone
from airboss.model.cage_events import CageLimit, EgressRefused
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
from airboss.model.extension_events import ExtensionEnded, ExtensionRefused, ExtensionSaid
from airboss.model.gate_events import LoopNoticed, ToolVetoed
from airboss.model.hook_events import HookRan
from airboss.model.lineage_events import SessionForked, SessionRestarted
from airboss.model.mcp_events import McpChanged
from airboss.model.sub_agent_events import SkillInvoked

Note = tuple[Tone, str, str]

_UNTOLD: Final = "no reason was given"
FORGOTTEN: Final = "It does not remember what was said before."


def note_of(event: Event) -> Note | None:  # noqa: C901 - one arm a kind
    """None where it is shown otherwise, or is nothing to tell."""
    match event:
        case SessionError():
            return "error", event.name, event.message
        case SessionInterrupted():
            return "warning", "Interrupted", event.reason
        case SessionResumed():
            return "info", "Resumed", f"By {event.who}."
        case SessionRestarted():
            return "warning", "The agent started over", f"{event.why} {FORGOTTEN}"
        case SessionForked():
            return "info", "Forked", _forked(event)
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
            when = "From now on" if event.instead_of else "From the next turn on"
            return "info", when, _switched(event)
        case AccountChanged():
            before = event.before or "the one before"
            return "warning", f"Account {event.to}", f"Instead of {before}: {event.why}."
        case CompactionEnded():
            return _compacted(event)
        case McpChanged():
            return _server(event)
        case SkillInvoked(parent=None, preloaded=True):
            return "info", f"Skill {event.name}", event.description
        case HookRan():
            return _ran(event)
        case ExtensionSaid() | ExtensionRefused() | ExtensionEnded():
            return _extension(event)
        case CageLimit():
            return "error", "The cage was ended", event.text
        case EgressRefused():
            return "warning", f"Not connected: {event.host}", event.why
        case ToolVetoed():
            return "warning", f"Blocked: {event.tool}", event.reason
        # A person's no stands in what the person was asked.
        case PermissionDecided(allowed=False) if not event.by.startswith(("person", "nobody")):
            return "warning", f"Denied: {event.wish} {event.about}", event.reason
        case _:
            return None


def _forked(event: SessionForked) -> str:
    where = f"A copy of {event.source}" if event.source else f"Copied into {event.copy_id}"
    return f"{where}. By {event.who}."


def _switched(event: SessionChanged) -> str:
    limited = event.instead_of and f" ({event.instead_of} is at its rate limit)"
    said = [
        event.model and f"model {event.model}{limited or ''}",
        event.reasoning_effort and f"effort {event.reasoning_effort}",
        event.policy and f"permissions {event.policy}",
    ]
    return f"{', '.join(part for part in said if part)}. By {event.who}."


def _server(event: McpChanged) -> Note | None:
    """One that works is nothing to tell."""
    match event.state:
        case "failed":
            return "warning", f"The MCP server {event.server} failed", event.error or ""
        case "starting" if event.error:
            return "warning", f"The MCP server {event.server} is slow to start", event.error
        case "needs-sign-in":
            return "info", f"The MCP server {event.server} needs a sign-in", event.error or ""
        case "connected" if event.error:
            return "warning", f"Tools of the MCP server {event.server}", event.error
        case _:
            return None


def _ran(event: HookRan) -> Note | None:
    """What it left as it was is in the log only."""
    who = f"Hook {event.hook}: {event.program}"
    if event.error is not None:
        return "warning", who, event.error
    match event.decided:
        case "nothing":
            return None
        case "changed":
            return "info", who, f"It made a change, in {event.milliseconds} ms."
        case "blocked":
            return "warning", who, f"It blocked the request: {event.reason or _UNTOLD}"
        case "asked":
            return "info", who, f"It asked for a decision by a person: {event.reason or _UNTOLD}"


def _extension(event: ExtensionSaid | ExtensionRefused | ExtensionEnded) -> Note | None:
    """One that is started and stopped in order is nothing to tell."""
    title = f"Extension {event.name}"
    match event:
        case ExtensionSaid():
            return event.level, title, event.text
        case ExtensionRefused():
            return "warning", f"{title} does not run", event.reason
        case ExtensionEnded():
            return _crashed(title, event) if event.crashed else None


def _crashed(title: str, event: ExtensionEnded) -> Note:
    """The fifth crash is the last, and only a reload starts it then."""
    if event.restart_in is None:
        after = "It does not restart by itself. Fix it, then reload the extensions."
        return "warning", f"{title} failed", f"{event.reason}\n{after}"
    after = f"It restarts after {event.restart_in:g} s."
    return "warning", f"{title} crashed", f"{event.reason}\n{after}"


def _compacted(event: CompactionEnded) -> Note | None:
    if event.error is not None:
        return "warning", "The history was not compacted", event.error
    if not event.removed:
        return None
    messages = "1 message" if event.removed == 1 else f"{event.removed} messages"
    before = "?" if event.before is None else event.before
    sizes = "" if event.after is None else f": {before} tokens before, {event.after} now"
    return "info", "The history was compacted", f"A summary replaces {messages}{sizes}."
