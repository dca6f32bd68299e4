"""Who decided what in a run: people one by one, rules and policies counted."""

from collections import Counter
from typing import Final

from airboss.log.log import EventLog
from airboss.model.events import Event, PermissionDecided
from airboss.model.ids import SessionId
from airboss.model.inbox_events import (
    ASKED_KINDS,
    ApprovalAsked,
    AskedOfPerson,
    ItemSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
    SwitchAsked,
)
from airboss.model.run_titles import clipped
from airboss.service.report_parts import DecisionsMade, PersonsDecision
from airboss.service.run_facts import RunFacts

_KINDS: Final = (
    *ASKED_KINDS,
    "item.settled",
    "permission.decided",
)
_MOST: Final = 20_000
_MOST_LISTED: Final = 200
_LONGEST: Final = 300
_BY_PEOPLE: Final = ("person", "nobody")


async def decisions_of(log: EventLog, facts: RunFacts) -> DecisionsMade:
    owners = {opened.session: opened.task_run for opened in facts.sessions}
    said = await log.among(list(owners), _KINDS, _MOST)
    asked: dict[str, tuple[int, Event]] = {}
    people: list[PersonsDecision] = []
    counts: Counter[bool] = Counter()
    by: Counter[str] = Counter()
    for session, recorded in said:
        match recorded.event:
            case AskedOfPerson() as event:
                asked[event.item] = (recorded.at, event)
            case ItemSettled() as event if event.item in asked:
                since, about = asked[event.item]
                people.append(
                    PersonsDecision(
                        at=recorded.at,
                        what=_words(about),
                        outcome=event.outcome,
                        who=event.who,
                        answer=event.answer and clipped(event.answer, _LONGEST),
                        task=facts.name_of(owners[session]),
                        session=SessionId(session),
                        waited_ms=recorded.at - since,
                    )
                )
            case PermissionDecided() as event if not event.by.startswith(_BY_PEOPLE):
                counts[event.allowed] += 1
                by[event.by] += 1
            case _:
                pass
    people.sort(key=lambda one: one.at)
    return DecisionsMade(
        people=people[:_MOST_LISTED],
        allowed=counts[True],
        denied=counts[False],
        by=dict(by.most_common(20)),
        more=len(people) > _MOST_LISTED or len(said) >= _MOST,
    )


def _words(asked: Event) -> str:
    match asked:
        case ApprovalAsked():
            subject = asked.subject
            about = subject.command or subject.path or subject.address
            return clipped(" ".join((about or asked.title).split()), _LONGEST)
        case QuestionAsked():
            return clipped(" ".join(asked.question.split()), _LONGEST)
        case LimitReached():
            return f"the limit of {asked.limit} of the {asked.scope}"
        case PlanAsked():
            return clipped(" ".join(f"the plan: {asked.summary}".split()), _LONGEST)
        case SignInAsked():
            return f"the sign-in at the MCP server {asked.server}"
        case SwitchAsked():
            return f"to go on with another model than {asked.model}"
        case _:
            return ""
