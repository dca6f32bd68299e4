"""The ways to the models of a session's agents: by their own names, or by those of providers."""

import pytest

from airboss.errors import Invalid, ModelIdNotFound
from airboss.harness.agent_routes import agent_routes
from airboss.harness.models import Route
from airboss.harness.providers import Upstream
from airboss.model.setup import AgentSetup, Setup

pytestmark = pytest.mark.anyio

HOUSE, FAR = Upstream("house", "https://one.test"), Upstream("far", "https://two.test")
ROUTES = {
    "house/main": Route("main", {"type": "openai"}, upstream=HOUSE),
    "house/other": Route("other", {"type": "openai"}, upstream=HOUSE),
    "house/alias": Route("alias", {"type": "openai", "wire_model": "x"}, upstream=HOUSE),
    "far/deep": Route("deep", {"type": "anthropic"}, upstream=FAR),
    "rehearsed": Route("rehearsed", {"type": "openai", "base_url": "http://127.0.0.1:1/v1"}),
    "gpt": Route("gpt"),
    "gpt-mini": Route("gpt-mini"),
}


async def route_of(model: str) -> Route:
    if model not in ROUTES:
        raise ModelIdNotFound(f"The model {model} is not available.")
    return ROUTES[model]


async def named(own: str, *models: str | None) -> tuple[list[str | None], list[str]]:
    """What the runtime calls the agents' models, and those that have to be named to it."""
    agents = {
        f"a{number}": AgentSetup(description="x", prompt="y", model=model)
        for number, model in enumerate(models)
    }
    setup = Setup(agents=agents)
    routes = await agent_routes(setup, ROUTES[own], route_of)
    told = routes.in_names_of_the_runtime(setup)
    return [one.model for one in told.agents.values()], [one.qualified for one in routes.elsewhere]


async def test_models_of_the_same_service_keep_their_short_names() -> None:
    assert await named("house/main", "house/other", None) == (["other", None], [])
    assert await named("gpt", "gpt-mini") == (["gpt-mini"], [])
    assert await named("gpt") == ([], [])


async def test_with_another_service_every_provider_is_named() -> None:
    told = await named("house/main", "far/deep", "house/main", "rehearsed")
    names: list[str | None] = ["far/deep", "house/main", "rehearsal/rehearsed"]
    assert told == (names, ["far/deep", "house/main", "rehearsal/rehearsed"])
    assert await named("gpt", "far/deep", "gpt-mini") == (["far/deep", "gpt-mini"], ["far/deep"])
    assert await named("house/main", "house/alias") == (["house/alias"], ["house/alias"])


async def test_a_model_that_is_gone_is_named_with_its_place() -> None:
    with pytest.raises(Invalid, match=r"^agents\.a0\.model: The model gone is not available"):
        await named("gpt", "gone")
