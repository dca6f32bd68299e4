"""A session's agents in the SDK's words."""

from typing import Any

from airboss.model.setup import AgentSetup, Setup
from airboss.model.tool_table import OURS
from airboss.runtime.custom_agents import agent_options, tool_names


def told(**said: Any) -> Any:
    setup = Setup(agents={"a": AgentSetup(description="d", prompt="p", **said)})
    return agent_options(setup)["custom_agents"][0]


def names(*words: str, is_session: bool = False) -> list[str]:
    agent = AgentSetup(description="d", prompt="p", tools=words)
    return tool_names(agent, ("wiki", "files"), is_session=is_session) or []


def test_what_is_left_out_is_left_to_the_runtime() -> None:
    assert told() == {"name": "a", "description": "d", "prompt": "p", "tools": None}
    nothing = {"custom_agents": None, "agent": None, "skill_directories": None}
    assert agent_options(Setup()) == nothing


def test_a_model_that_is_named_is_not_replaced_in_silence() -> None:
    said = told(model="m", reasoning_effort="low", skills=("owl",))
    assert (said["model"], said["model_policy"]) == ("m", "required")
    assert (said["reasoning_effort"], said["skills"]) == ("low", ["owl"])


def test_words_for_tools_become_exact_names() -> None:
    assert names("view", "ed*", "wiki/find") == ["view", "edit", "wiki/find"]
    assert names("wiki-find", "files-*", "f*/get") == ["wiki/find", "files/*", "files/get"]
    assert names("@mcp") == ["wiki/*", "files/*"]
    assert {"bash", "wiki/*", "files/*"} <= set(names("*"))
    assert names("lost/find") == names() == []
    named = told(mcp_servers=("files",))["tools"]
    assert named is not None
    assert {"bash", "files/*"} <= set(named)


def test_the_agent_that_the_session_is_keeps_the_tools_of_jobs() -> None:
    assert names("view", is_session=True) == ["view", *OURS]
