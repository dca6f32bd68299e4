"""A session's agents in the SDK's words."""

from typing import Any

from airboss.model.setup import AgentSetup, Setup
from airboss.model.tool_table import OURS
from airboss.runtime.custom_agents import agent_options, tool_names


def told(**said: Any) -> Any:
    setup = Setup(agents={"a": AgentSetup(description="d", prompt="p", **said)})
    return agent_options(setup)["custom_agents"][0]


def test_what_is_left_out_is_left_to_the_runtime() -> None:
    assert told() == {"name": "a", "description": "d", "prompt": "p", "tools": None}
    nothing = {"custom_agents": None, "agent": None, "skill_directories": None}
    assert agent_options(Setup()) == nothing


def test_a_model_that_is_named_is_not_replaced_in_silence() -> None:
    said = told(model="m", reasoning_effort="low", skills=("owl",))
    assert (said["model"], said["model_policy"]) == ("m", "required")
    assert (said["reasoning_effort"], said["skills"]) == ("low", ["owl"])


def test_words_for_tools_become_exact_names() -> None:
    assert tool_names(("view", "ed*", "wiki/find"), None, is_session=False) == [
        *("view", "edit"),
        "wiki/find",
    ]
    assert tool_names((), None, is_session=False) == []
    named = tool_names(None, ("files",), is_session=False)
    assert named is not None
    assert {"bash", "files/*"} <= set(named)


def test_the_agent_that_the_session_is_keeps_the_tools_of_jobs() -> None:
    assert tool_names(("view",), None, is_session=True) == ["view", *OURS]
