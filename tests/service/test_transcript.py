"""What an exported transcript tells of hooks: those that changed, refused or failed."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.log.log import EventLog
from airboss.model.hook_events import HookRan
from airboss.service.transcript import passages
from tests.harness.states import SESSION, state_in
from tests.log.conftest import log_in


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as log:
        yield log


async def test_a_hook_is_told_where_it_had_a_say_or_failed(log: EventLog) -> None:
    state = await state_in(log)
    ran = HookRan(hook="preToolUse", program="check.sh", milliseconds=5, tool="bash")
    blocked = ran.model_copy(update={"decided": "blocked", "reason": "Never."})
    failed = HookRan(hook="agentStop", program="a.py:stop", milliseconds=5, error="It was late.")
    await state.writer.commit(ran, blocked, failed)
    told = [passage.title async for passage in passages(log, SESSION)]
    assert told == [
        "the preToolUse hook check.sh for bash: blocked: Never.",
        "the agentStop hook a.py:stop failed: It was late.",
    ]
