"""Agents that repeat themselves, on the real runtime: warned, refused and stopped."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.crashes import is_crash
from airboss.model.events import Event, SessionError, ToolEnded, ToolStarted, TurnEnded
from airboss.model.gate_events import LoopNoticed, ToolVetoed
from airboss.model.ids import TaskRunId
from airboss.model.views import SessionView
from tests.service.house import ME, House, house_in

pytestmark = pytest.mark.anyio


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"tool": tool, "arguments": arguments}}


def shell(command: str) -> dict[str, Any]:
    return call("bash", command=command, description="as asked")


LOOK, WRITE = shell("echo the same"), shell("echo more >> counted; wc -l counted")
SAY = {"say": "Done."}
STORIES: dict[str, list[dict[str, Any]]] = {
    "again": [*[LOOK] * 40, SAY],
    "nineteen": [*[LOOK] * 20, SAY],
    "progress": [*[WRITE] * 40, SAY],
    "to and fro": [*[LOOK, call("glob", pattern="*.none")] * 20, SAY],
    "missing": [*[call("fly", to=f"place {number}") for number in range(20)], SAY],
    "report": [*[call("job_boolean_true", argument="It holds.")] * 30, SAY],
    "below": [
        call(
            "task",
            agent_type="general-purpose",
            name="helper",
            description="help",
            mode="sync",
            prompt="again",
        ),
        SAY,
    ],
    "denied": [*[call("web_fetch", url="https://example.com/")] * 30, SAY],
}


@asynccontextmanager
async def rehearsed(folder: Path, **settings: Any) -> AsyncGenerator[House]:
    rules = [{"when": f"^{name}$", "steps": steps} for name, steps in STORIES.items()]
    script = folder / "script.yaml"
    script.write_text(json.dumps({"rules": rules}), encoding="utf-8")
    chosen = {"permissions": "approve-all", **settings}
    async with house_in(folder, rehearsal=script, **chosen) as house:
        yield house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with rehearsed(tmp_path) as house:
        yield house


async def told(house: House, prompt: str) -> list[Event]:
    """The story of one turn."""
    view: SessionView = await house.start()
    await house.sessions.prompt(view.id, prompt, ME)
    await house.until(view.id, "idle", turns=1)
    return await house.story(view.id)


def made(story: list[Event]) -> int:
    """How many calls came to their end with success."""
    return sum(isinstance(event, ToolEnded) and event.error is None for event in story)


def loops(story: list[Event]) -> list[tuple[str, str, int]]:
    found = [event for event in story if isinstance(event, LoopNoticed)]
    return [(event.level, event.detector, event.count) for event in found]


def vetoes(story: list[Event]) -> list[ToolVetoed]:
    return [event for event in story if isinstance(event, ToolVetoed)]


def outcome(story: list[Event]) -> str:
    [ended] = [event for event in story if isinstance(event, TurnEnded)]
    return ended.outcome


async def test_an_agent_that_repeats_itself_is_warned_refused_and_stopped(house: House) -> None:
    """LOOP-5, LOOP-8, LOOP-10 (a, b, c)."""
    story = await told(house, "again")
    assert made(story) == 20
    assert loops(story) == [("warning", "repeat", 10)] + [("critical", "repeat", 20)] * 5
    blocks = [event.block for event in story if isinstance(event, ToolStarted)][20:25]
    assert [(veto.denied, veto.block) for veto in vetoes(story)] == [
        ("tool-loop", block) for block in blocks
    ]
    [error] = [event for event in story if isinstance(event, SessionError)]
    assert error.name == "ToolLoop"
    assert "20 times" in error.message
    assert "refused 5 times" in error.message
    assert outcome(story) == "failed"


async def test_the_next_request_of_a_stopped_agent_works(house: House) -> None:
    """LOOP-2: another turn begins anew."""
    view = await house.start()
    await house.sessions.prompt(view.id, "again", ME)
    await house.sessions.prompt(view.id, "nineteen", ME)
    await house.until(view.id, "idle", turns=2)
    story = await house.story(view.id)
    ends = [event.outcome for event in story if isinstance(event, TurnEnded)]
    assert ends == ["failed", "done"]
    assert len(vetoes(story)) == 5


async def test_a_task_is_not_tried_again_for_a_loop(house: House) -> None:
    view = await house.start()
    asked = await house.sessions.ask(view.id, "again", ME, TaskRunId("tsk_1"))
    report = await asked.report()
    assert report.outcome == "failed"
    assert report.error is not None
    assert report.error.name == "ToolLoop"
    assert not is_crash(report)


async def test_progress_is_not_mistaken_for_a_loop(house: House) -> None:
    """LOOP-5: the same command forty times, and another output each time."""
    story = await told(house, "progress")
    assert (made(story), vetoes(story), outcome(story)) == (40, [], "done")
    assert {level for level, _, _ in loops(story)} == {"warning"}


async def test_two_calls_in_turn_are_stopped(house: House) -> None:
    """LOOP-7, LOOP-10 (e): neither of the two goes on."""
    story = await told(house, "to and fro")
    assert made(story) == 19
    assert loops(story)[:2] == [("warning", "ping-pong", 10), ("critical", "ping-pong", 20)]
    assert {veto.tool for veto in vetoes(story)} == {"bash", "glob"}
    assert outcome(story) == "failed"


async def test_a_tool_that_does_not_exist_is_refused_after_ten(house: House) -> None:
    """LOOP-5."""
    story = await told(house, "missing")
    found = [loop for loop in loops(story) if loop[0] == "critical"]
    assert found == [("critical", "unknown-tool", 10)] * 5
    assert outcome(story) == "failed"


async def test_the_job_tools_pass_the_gate_like_all_others(house: House) -> None:
    """LOOP-10 (d)."""
    story = await told(house, "report")
    assert made(story) == 20
    assert {veto.tool for veto in vetoes(story)} == {"job_boolean_true"}


async def test_a_sub_agent_that_repeats_itself_ends_the_turn(house: House) -> None:
    story = await told(house, "below")
    assert [loop for loop in loops(story) if loop[0] == "critical"] == [
        ("critical", "repeat", 20)
    ] * 5
    assert outcome(story) == "failed"


async def test_what_is_denied_again_and_again_is_a_loop_too(tmp_path: Path) -> None:
    """LOOP-10 (d): a refused permission is an outcome."""
    async with rehearsed(tmp_path, permissions="read-only") as house:
        story = await told(house, "denied")
    assert made(story) == 0
    assert [loop for loop in loops(story) if loop[0] == "critical"] == [
        ("critical", "repeat", 20)
    ] * 5


async def test_the_counts_can_be_changed(tmp_path: Path) -> None:
    """LOOP-1."""
    rules = {"warning": 2, "critical": 4, "blocks": 1}
    async with rehearsed(tmp_path, loop_detection=rules) as house:
        story = await told(house, "again")
    assert made(story) == 4
    assert loops(story) == [("warning", "repeat", 2), ("critical", "repeat", 4)]
    assert outcome(story) == "failed"


async def test_it_can_be_switched_off(tmp_path: Path) -> None:
    """LOOP-1."""
    async with rehearsed(tmp_path, loop_detection={"enabled": False}) as house:
        story = await told(house, "again")
    assert (made(story), loops(story), outcome(story)) == (40, [], "done")
