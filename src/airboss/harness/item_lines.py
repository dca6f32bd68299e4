"""What a session asks of people, as lines of its own log and of the inbox."""

from airboss.log.writer import LogLine, Writer, now_ms
from airboss.model.events import Event, SessionError
from airboss.model.ids import SessionId
from airboss.model.inbox_events import (
    Asked,
    AskedOfPerson,
    InboxArrived,
    InboxSettled,
    ItemSettled,
    LimitReached,
    SignInAsked,
    SwitchAsked,
)
from airboss.model.views import SessionView, item_of

# Of what a runtime asked, and does not ask again.
_MODEL_GAVE_UP = (
    "The turn ended with the server or the agent runtime, and what it asked with it. Send the "
    "message again."
)


def is_asked_again(asked: Asked) -> bool:
    """Whether a session that is resumed in the middle of its turn comes back to it. It does not
    where a check of the gate asked, where the agent only said nothing for long, and where its
    model's service was at its limit."""
    if isinstance(asked, LimitReached):
        return asked.limit != "idleMinutes"
    if isinstance(asked, SwitchAsked | SignInAsked):
        return isinstance(asked, SignInAsked)
    return asked.call is not None


def why_withdrawn(asked: Asked) -> str | None:
    """Where its session was cut off, if that needs saying."""
    return _MODEL_GAVE_UP if isinstance(asked, SwitchAsked) else None


def reason_of(asked: Asked) -> str:
    match asked.kind:
        case "approval.asked":
            return f"your approval: {asked.title}"
        case "question.asked" if asked.by:
            return f"your decision: {asked.question.partition(chr(10))[0]}"
        case "question.asked":
            return f"your answer: {asked.question}"
        case "limit.reached":
            limit = f"{asked.allowed:g} {asked.limit} of the {asked.scope}"
            return f"your decision: the limit of {limit} is reached"
        case "plan.asked":
            return "your approval of the agent's plan"
        case "sign-in.asked":
            return f"your sign-in at the MCP server {asked.server} ({asked.address})"
        case "switch.asked":
            return f"your decision: {asked.model} is at its limit"


def not_used(asked: Asked, settled: ItemSettled) -> SessionError:
    """A decision that came to nothing."""
    message = (
        f"The agent was resumed and no longer asks for what {settled.who} decided "
        f"({settled.outcome}). The decision had no effect; tell the agent again what you want."
    )
    return SessionError(name="DecisionNotUsed", message=message, cause=reason_of(asked))


def with_inbox(
    session: Writer, inbox: Writer, *events: Event, at: int | None = None
) -> list[LogLine]:
    """The lines of a session, and behind each that concerns an item the inbox's own. What is asked
    is asked `at` that time.

    Both are kept: the session's stream goes with its session and tells its story in order, and the
    inbox is what pages, the command line and notices follow without opening every session. Since
    both are written by one call, none of them is ever behind the other.
    """
    lines: list[LogLine] = []
    for event in events:
        lines.append(session.line(event))
        if (repeated := _for_inbox(session, event, at or now_ms())) is not None:
            lines.append(inbox.line(repeated))
    return lines


def _for_inbox(session: Writer, event: Event, at: int) -> InboxArrived | InboxSettled | None:
    match event:
        case ItemSettled():
            return no_longer_waits(session.stream.name, event)
        case AskedOfPerson():
            view = session.view
            if isinstance(view, SessionView):
                return InboxArrived(item=item_of(view, at, event))
        case _:
            pass
    return None


def no_longer_waits(session: str, settled: ItemSettled) -> InboxSettled:
    return InboxSettled(
        item=settled.item, session=SessionId(session), outcome=settled.outcome, who=settled.who
    )
