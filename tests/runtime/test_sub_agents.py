"""Sub-agents and skills of the real runtime, as events."""

import json
from pathlib import Path

import pytest

from airboss.model.events import ToolStarted
from airboss.model.redaction import Redactor
from airboss.model.setup import AgentSetup, Setup
from airboss.model.sub_agent_events import SkillInvoked, SubAgentEnded, SubAgentStarted
from airboss.runtime.blocks import Said
from airboss.runtime.signals import TurnIdle, UsageSeen
from airboss.runtime.sub_agents import SubAgents
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio


async def test_the_work_of_an_agent_is_told_with_its_model_its_skill_and_its_usage(
    flight: Flight, listener: Listener, tmp_path: Path
) -> None:
    (tmp_path / "skills" / "owl").mkdir(parents=True)
    head = "---\nname: owl\ndescription: All about owls\n---\nThe owl is blue.\n"
    (tmp_path / "skills" / "owl" / "SKILL.md").write_text(head, "utf-8")
    reviewer = AgentSetup(description="d", prompt="p", model="other", skills=("owl",))
    setup = Setup(agents={"reviewer": reviewer}, skills=(str(tmp_path / "skills"),))
    session = await flight.session(listener, setup=setup)
    task = {"agent_type": "reviewer", "name": "r", "description": "d", "mode": "sync"}
    await session.send(f"call task {json.dumps({**task, 'prompt': 'say hi'})}")
    await listener.until(TurnIdle)
    [call] = listener.all(ToolStarted)
    assert listener.all(SubAgentStarted) == [
        SubAgentStarted(parent=call.block, agent="reviewer", model="other")
    ]
    assert listener.all(SkillInvoked) == [
        SkillInvoked(name="owl", description="All about owls", parent=call.block, preloaded=True)
    ]
    [ended] = listener.all(SubAgentEnded)
    assert (ended.parent, ended.outcome, ended.tool_calls) == (call.block, "done", 0)
    [below] = [seen for seen in listener.all(UsageSeen) if seen.sub_agent]
    assert (below.parent, below.model, below.output_tokens) == (call.block, "other", 5)
    listener.told.clear()
    await session.send(f"call skill {json.dumps({'skill': 'owl'})}")
    await listener.until(TurnIdle)
    assert listener.all(SkillInvoked) == [SkillInvoked(name="owl", description="All about owls")]


def test_one_that_fails_or_is_stopped_says_so_without_secrets() -> None:
    redactor = Redactor(("hunter2-secret",))
    agents, said = SubAgents(redactor, lambda call: call), list[object]()

    def hear(kind: str, **data: object) -> None:
        told: Said = []
        agents.hear({"type": kind, "agentId": "a1"}, {"agentName": "r", **data}, told)
        said.extend(told)

    hear("subagent.started", toolCallId="c1")
    hear("subagent.failed", toolCallId="c1", error="hunter2-secret is wrong")
    hear("subagent.started", toolCallId="c2")
    hear("subagent.completed", toolCallId="c2", cancelled=True)
    hear("subagent.completed", toolCallId="c3")
    [_, failed, _, stopped] = said
    assert isinstance(failed, SubAgentEnded)
    assert isinstance(stopped, SubAgentEnded)
    assert failed.outcome == "failed"
    assert failed.error is not None
    assert "hunter2" not in failed.error
    assert (stopped.parent, stopped.outcome, stopped.error) == ("c2", "cancelled", None)
