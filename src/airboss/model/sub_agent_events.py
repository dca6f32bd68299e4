"""What is told of the agents that a session's own hands work to, and of the skills that are read.

`parent` is the block of the tool call that began the agent.
"""

from typing import Literal, TypeAlias

from airboss.model.words import Frozen, Words


class SubAgentStarted(Frozen):
    """Work was handed to another agent, on this model."""

    kind: Literal["subagent.started"] = "subagent.started"
    parent: Words
    agent: Words
    model: Words | None = None


class SubAgentSaid(Frozen):
    """A whole message of an agent that the tool call `parent` began; it comes in no pieces."""

    kind: Literal["subagent.said"] = "subagent.said"
    block: Words
    parent: Words
    text: Words


class SubAgentEnded(Frozen):
    """It is done, or failed, or was stopped. What it used is told with each of its model's calls
    (`turn.usage`)."""

    kind: Literal["subagent.ended"] = "subagent.ended"
    parent: Words
    agent: Words
    model: Words | None = None
    outcome: Literal["done", "failed", "cancelled"] = "done"
    error: Words | None = None
    tool_calls: int | None = None
    milliseconds: int | None = None


class SkillInvoked(Frozen):
    """An agent has read a skill: its own choice, or with its beginning (`preloaded`). Without a
    parent it was the session's own agent."""

    kind: Literal["skill.invoked"] = "skill.invoked"
    name: Words
    description: Words = ""
    parent: Words | None = None
    preloaded: bool = False


SubAgentEvent: TypeAlias = SubAgentStarted | SubAgentSaid | SubAgentEnded | SkillInvoked
