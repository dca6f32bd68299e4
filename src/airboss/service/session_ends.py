"""What is said when a session ends that no runtime has any more."""

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Final

from airboss.errors import AirbossError, NotFound, StoreUnavailable
from airboss.harness.people import Office
from airboss.log.log import EventLog
from airboss.log.rows import OpenBlock
from airboss.log.writer import Writer
from airboss.model.events import (
    Event,
    MessageEnded,
    MessageStarted,
    PromptDropped,
    ReasoningEnded,
    ReasoningStarted,
    SessionClosed,
    SessionInterrupted,
    ToolEnded,
    ToolError,
    ToolStarted,
    TurnEnded,
)
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.ids import SessionId
from airboss.model.inbox_events import ItemSettled
from airboss.model.redaction import Redactor
from airboss.model.usage import Usage
from airboss.model.views import OPEN_STATES, SessionView, View
from airboss.store.views import Place, ViewIndex

_RESTARTED: Final = "The server ended while this session was open."
_BEFORE_END: Final = "The session was interrupted before this tool ended."


def session_of(view: View | None, name: str) -> SessionView:
    if not isinstance(view, SessionView):
        raise NotFound("session", name)
    return view


async def give_up(writer: Writer, redactor: Redactor, error: BaseException) -> None:
    """It could not be opened."""
    reason = str(error) if isinstance(error, AirbossError) else "The start was cut off."
    with contextlib.suppress(StoreUnavailable):  # the next server finds it unfinished
        clean = excerpt(redactor, reason, MOST_OF_A_REASON)
        await writer.commit(SessionClosed(reason=clean, who="airboss"))
    writer.release()


async def interrupt_left_open(log: EventLog, index: ViewIndex, office: Office) -> list[SessionId]:
    """Whatever an earlier server had open; answers which."""
    found: list[SessionId] = []
    before: Place | None = None
    while bodies := await index.page("session", OPEN_STATES, before, 100):
        views = [SessionView.model_validate_json(body) for body in bodies]
        before = Place(views[-1].created_at, views[-1].id)
        found.extend(view.id for view in views)
        async with asyncio.TaskGroup() as group:  # together: one write for many
            for view in views:
                group.create_task(_interrupt(log, office, view))
    return found


async def _interrupt(log: EventLog, office: Office, view: SessionView) -> None:
    writer = await log.writer(view.id)
    ends = interrupting(view, writer.left_open)
    await writer.commit(*ends)
    writer.release()
    tell_office(office, view.id, ends)
    if view.run is not None:
        for item in view.items:  # its news may not have gone out before the end
            office.arrived(item)


def tell_office(office: Office, session: SessionId, said: Iterable[Event]) -> None:
    for event in said:
        if isinstance(event, ItemSettled):
            office.settled(session, event)


def interrupting(view: SessionView, left_open: Iterable[OpenBlock]) -> list[Event]:
    """What an earlier server left undone is ended, and can be resumed."""
    ends: list[Event] = [_cut(left.start, left.text) for left in left_open]
    if view.turn:
        ends.append(TurnEnded(turn=view.turn, outcome="interrupted", usage=_known(view)))
    # The task that asked has ended with its server.
    of_tasks = [queued.prompt for queued in view.queue if queued.task]
    ends += [PromptDropped(prompt=prompt, reason=_RESTARTED) for prompt in of_tasks]
    if view.run is None:
        ends += _withdrawn(view)
    return [*ends, SessionInterrupted(reason=_RESTARTED)]


def closing(view: SessionView, who: str) -> list[Event]:
    """What ends a session that no runtime has, with what was still in its queue."""
    dropped = [
        PromptDropped(prompt=queued.prompt, reason="The session was closed.")
        for queued in view.queue
    ]
    return [*dropped, *_withdrawn(view), SessionClosed(reason=f"Closed by {who}.", who=who)]


def _known(view: SessionView) -> Usage:
    """What the turn is known to have used; one that called a model was a turn."""
    return view.spending + Usage(turns=1) if view.spending != Usage() else view.spending


def _withdrawn(view: SessionView) -> list[ItemSettled]:
    """Who asked has ended, and so has what it asked."""
    return [ItemSettled(item=item.id, outcome="cancelled") for item in view.items]


def _cut(start: Event, text: str) -> Event:
    match start:
        case ReasoningStarted():
            return ReasoningEnded(block=start.block, text=text, cut=True)
        case MessageStarted():
            return MessageEnded(block=start.block, text=text, cut=True)
        case ToolStarted():
            error = ToolError(message=_BEFORE_END, code="interrupted")
            return ToolEnded(block=start.block, text=text, error=error, cut=True)
        case _:
            raise TypeError(f"{start.kind} starts no block")
