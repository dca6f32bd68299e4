"""What the last turn of a session may have done to the world, as its events tell."""

from typing import Final

from airboss.harness.earlier_decisions import events_of
from airboss.harness.replay import Effects
from airboss.log.log import EventLog
from airboss.model.events import ToolStarted, TurnStarted
from airboss.model.ids import TurnId

_KINDS: Final = (
    *("turn.started", "tool.started", "tool.ended", "tool.vetoed"),
    *("permission.decided", "approval.asked"),
)


async def effects_of_turn(log: EventLog, session: str, turn: TurnId) -> tuple[str, ...]:
    """Of the session's last turn, where it is this one."""
    effects, last = Effects(), None
    async for recorded in events_of(log, session, _KINDS):
        event = recorded.event
        if isinstance(event, TurnStarted):
            effects, last = Effects(), event.turn
        effects.hear(event)
    return effects.tools if last == turn else ()


async def effect_calls_of(log: EventLog, session: str) -> tuple[ToolStarted, ...]:
    """Of the session's last turn: the calls that may have done something."""
    effects, calls = Effects(), dict[str, ToolStarted]()
    async for recorded in events_of(log, session, _KINDS):
        event = recorded.event
        if isinstance(event, TurnStarted):
            effects, calls = Effects(), {}
        elif isinstance(event, ToolStarted):
            calls[event.block] = event
        effects.hear(event)
    return tuple(calls[block] for block in effects.blocks)
