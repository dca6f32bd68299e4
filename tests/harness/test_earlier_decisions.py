"""Nobody decides twice about a mission that was cut off; and nothing is allowed that nobody saw."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.harness.earlier_decisions import earlier_decisions_of
from airboss.harness.item_marks import call_mark
from airboss.log.log import EventLog
from airboss.model.events import SessionOpened
from airboss.model.ids import ItemId, PromptId, SessionId, TaskRunId
from airboss.model.inbox_events import ApprovalAsked, ItemSettled, Subject
from airboss.model.task_events import Mission, MissionSent, TaskAccepted
from tests.log.conftest import log_in

TASK, SESSION = TaskRunId("tsk_one"), SessionId("ses_one")
FIRST, SECOND = PromptId("pro_first"), PromptId("pro_second")


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as running:
        yield running


async def a_command_that_was_allowed(log: EventLog) -> None:
    """For the call `call_1` of the first sending of a mission."""
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    accepted = TaskAccepted(
        task="plan", entry="e", model="m", cwd="/", policy="ask", user_input="", who="me"
    )
    sent = [
        MissionSent(
            mission=Mission(kind="prompt", round=0, attempt=attempt),
            session=SESSION,
            prompt=prompt,
            text="Do it",
        )
        for attempt, prompt in enumerate((FIRST, SECOND), start=1)
    ]
    await task.commit(accepted, *sent)
    asked = ApprovalAsked(
        item=ItemId("itm_one"),
        request="req_1",
        call="call_1",
        wish="shell",
        title="Run a command",
        description="",
        severity="high",
        subject=Subject(command="make deploy"),
        fingerprint="deploy",
        prompt=FIRST,
    )
    opened = SessionOpened(model="m", cwd="/", policy="ask", who=f"task {TASK}", task=TASK)
    allowed = ItemSettled(item=asked.item, outcome="allow-once", who="ada")
    await session.commit(opened, asked, allowed)


async def test_what_goes_on_uses_a_decision_for_the_same_call_only(log: EventLog) -> None:
    await a_command_that_was_allowed(log)
    found = await earlier_decisions_of(log, SESSION, FIRST)
    assert list(found) == [call_mark("call_1", "deploy")]


async def test_what_is_done_again_uses_what_was_decided_in_the_attempt_before(
    log: EventLog,
) -> None:
    await a_command_that_was_allowed(log)
    found = await earlier_decisions_of(log, SESSION, SECOND)
    assert [settled.who for settled in found["deploy"]] == ["ada"]
