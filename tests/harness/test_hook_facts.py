"""What hooks are told beside what they are asked about, and where a session has none."""

import asyncio

import pytest

from airboss.harness.gate import HOOK_SECONDS
from airboss.harness.hook_facts import (
    blocked_words,
    built_prompt,
    close_hooks,
    gate_checks,
    leave_hooks,
    tell_turn_ended,
    written_prompt,
)
from airboss.harness.turn import Turn
from airboss.model.ids import new_turn_id
from airboss.runtime.hooks import ToolUse

pytestmark = pytest.mark.anyio


async def test_without_hooks_all_is_as_it_was() -> None:
    async def ask(use: ToolUse, why: str) -> bool:
        del use, why
        return True

    assert await built_prompt(None, "hello", 0, asyncio.Event()) == "hello"
    assert await written_prompt(None, "hello", "me") == "hello"
    tell_turn_ended(None, Turn(new_turn_id()), None)
    leave_hooks(None)
    await close_hooks(None)
    checks = gate_checks(None, (), ask)
    assert (checks.hooks, checks.after, checks.hook_seconds) == ((), (), HOOK_SECONDS)


async def test_without_hooks_a_prompt_is_built_without_a_pause() -> None:
    building = built_prompt(None, "hello", 0, asyncio.Event())
    with pytest.raises(StopIteration) as over:
        building.send(None)  # it would answer with what it waits for
    assert over.value.value == "hello"


def test_a_refusal_says_that_it_was_a_hook() -> None:
    assert blocked_words("No.") == "A hook refused the request: No."
