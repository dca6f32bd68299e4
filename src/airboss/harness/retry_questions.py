"""The question whether what crashed may be tried again: asked once, in the session that crashed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from airboss.harness.earlier_decisions import events_of
from airboss.harness.item_lines import reason_of
from airboss.harness.turn import Pause
from airboss.log.log import EventLog
from airboss.model.events import ToolStarted
from airboss.model.hidden import shortened, visible_line
from airboss.model.ids import new_item_id
from airboss.model.inbox_events import ItemSettled, QuestionAsked

CRASHED: Final = "The turn crashed. A person is asked whether to try again."
TRY_AGAIN: Final = "Try again"
STOP: Final = "Stop the task"
_LOOK_SECONDS: Final = 5.0
_MOST_CALLS: Final = 20
_LONGEST_CALL: Final = 200
# Of a call's arguments, the one that says most.
_TELLING: Final = ("command", "path", "file_path", "url")


@dataclass(frozen=True)
class RetrySettled:
    """Whether to try again, and who said so."""

    again: bool
    who: str | None = None


@dataclass(frozen=True)
class RetryQuestion:
    """What was asked, and what came of it if it is decided."""

    asked: QuestionAsked
    settled: ItemSettled | None = None


def retry_question(effects: Sequence[str], calls: Sequence[ToolStarted]) -> QuestionAsked:
    """`effects` are the tools of all attempts, `calls` those of the last one."""
    lines = [
        f"Try again after a crash? The agent had used {', '.join(effects)}.",
        "",
        "Another attempt gets the same request and may do the same things twice. In the attempt "
        "that crashed, these calls may have changed something:",
        *(f"- {_in_a_line(call)}" for call in calls[:_MOST_CALLS]),
    ]
    if len(calls) > _MOST_CALLS:
        lines.append(f"- and {len(calls) - _MOST_CALLS} more: the session shows all of them")
    return QuestionAsked(
        item=new_item_id(),
        question="\n".join(lines),
        choices=(TRY_AGAIN, STOP),
        allows_words=False,
        by="airboss",
    )


async def retry_question_of(log: EventLog, session: str) -> RetryQuestion | None:
    """Of a session that crashed, where a person was asked."""
    found: RetryQuestion | None = None
    async for recorded in events_of(log, session, ("question.asked", "item.settled")):
        match event := recorded.event:
            case QuestionAsked(by="airboss"):
                found = RetryQuestion(event)
            case ItemSettled() if found and event.item == found.asked.item:
                return RetryQuestion(found.asked, event)
            case _:
                pass
    return found


async def retry_settled(log: EventLog, session: str, pause: Pause | None) -> RetrySettled:
    """However long that takes, also where an earlier server asked."""
    while True:
        head = await log.head(session)
        found = await retry_question_of(log, session)
        if found is None:
            return RetrySettled(again=False)
        if found.settled is not None:
            break
        if pause is not None:
            pause.begin(reason_of(found.asked))
        async with log.follow(session, head) as follower:
            await follower.next(_LOOK_SECONDS)
    if pause is not None:
        pause.behind(None)
    return RetrySettled(found.settled.answer == TRY_AGAIN, found.settled.who)


def _in_a_line(call: ToolStarted) -> str:
    try:
        given: Any = json.loads(call.arguments)
    except ValueError:
        given = call.arguments
    if isinstance(given, dict):
        named = cast("dict[str, Any]", given)
        given = next((named[key] for key in _TELLING if isinstance(named.get(key), str)), named)
    said = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return shortened(visible_line(f"{call.name}: {said}"), _LONGEST_CALL)
