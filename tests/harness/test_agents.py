"""The agents of a session: made of all that is said about them, and refused by name."""

from typing import Any

import pytest

from airboss.errors import Invalid, ModelIdNotFound
from airboss.harness.agents import must_serve_agents
from airboss.harness.models import Route
from airboss.harness.providers import Upstream
from airboss.harness.setup import Said, SetupPlan, in_settings
from airboss.model.setup import AgentSetup, Setup
from airboss.model.setup_bounds import widening
from airboss.session_keys import AgentKeys, SessionKeys

REVIEWER = {"description": "Reviews.", "prompt": "Review hunter2."}

WIKI = {"wiki": {"url": "https://wiki.example.com/mcp"}}


def keys(**said: Any) -> SessionKeys:
    return SessionKeys.model_validate(said)


def plan(*said: Any) -> SetupPlan:
    return SetupPlan([Said(one, "entry.") if isinstance(one, SessionKeys) else one for one in said])


def clean(text: str) -> str:
    return text.replace("hunter2", "***")


def test_agents_of_all_places_are_there_and_the_later_one_of_a_name_counts() -> None:
    other = {"description": "Reviews slowly.", "prompt": "Take your time."}
    setup = plan(
        keys(agents={"reviewer": REVIEWER, "writer": REVIEWER}),
        keys(agents={"reviewer": other}),
        keys(agent="reviewer"),
    ).made(clean)
    assert setup.agents == {
        "reviewer": AgentSetup(description="Reviews slowly.", prompt="Take your time."),
        "writer": AgentSetup(description="Reviews.", prompt="Review ***."),
    }
    assert setup.agent == "reviewer"


def test_who_may_not_widen_takes_nobodys_place_who_may() -> None:
    mine, other = {**REVIEWER, "prompt": "Mine."}, {**REVIEWER, "prompt": "Other."}
    settings = keys(agents={"a": mine}, commands={"c": REVIEWER})
    wished = keys(agents={"a": other, "b": other}, commands={"c": other, "d": other})
    task = keys(agents={"a": other, "b": mine}, commands={"d": mine})
    setup = SetupPlan((in_settings(settings), Said(wished), Said(task))).made(clean)
    assert [setup.agents[name].prompt for name in "ab"] == ["Mine.", "Mine."]
    assert [setup.commands[name].prompt for name in "cd"] == ["Review ***.", "Mine."]
    wishes = list(widening(wished, settings))
    assert [wish.place for wish in wishes] == [("agents", "a"), ("commands", "c")]
    assert wishes[0].what == "to replace the agent a of the settings"
    assert list(widening(settings, settings)) == []
    trusted = (in_settings(settings), Said(wished, may_widen=True), Said(keys(agents={"a": mine})))
    assert SetupPlan(trusted).made(clean).agents["a"].prompt == "Other."


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"agent": "nobody"}, 'entry.agent: There is no agent "nobody". None is described.'),
        (
            {"agents": {"reviewer": REVIEWER}, "agent": "nobody"},
            'entry.agent: There is no agent "nobody". There are: reviewer.',
        ),
        (
            {"agents": {"explore": REVIEWER}},
            'entry.agents.explore: "explore" is the name of an agent that the runtime brings.',
        ),
        (
            {"agents": {"a": {**REVIEWER, "tools": ["view", "wiew"]}}},
            'entry.agents.a.tools[1]: "wiew" is not a tool.',
        ),
        (
            {"agents": {"a": {**REVIEWER, "mcpServers": ["files"]}}},
            'entry.agents.a.mcpServers[0]: There is no MCP server "files".',
        ),
        (
            {"agents": {"a": {**REVIEWER, "mcpServers": ["github-mcp-server"]}}},
            'entry.agents.a.mcpServers[0]: There is no MCP server "github-mcp-server". It is there '
            "with `github: true` in tools.",
        ),
        *(
            (
                {"agents": {"a": {**REVIEWER, "tools": [word]}}, "mcpServers": WIKI},
                f'entry.agents.a.tools[0]: "{word}" matches no tool: write SERVER/TOOL, or '
                "SERVER/* for all of them.",
            )
            for word in ("wiki/f*", "wiki-f*", "wiki/f?nd")
        ),
    ],
)
def test_what_names_nothing_is_refused_with_its_place(said: Any, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        plan(keys(**said)).check_agents()
    assert str(refused.value) == words


def test_the_tools_and_servers_of_an_agent_are_those_that_somebody_speaks_of() -> None:
    words = ["@mcp", "*", "wiki/*", "wiki/find", "wiki-find", "@read", "ed*"]
    agent = {**REVIEWER, "tools": words, "mcpServers": ["wiki", "github-mcp-server"]}
    plan(keys(agents={"a": agent}, mcpServers=WIKI, tools={"github": True})).check_agents()


@pytest.mark.parametrize(
    "said",
    [
        {"agents": {"a b": REVIEWER}},
        {"agents": {"a": {"description": "", "prompt": "x"}}},
        {"agents": {"a": {"description": "x"}}},
        {"agents": {"a": {**REVIEWER, "tool": ["view"]}}},
        {"agents": {"a": {**REVIEWER, "reasoningEffort": "huge"}}},
        {"agent": "../up"},
        {"skills": [""]},
        {"skills": "skills"},
    ],
)
def test_what_has_no_meaning_is_not_taken(said: Any) -> None:
    with pytest.raises(ValueError, match=r"agents|agent|skills"):
        keys(**said)


def test_a_session_is_on_the_model_and_the_effort_of_its_agent() -> None:
    thinking = {**REVIEWER, "model": "deep", "reasoningEffort": "high"}
    said = plan(keys(agents={"a": thinking}, reasoningEffort="low"), keys(agent="a"))
    assert (said.agents.model, said.made(clean).reasoning_effort) == ("deep", "high")
    with pytest.raises(Invalid, match=r"^entry\.agents\.a\.reasoningEffort: The model deep does"):
        said.check_effort("deep", ("low",))
    own = plan(keys(agents={"a": thinking}), keys(agent="a", reasoningEffort="low"))
    assert own.made(clean).reasoning_effort == "low"


async def test_an_agents_model_can_be_reached_and_offers_its_effort() -> None:
    own = Route("main", {"type": "openai"}, upstream=Upstream("house", "https://one.test"))
    routes = {
        "house/other": Route("other", own.provider, upstream=own.upstream, efforts=("low",)),
        "far": Route("far", {"type": "anthropic"}),
        "gpt": Route("gpt"),
    }

    async def route_of(model: str) -> Route:
        if model not in routes:
            raise ModelIdNotFound(f"The model {model} is not available.")
        return routes[model]

    async def check(**agent: Any) -> None:
        await plan(keys(agents={"a": {**REVIEWER, **agent}})).agents.check_models(route_of, own)

    await check(model="house/other", reasoningEffort="low")
    with pytest.raises(Invalid, match=r"^entry\.agents\.a\.reasoningEffort: The model house/other"):
        await check(model="house/other", reasoningEffort="max")
    with pytest.raises(Invalid, match=r"^entry\.agents\.a\.model: The model none is not available"):
        await check(model="none")
    await check(model="far")
    with pytest.raises(Invalid, match=r"^entry\.agents\.a\.model: gpt is a model of Copilot, and"):
        await check(model="gpt")
    setup = Setup(agents={"a": AgentSetup(description="x", prompt="y", model="gpt")})
    await must_serve_agents(setup, route_of, routes["gpt"])
    with pytest.raises(Invalid, match=r"^agents\.a\.model: gpt is a model of Copilot, and the"):
        await must_serve_agents(setup, route_of, routes["far"])


def test_a_skill_that_an_agent_names_is_in_one_of_the_folders() -> None:
    agents = plan(keys(agents={"a": {**REVIEWER, "skills": ["owl"]}})).agents
    agents.check_skills(["owl", "fox"])
    with pytest.raises(Invalid, match=r'^entry\.agents\.a\.skills\[0\]: There is no skill "owl"\.'):
        agents.check_skills(["fox"])


def test_the_keys_of_an_agent_are_those_of_its_setup() -> None:
    assert set(AgentKeys.model_fields) == set(AgentSetup.model_fields)
