"""What of a session's events a copy of it has: what was said and done, with who and when; not what
was used or allowed, which are the other session's own."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

from airboss.errors import Conflict, NotFound
from airboss.log.log import EventLog
from airboss.model.events import (
    Event,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
    PromptMoved,
    PromptSteered,
    Recorded,
    SessionOpened,
    TurnEnded,
    TurnStarted,
)
from airboss.model.ids import ItemId, PromptId
from airboss.model.inbox_events import (
    ApprovalAsked,
    ItemSettled,
    LimitReached,
    QuestionAsked,
    SignInAsked,
)
from airboss.model.lineage_events import SessionRestarted
from airboss.model.usage import Usage
from airboss.model.views import SessionView

_PAGE: Final = 1000
# Of the other session's own life, or of a moment that has passed.
_LEFT_OUT: Final = (
    *("session.ready", "session.resumed", "session.interrupted", "session.closed"),
    *("session.idle", "session.pinned", "session.forked", "turn.usage", "tool.waiting"),
    *("tool.going", "compaction.started", "context.measured", "mcp.changed"),
    *("cage.opened", "cage.closed", "cage.limit"),
    *("egress.opened", "egress.closed", "egress.refused"),
)


@dataclass(frozen=True)
class SessionCopy:
    """Its events, each with when it was said, and when the turn began that is not in it."""

    opened: SessionOpened
    events: tuple[tuple[int, Event], ...]
    until: int | None


async def copy_of(log: EventLog, view: SessionView, before: PromptId | None) -> SessionCopy:
    """Refused where the agent has forgotten by now what the copy is to end with."""
    opened: SessionOpened | None = None
    kept: list[tuple[int, Event]] = []
    until: int | None = None
    limits: set[ItemId] = set()
    async for recorded in _all(log, view):
        event = recorded.event
        if isinstance(event, SessionRestarted) and until is not None:
            raise Conflict(
                "The agent has started over since this request, and its history from before is "
                "gone. Fork the session at a later request."
            )
        if isinstance(event, TurnStarted) and before is not None and event.prompt == before:
            until = recorded.at if until is None else until
        if isinstance(event, SessionOpened):
            opened = event
        elif until is None and (said := _copied(event, limits)) is not None:
            kept.append((recorded.at, said))
    if before is not None and until is None:
        raise NotFound("request", before)
    if opened is None:
        raise NotFound("session", view.id)
    return SessionCopy(opened, _begun(kept), until)


async def _all(log: EventLog, view: SessionView) -> AsyncGenerator[Recorded]:
    after = 0
    while found := await log.transcript(view.id, after, _PAGE, until=view.seq, without=_LEFT_OUT):
        for recorded in found:
            yield recorded
        after = found[-1].seq


def _copied(event: Event, limits: set[ItemId]) -> Event | None:
    match event:
        case LimitReached() | SignInAsked():
            limits.add(event.item)
            return None
        case ItemSettled():
            return None if event.item in limits else event.model_copy(update={"allows": None})
        case TurnEnded():
            return event.model_copy(update={"usage": Usage()})
        case _:
            return event


def _begun(events: list[tuple[int, Event]]) -> tuple[tuple[int, Event], ...]:
    """Without the requests that no turn has begun on: those wait in the other session."""
    begun = {event.prompt for _, event in events if isinstance(event, TurnStarted | PromptSteered)}
    return tuple(
        (at, event)
        for at, event in events
        if not isinstance(event, PromptAccepted | PromptChanged | PromptMoved | PromptDropped)
        or event.prompt in begun
    )


def unsettled(events: tuple[tuple[int, Event], ...]) -> list[Event]:
    """What was asked for at the end of a copy is asked in the other session only."""
    items: dict[ItemId, None] = {}
    for _, event in events:
        if isinstance(event, ApprovalAsked | QuestionAsked):
            items[event.item] = None
        elif isinstance(event, ItemSettled):
            items.pop(event.item, None)
    return [ItemSettled(item=item, outcome="cancelled") for item in items]
