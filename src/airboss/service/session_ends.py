"""What is said when a session ends that no runtime has any more."""

from collections.abc import Iterable
from typing import Final

from airboss.log.rows import OpenBlock
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
from airboss.model.inbox_events import ItemSettled
from airboss.model.usage import Usage
from airboss.model.views import SessionView

_RESTARTED: Final = "The server ended while this session was open."
_BEFORE_END: Final = "The session was interrupted before this tool ended."


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
