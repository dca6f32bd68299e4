"""A session's agents in the SDK's words."""

from collections.abc import Sequence
from typing import Any

from airboss.model.setup import AgentSetup, Setup
from airboss.model.tool_lists import KNOWN, agents_words, matches
from airboss.model.tool_table import GITHUBS_SERVER, OURS


def agent_options(setup: Setup) -> dict[str, Any]:
    """What a session is opened with, and resumed with: the runtime forgets it."""
    github = (GITHUBS_SERVER,) if setup.tools.github else ()
    servers = (*setup.mcp_servers, *github)
    agents = [
        _agent(name, agent, servers, is_session=name == setup.agent)
        for name, agent in setup.agents.items()
    ]
    return {
        "custom_agents": agents or None,
        "agent": setup.agent,
        "skill_directories": list(setup.skills) or None,
    }


def _agent(
    name: str, agent: AgentSetup, servers: Sequence[str], *, is_session: bool
) -> dict[str, Any]:
    said = {
        "name": name,
        "description": agent.description,
        "prompt": agent.prompt,
        "tools": tool_names(agent, servers, is_session=is_session),
        "model": agent.model,
        # Left out, another model answers in silence where this one is not there.
        "model_policy": agent.model and "required",
        "reasoning_effort": agent.reasoning_effort,
        "skills": list(agent.skills),
    }
    return {key: value for key, value in said.items() if value or key == "tools"}


def tool_names(agent: AgentSetup, servers: Sequence[str], *, is_session: bool) -> list[str] | None:
    """Exact names, and `SERVER/TOOL` or `SERVER/*` of the session's `servers`: of all else the
    runtime makes nothing. None for all that the session has. The agent that the session is keeps
    our own tools, without which no task ends."""
    if agent.tools is None and agent.mcp_servers is None:
        return None
    words = KNOWN if agent.tools is None else agent.tools
    own = [name for name in KNOWN if any(matches(word, name) for word in words)]
    ours = [name for name in OURS if name not in own] if is_session else []
    named = [f"{name}/*" for name in agent.mcp_servers or ()]
    of_servers = [one for word in words for one in agents_words(word, servers)]
    return [*own, *ours, *dict.fromkeys((*of_servers, *named))]
