"""Calls of extensions' tools that were under way when a session was cut off: its turn goes on with
their answers."""

from typing import Final

from airboss.harness.earlier_decisions import events_of
from airboss.log.log import EventLog
from airboss.model.events import ToolEnded, TurnEnded, TurnStarted
from airboss.model.ids import PromptId
from airboss.model.views import SessionView

_KINDS: Final = ("turn.started", "turn.ended", "tool.ended")


async def cut_call_of(log: EventLog, view: SessionView) -> TurnStarted | None:
    """The turn that was cut off during such a call, where it was the last."""
    if not [one async for one in events_of(log, view.id, ("extension.started",))]:
        return None  # as most sessions
    turn: TurnStarted | None = None
    is_cut = False
    async for recorded in events_of(log, view.id, _KINDS):
        match recorded.event:
            case TurnStarted() as event:
                turn, is_cut = event, False
            case ToolEnded(cut=True, extension=str()):
                is_cut = True
            case TurnEnded(outcome=outcome) if outcome != "interrupted":
                is_cut = False
            case _:
                pass
    return turn if is_cut else None


def is_of(turn: TurnStarted | None, prompt: PromptId) -> bool:
    return turn is not None and turn.prompt == prompt
