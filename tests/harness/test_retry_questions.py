"""The question whether what crashed may be tried again: what it shows, and how it is found."""

import asyncio
import json

from airboss.harness.item_lines import reason_of, with_inbox
from airboss.harness.retry_questions import (
    STOP,
    TRY_AGAIN,
    RetrySettled,
    retry_question,
    retry_question_of,
    retry_settled,
)
from airboss.log.log import EventLog
from airboss.model.events import ToolStarted
from airboss.model.ids import ItemId, TaskRunId
from airboss.model.inbox_events import ItemOutcome, ItemSettled, QuestionAsked
from tests.harness.states import SESSION, state_in


def call(tool: str, **arguments: object) -> ToolStarted:
    return ToolStarted(block=tool, name=tool, arguments=json.dumps(arguments))


def test_it_shows_the_calls_in_a_line_each() -> None:
    calls = [
        call("bash", command="./deploy.sh\n--all", description="deploy"),
        call("create", path="/work/a.txt", file_text="x" * 900),
        call("mail-send", to="team", text="y" * 900),
    ]
    asked = retry_question(("bash", "create"), calls * 7)
    lines = asked.question.split("\n")
    assert lines[0] == "Try again after a crash? The agent had used bash, create."
    assert lines[3:5] == ["- bash: ./deploy.sh --all", "- create: /work/a.txt"]
    assert lines[5].startswith('- mail-send: {"to": "team"')
    assert max(len(line) for line in lines) <= 210
    assert lines[-1] == "- and 1 more: the session shows all of them"
    assert (asked.choices, asked.allows_words, asked.by) == ((TRY_AGAIN, STOP), False, "airboss")
    assert reason_of(asked) == f"your decision: {lines[0]}"


async def answered(log: EventLog, outcome: ItemOutcome, answer: str | None) -> RetrySettled:
    state = await state_in(log, task=TaskRunId("tsk_1"))
    other = QuestionAsked(item=ItemId("itm_agent"), question="Which?")
    asked = retry_question(("bash",), ())
    assert await retry_settled(log, SESSION, None) == RetrySettled(again=False)
    await log.commit(*with_inbox(state.writer, state.inbox, other, asked))
    found = await retry_question_of(log, SESSION)
    assert found
    assert (found.asked, found.settled) == (asked, None)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(retry_settled(log, SESSION, None))
        settled = ItemSettled(item=asked.item, outcome=outcome, who="lx", answer=answer)
        await log.commit(*with_inbox(state.writer, state.inbox, settled))
    return waiting.result()


async def test_only_its_own_yes_is_one(log: EventLog) -> None:
    assert await answered(log, "answered", TRY_AGAIN) == RetrySettled(again=True, who="lx")


async def test_a_decline_is_a_no(log: EventLog) -> None:
    assert await answered(log, "declined", None) == RetrySettled(again=False, who="lx")
