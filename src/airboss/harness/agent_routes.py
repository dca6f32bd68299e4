"""How a session reaches the models of its agents, where these are not all at its own service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airboss.errors import AirbossError, Invalid
from airboss.model.setup import Setup

if TYPE_CHECKING:
    from airboss.harness.agents import RouteOf
    from airboss.harness.models import Route


@dataclass(frozen=True)
class AgentRoutes:
    """By the id of each agent's model: the way to it. `own` is that of the session's."""

    own: "Route"
    by_model: "Mapping[str, Route]" = field(default_factory=dict[str, "Route"])

    @property
    def elsewhere(self) -> "Sequence[Route]":
        """To the services that have to be named to the runtime, and their models."""
        if not any(not route.is_served_like(self.own) for route in self.by_model.values()):
            return ()
        return [route for route in self.by_model.values() if route.provider is not None]

    def in_names_of_the_runtime(self, setup: Setup) -> Setup:
        if not self.by_model:
            return setup
        agents = {
            name: agent.model_copy(update={"model": agent.model and self._name(agent.model)})
            for name, agent in setup.agents.items()
        }
        return setup.model_copy(update={"agents": agents})

    def _name(self, model: str) -> str:
        route = self.by_model[model]
        return route.qualified if self.elsewhere else route.model


async def agent_routes(setup: Setup, own: "Route", route_of: "RouteOf") -> AgentRoutes:
    """Refused by name where one is not there any more."""
    found: dict[str, Route] = {}
    for name, agent in setup.agents.items():
        if agent.model is not None:
            try:
                found[agent.model] = await route_of(agent.model)
            except AirbossError as error:
                raise Invalid(f"agents.{name}.model: {error}") from None
    return AgentRoutes(own, found)
