"""What people decided in an earlier attempt at the same mission: nobody is asked twice.

A mission that was cut off is put to a session again, and the agent asks for the same as before.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from airboss.harness.item_marks import call_mark, plain_mark
from airboss.harness.pending_items import EarlierDecisions
from airboss.log.log import EventLog
from airboss.model.events import Recorded
from airboss.model.ids import ItemId, PromptId, SessionId
from airboss.model.inbox_events import (
    ASKED_KINDS,
    ApprovalAsked,
    ItemSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
)
from airboss.model.task_events import MissionSent
from airboss.model.views import SessionView

_ITEMS = (*ASKED_KINDS, "item.settled")
_PERSONS = frozenset(
    {
        *("allow-once", "allow-always", "deny", "answered", "declined"),
        *("approved", "rejected", "signed-in"),
    }
)


async def earlier_decisions_of(
    log: EventLog, session: SessionId, prompt: PromptId
) -> EarlierDecisions:
    """By the mark of what was asked, in the order in which it was decided. What an earlier attempt
    did is done again. This very request goes on instead: of what was decided for it only the same
    call is decided, and the same command in another call is asked for again."""
    view = await log.view(session)
    if not isinstance(view, SessionView) or view.task is None:
        return {}
    said = [one.event async for one in events_of(log, view.task, ("task.mission.sent",))]
    sent = [event for event in said if isinstance(event, MissionSent)]
    this = next((one for one in sent if one.prompt == prompt), None)
    if this is None:
        return {}
    mission = (this.mission.kind, this.mission.round)
    alike = [one for one in sent if (one.mission.kind, one.mission.round) == mission]
    found: EarlierDecisions = defaultdict(list)
    prompts = {one.prompt for one in alike}
    for name in dict.fromkeys(one.session for one in alike):
        marks: dict[ItemId, str] = {}
        # What is done again is used again, and what was granted for it is granted again.
        earlier: set[ItemId] = set()
        async for recorded in events_of(log, name, _ITEMS):
            match event := recorded.event:
                case ApprovalAsked() | QuestionAsked() | PlanAsked() if event.prompt in prompts:
                    goes_on = event.prompt == prompt
                    mark = plain_mark(event)
                    marks[event.item] = call_mark(event.call, mark) if goes_on else mark
                case SignInAsked() if event.prompt in prompts:
                    marks[event.item] = plain_mark(event)
                case LimitReached() if event.prompt in prompts:
                    marks[event.item] = plain_mark(event)
                    earlier |= {event.item} if event.prompt != prompt else set()
                case ItemSettled() if event.item in marks and event.outcome in _PERSONS:
                    found[marks[event.item]].append(event)
                case ItemSettled() if event.item in earlier and event.outcome == "go-on":
                    found[marks[event.item]].append(event)
                case _:
                    pass
    return found


async def events_of(
    log: EventLog, stream: str, kinds: Sequence[str], after: int = 0
) -> AsyncIterator[Recorded]:
    await log.last_view(stream)  # what was said a moment ago is on disk then
    while page := await log.transcript(stream, after, kinds=kinds):
        for recorded in page:
            yield recorded
        after = page[-1].seq
