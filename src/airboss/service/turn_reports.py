"""What came of a request to a session, as its events tell: for who was not there when it ended."""

from typing import Final

from airboss.harness.earlier_decisions import events_of
from airboss.harness.server_troubles import ServerTroubles
from airboss.harness.turn import Turn, TurnReport
from airboss.log.log import EventLog
from airboss.model.events import (
    Event,
    MessageEnded,
    SessionError,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from airboss.model.ids import PromptId
from airboss.model.mcp_events import McpChanged, McpServer, with_change

_KINDS: Final = (
    *("turn.started", "turn.ended", "tool.started", "tool.ended", "tool.vetoed"),
    *("permission.decided", "approval.asked", "session.error", "message.ended", "mcp.changed"),
)


async def report_of_prompt(log: EventLog, session: str, prompt: PromptId) -> TurnReport:
    """Of the last turn about it, as that told who waited for it; `interrupted` where it never ended
    or never began."""
    servers: tuple[McpServer, ...] = ()
    turn = found = None
    async for recorded in events_of(log, session, _KINDS):
        event = recorded.event
        if isinstance(event, TurnStarted):
            turn = Turn(event.turn, event.prompt, troubles=ServerTroubles(servers))
            turn.outcome = "interrupted"
            found = turn if turn.prompt == prompt else found
        elif isinstance(event, McpChanged):
            servers = with_change(servers, event)
        if turn is not None:
            _hear(turn, event)
        if isinstance(event, TurnEnded):
            turn = None
    return found.report(found.outcome) if found else TurnReport("interrupted")


def _hear(turn: Turn, event: Event) -> None:
    turn.effects.hear(event)
    turn.troubles.hear(event)
    match event:
        case ToolStarted() | ToolEnded():
            turn.note_tool(event)
        case MessageEnded():
            turn.note_message(event.text)
        case SessionError():
            turn.fail(event)
        case TurnEnded():
            turn.outcome, turn.usage = event.outcome, event.usage
        case _:
            pass
