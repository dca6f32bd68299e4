"""What is said when a session ends that no runtime has any more."""

import asyncio
import contextlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from airboss.errors import AirbossError, NotFound, SessionGone, StoreUnavailable
from airboss.harness.item_lines import why_withdrawn, with_inbox
from airboss.log.log import EventLog
from airboss.log.rows import OpenBlock
from airboss.log.writer import LogLine, Writer
from airboss.model.events import (
    Event,
    MessageEnded,
    MessageStarted,
    PromptDropped,
    ReasoningEnded,
    ReasoningStarted,
    SessionClosed,
    SessionInterrupted,
    SessionResumed,
    ToolEnded,
    ToolError,
    ToolStarted,
    TurnEnded,
)
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.ids import ItemId, SessionId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import InboxArrived, InboxItem, ItemSettled, goes_on_meanwhile
from airboss.model.redaction import Redactor
from airboss.model.usage import Usage
from airboss.model.views import OPEN_STATES, SessionView, View
from airboss.service.turn_effects import effects_of_turn
from airboss.service.unanswered_items import (
    NOTHING_PENDING,
    UnansweredItems,
    unanswered_items_of,
)
from airboss.store.views import PageEnd, ViewIndex

_RESTARTED: Final = "The server stopped while this session was open."
_BEFORE_END: Final = "The session was interrupted before this tool ended."


def session_of(view: View | None, name: str) -> SessionView:
    if not isinstance(view, SessionView):
        raise NotFound("session", name)
    return view


async def give_up(writer: Writer, redactor: Redactor, error: BaseException) -> None:
    """It could not be opened."""
    reason = str(error) if isinstance(error, AirbossError) else "The start was interrupted."
    with contextlib.suppress(StoreUnavailable):  # the next server finds it unfinished
        clean = excerpt(redactor, reason, MOST_OF_A_REASON)
        await writer.commit(SessionClosed(reason=clean, who="airboss"))
    writer.release()


@dataclass(frozen=True)
class LeftOpen:
    """What the runtime calls it, and whoever had decided something that its agent was not told:
    such a session is to be resumed."""

    runtime_id: str
    decided_by: str | None


async def interrupt_left_open(
    log: EventLog, index: ViewIndex, inbox: Writer
) -> dict[SessionId, LeftOpen]:
    """Whatever an earlier server had open; answers which."""
    found: dict[SessionId, LeftOpen] = {}
    before: PageEnd | None = None
    while bodies := await index.page("session", OPEN_STATES, before, 100):
        views = [SessionView.model_validate_json(body, extra="ignore") for body in bodies]
        before = PageEnd(views[-1].created_at, views[-1].id)
        found |= await interrupt_sessions(log, inbox, views)
    return found


async def interrupt_sessions(
    log: EventLog, inbox: Writer, views: Iterable[SessionView], *, resumes: bool = True
) -> dict[SessionId, LeftOpen]:
    """Those whose worker has ended; nobody else says anything in them. Where one is to be resumed
    by whoever asks here, that is said with it."""
    async with asyncio.TaskGroup() as group:  # together: one write for many
        ends = [
            (view, group.create_task(_interrupt(log, inbox, view, resumes=resumes)))
            for view in views
        ]
    return {view.id: LeftOpen(view.runtime_id, end.result()) for view, end in ends}


async def pending_items_of(log: EventLog, view: SessionView) -> UnansweredItems:
    """Of one that was left open."""
    asks = view.items or view.asking or view.state == "opening"
    return await unanswered_items_of(log, view) if asks else NOTHING_PENDING


async def _interrupt(
    log: EventLog, inbox: Writer, view: SessionView, *, resumes: bool
) -> str | None:
    writer = await log.writer(view.id)
    pending = await pending_items_of(log, view)
    of_task = [item for item in view.items if not goes_on_meanwhile(item.asked)]
    stay = of_task if view.task else pending.waiting
    effects = await effects_of_turn(log, view.id, view.turn) if view.turn else ()
    ends = interrupting(view, writer.left_open, stay, effects)
    if pending.who and resumes:
        ends.append(SessionResumed(who=pending.who))
    await log.commit(*with_inbox(writer, inbox, *ends), *_not_listed(inbox, stay))
    writer.release()
    return pending.who


def _not_listed(inbox: Writer, stay: Iterable[InboxItem]) -> list[LogLine]:
    """Earlier versions wrote an item to the inbox behind its session, and may have ended before."""
    view = inbox.view
    listed = {item.id for item in view.items} if isinstance(view, InboxView) else set[ItemId]()
    return [inbox.line(InboxArrived(item=item)) for item in stay if item.id not in listed]


async def stay_interrupted(
    log: EventLog, inbox: Writer, redactor: Redactor, session: str, error: AirbossError
) -> None:
    """It could not be resumed. What it asked waits on, where the runtime still knows it."""
    reason = excerpt(redactor, str(error), MOST_OF_A_REASON)
    with contextlib.suppress(StoreUnavailable):  # the next server tries again
        writer = await log.writer(session)
        view = session_of(writer.view, session)
        said: list[Event] = []
        if isinstance(error, SessionGone):
            said += withdrawn(view.items, reason)
        if view.state == "opening":  # said with the decision that was to resume it
            said.append(SessionInterrupted(reason=reason))
        if said:
            await log.commit(*with_inbox(writer, inbox, *said))
        writer.release()


def interrupting(
    view: SessionView,
    left_open: Iterable[OpenBlock],
    stay: Collection[InboxItem],
    effects: tuple[str, ...] = (),
) -> list[Event]:
    """What an earlier server left undone is ended, and can be resumed. What is to `stay` asked is
    asked again then."""
    ends: list[Event] = [_cut(left.start, left.text) for left in left_open]
    if view.turn:
        ends.append(
            TurnEnded(
                turn=view.turn,
                outcome="interrupted",
                usage=_known(view),
                replay_safe=not effects,
                effects=effects,
            )
        )
    # The task that asked has ended with its server.
    of_tasks = [queued.prompt for queued in view.queue if queued.task]
    ends += [PromptDropped(prompt=prompt, reason=_RESTARTED) for prompt in of_tasks]
    gone = [item for item in view.items if item not in stay]
    said = [settled for item in gone for settled in withdrawn([item], why_withdrawn(item.asked))]
    return [*ends, *said, SessionInterrupted(reason=_RESTARTED)]


def closing(view: SessionView, who: str) -> list[Event]:
    """What ends a session that no runtime has, with what was still in its queue."""
    dropped = [
        PromptDropped(prompt=queued.prompt, reason="The session was closed.")
        for queued in view.queue
    ]
    return [*dropped, *withdrawn(view.items), SessionClosed(reason=f"Closed by {who}.", who=who)]


def _known(view: SessionView) -> Usage:
    """What the turn is known to have used; one that called a model was a turn."""
    return view.spending + Usage(turns=1) if view.spending != Usage() else view.spending


def withdrawn(items: Iterable[InboxItem], reason: str | None = None) -> list[ItemSettled]:
    """Who asked has ended, and so has what it asked."""
    return [ItemSettled(item=item.id, outcome="cancelled", reason=reason) for item in items]


def _cut(start: Event, text: str) -> Event:
    match start:
        case ReasoningStarted():
            return ReasoningEnded(block=start.block, text=text, cut=True)
        case MessageStarted():
            return MessageEnded(block=start.block, text=text, cut=True)
        case ToolStarted():
            error = ToolError(message=_BEFORE_END, code="interrupted")
            return ToolEnded(
                block=start.block, text=text, error=error, cut=True, extension=start.extension
            )
        case _:
            raise TypeError(f"{start.kind} starts no block")
