"""What is asked of people and what becomes of it, in the session's stream and in the inbox at once.

Both are kept: the session's stream goes with its session and tells its story in order, and the
inbox is what pages, the command line and notices follow without opening every session. Since both
are written by one call, none of them is ever behind the other.
"""

from airboss.log.writer import LogLine, Writer, now_ms
from airboss.model.events import Event
from airboss.model.ids import SessionId
from airboss.model.inbox_events import (
    ApprovalAsked,
    InboxArrived,
    InboxSettled,
    ItemSettled,
    LimitReached,
    QuestionAsked,
)
from airboss.model.views import SessionView, item_of


def with_inbox(session: Writer, inbox: Writer, *events: Event) -> list[LogLine]:
    """The lines of a session, and behind each that concerns an item the inbox's own."""
    lines: list[LogLine] = []
    for event in events:
        lines.append(session.line(event))
        if (repeated := _for_inbox(session, event)) is not None:
            lines.append(inbox.line(repeated))
    return lines


def _for_inbox(session: Writer, event: Event) -> InboxArrived | InboxSettled | None:
    match event:
        case ItemSettled():
            return no_longer_waits(session.stream.name, event)
        case ApprovalAsked() | QuestionAsked() | LimitReached():
            view = session.view
            if isinstance(view, SessionView):
                return InboxArrived(item=item_of(view, now_ms(), event))
        case _:
            pass
    return None


def no_longer_waits(session: str, settled: ItemSettled) -> InboxSettled:
    return InboxSettled(
        item=settled.item, session=SessionId(session), outcome=settled.outcome, who=settled.who
    )
