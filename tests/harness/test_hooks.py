"""The hooks of a session by themselves: whom they are asked about, in order, and what is told."""

import os
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.gate import Change, GateRefusal
from airboss.harness.hooks import MOST_STOPS, SessionHooks
from airboss.model.hook_events import HookRan
from airboss.model.setup import HookSetup
from airboss.runtime.hook_process import HookPrograms
from airboss.runtime.hooks import ToolUse
from tests.harness.states import REDACTOR

pytestmark = pytest.mark.anyio


class Told:
    """Hooks, each a shell's line, and what was told of them."""

    def __init__(self, folder: Path, *hooks: HookSetup) -> None:
        self.events: list[HookRan] = []
        environ = {"PATH": os.environ["PATH"]}
        self.hooks = SessionHooks(
            hooks, HookPrograms(environ, folder), REDACTOR, dict[str, Any], self.events.append
        )


def shell(name: Any, words: str, **more: Any) -> HookSetup:
    return HookSetup(hook=name, command=("sh", "-c", words), **more)


async def test_each_is_given_what_those_before_it_changed(tmp_path: Path) -> None:
    first = shell("userPromptSubmitted", """echo '{"modifiedPrompt": "one"}'""")
    second = shell(
        "userPromptSubmitted", """grep -q '"one"' && echo '{"additionalContext": "two"}'"""
    )
    told = Told(tmp_path, first, second)
    said = await told.hooks.answer("userPromptSubmitted", {"prompt": "zero"})
    assert said == {"modifiedPrompt": "one", "additionalContext": "two"}
    assert [event.decided for event in told.events] == ["changed", "changed"]


async def test_a_no_where_nothing_can_be_stopped_is_a_failure(tmp_path: Path) -> None:
    told = Told(tmp_path, shell("sessionEnd", "exit 2"))
    assert await told.hooks.answer("sessionEnd", {}) == {}
    assert told.events[0].error is not None


async def test_an_agent_is_told_to_go_on_so_often_and_no_more(tmp_path: Path) -> None:
    told = Told(tmp_path, shell("agentStop", "echo more >&2; exit 2"))
    blocked = {"decision": "block", "reason": "more"}
    for _ in range(MOST_STOPS):
        assert await told.hooks.answer("agentStop", {}) == blocked
    assert await told.hooks.answer("agentStop", {}) == {}
    told.hooks.turn_began()
    assert await told.hooks.answer("agentStop", {}) == blocked


async def test_at_the_gate_a_hook_changes_asks_or_refuses_and_never_allows(tmp_path: Path) -> None:
    use = ToolUse("bash", {"command": "ls"})

    async def judged(words: str, **more: Any) -> object:
        [check] = Told(tmp_path, shell("preToolUse", words, **more)).hooks.checks
        return await check(use)

    assert await judged("true") is None
    assert await judged("""echo '{"permissionDecision": "allow"}'""") is None
    assert await judged("""echo '{"modifiedArgs": {"a": 1}}'""") == Change({"a": 1})
    asked = """echo '{"permissionDecision": "ask", "permissionDecisionReason": "Sure?"}'"""
    assert await judged(asked) == Change(None, None, "Sure?")
    assert await judged("echo no >&2; exit 2") == GateRefusal("no")
    assert isinstance(await judged("exit 1"), GateRefusal)
    assert isinstance(await judged("""echo '{"modifiedArgs": 5}'"""), GateRefusal)
    assert await judged("exit 2", tool="view") is None
    assert await judged("exit 2", tool="@run") == GateRefusal("It gave no reason.")


async def test_what_was_too_large_to_be_read_is_passed_over_and_told(tmp_path: Path) -> None:
    told = Told(tmp_path, shell("postToolUse", "true"))
    assert await told.hooks.answer("postToolUse", None) == {}
    assert told.events[0].error == "It was not asked: what it would be told is too large."


def test_the_runtime_is_asked_only_for_those_that_a_session_has(tmp_path: Path) -> None:
    told = Told(tmp_path, shell("preToolUse", "true"), shell("modelInput", "true"))
    assert told.hooks.names == {"userPromptTransformed"}
    assert Told(tmp_path, shell("agentEnd", "true")).hooks.names == frozenset()
