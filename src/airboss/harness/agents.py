"""The agents of a session: made of all that is said about them, and checked by name."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from airboss.errors import AirbossError, Invalid
from airboss.model.agent_names import mistake_in_name
from airboss.model.setup import AgentSetup, Setup
from airboss.model.tool_lists import mistake_in_agents
from airboss.model.tool_table import GITHUBS_SERVER
from airboss.session_keys import AgentKeys, Effort, SessionKeys

if TYPE_CHECKING:
    from airboss.harness.models import Route
    from airboss.harness.setup import Said

_GITHUB: Final = "It is there with `github: true` in tools."

Named = TypeVar("Named")
RouteOf: TypeAlias = "Callable[[str], Awaitable[Route]]"


@dataclass(frozen=True)
class SaidAgent:
    """An agent, and where it is described."""

    keys: AgentKeys
    place: str


@dataclass(frozen=True)
class SessionAgents:
    """All that is said about agents, in order. One of the same name takes the other's place, if
    who says so may widen, or the other is of somebody who may not either."""

    said: "Sequence[Said]"

    @property
    def by_name(self) -> dict[str, SaidAgent]:
        return {
            name: SaidAgent(keys, f"{one.place('agents')}.{name}")
            for one, name, keys in counting(self.said, lambda keys: keys.agents)
        }

    @property
    def selected(self) -> SaidAgent | None:
        """The one that the session is."""
        found = self._selected()
        return self.by_name[found[0]] if found else None

    @property
    def name(self) -> str | None:
        found = self._selected()
        return found[0] if found else None

    def _selected(self) -> tuple[str, str] | None:
        """Its name, and the place that says so."""
        found = [(one.keys.agent, one.place("agent")) for one in self.said if one.keys.agent]
        return found[-1] if found else None

    @property
    def effort(self) -> Effort | None:
        """That of the agent that the session is, unless the last to speak wants another one."""
        last = self.said[-1].keys.reasoning_effort if self.said else None
        return last or (self.selected.keys.reasoning_effort if self.selected else None)

    def check(self, servers: Sequence[str]) -> None:
        """Refused by name: what the runtime would pass over in silence."""
        agents = self.by_name
        selected = self._selected()
        if selected is not None and selected[0] not in agents:
            there = f"There are: {', '.join(agents)}." if agents else "None is described."
            raise Invalid(f'{selected[1]}: There is no agent "{selected[0]}". {there}')
        for place, mistake in self._mistakes(agents, servers):
            raise Invalid(f"{place}: {mistake}")

    def _mistakes(
        self, agents: Mapping[str, SaidAgent], servers: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        for name, agent in agents.items():
            if wrong := mistake_in_name(name):
                yield agent.place, wrong
            for index, word in enumerate(agent.keys.tools or ()):
                if wrong := mistake_in_agents(word, servers):
                    yield f"{agent.place}.tools[{index}]", wrong
            for index, word in enumerate(agent.keys.mcp_servers or ()):
                if word not in servers:
                    where = f"{agent.place}.mcpServers[{index}]"
                    missing = f'There is no MCP server "{word}".'
                    yield where, f"{missing} {_GITHUB}" if word == GITHUBS_SERVER else missing

    def check_skills(self, skills: Sequence[str]) -> None:
        """The names of all skills that the session has."""
        for agent in self.by_name.values():
            for index, word in enumerate(agent.keys.skills or ()):
                if word not in skills:
                    there = f"There are: {', '.join(skills)}." if skills else "There is none."
                    raise Invalid(
                        f'{agent.place}.skills[{index}]: There is no skill "{word}". {there}'
                    )

    @property
    def model(self) -> str | None:
        """That of the agent that the session is: the runtime itself does not take it."""
        return self.selected.keys.model if self.selected else None

    async def check_models(self, route_of: RouteOf, own: "Route") -> None:
        """Each is there, offers the effort, and can be reached beside the session's own model."""
        for agent in self.by_name.values():
            model, effort = agent.keys.model, agent.keys.reasoning_effort
            route = own
            if model is not None:
                try:
                    route = await route_of(model)
                except AirbossError as error:
                    raise Invalid(f"{agent.place}.model: {error}") from None
                must_be_reached(f"{agent.place}.model", model, route, own)
            if effort is not None:
                must_offer(
                    f"{agent.place}.reasoningEffort", model or own.model, effort, route.efforts
                )

    def made(self, clean: Callable[[str], str]) -> dict[str, AgentSetup]:
        return {name: _made(agent.keys, clean) for name, agent in self.by_name.items()}


def counting(
    said: "Sequence[Said]", pick: "Callable[[SessionKeys], Mapping[str, Named] | None]"
) -> "list[tuple[Said, str, Named]]":
    """What is said by names, without what would take the place of another's who may widen."""
    settled: set[str] = set()
    found: list[tuple[Said, str, Named]] = []
    for one in said:
        named = pick(one.keys) or {}
        found += [(one, *pair) for pair in named.items() if one.may_widen or pair[0] not in settled]
        settled.update(named if one.may_widen else ())
    return found


def must_be_reached(place: str, model: str, route: "Route", own: "Route") -> None:
    """A session whose own model is a provider's has no sign-in at Copilot."""
    if route.provider is None and own.provider is not None:
        raise Invalid(
            f"{place}: {model} is a model of Copilot, and the session's own model {own.qualified} "
            "is not: such a session is not signed in to Copilot. Choose a model of a provider for "
            "the agent, or a model of Copilot for the session."
        )


async def must_serve_agents(setup: Setup, route_of: RouteOf, own: "Route") -> None:
    """Where a session is to go on with another model: its agents go on with theirs."""
    for name, agent in setup.agents.items():
        if agent.model is not None:
            must_be_reached(f"agents.{name}.model", agent.model, await route_of(agent.model), own)


def must_have_agent(setup: Setup, name: str) -> None:
    """Where a session is to go on as another of its agents."""
    if name not in setup.agents:
        there = f"It has: {', '.join(setup.agents)}." if setup.agents else "It has none."
        raise Invalid(f'agent: The session has no agent "{name}". {there}')


def must_offer(place: str, model: str, effort: str, efforts: Sequence[str] | None) -> None:
    if efforts is None or effort in efforts:
        return
    offered = f"It offers: {', '.join(efforts)}." if efforts else "It offers none: leave it out."
    raise Invalid(f'{place}: The model {model} does not offer the effort "{effort}". {offered}')


def _made(keys: AgentKeys, clean: Callable[[str], str]) -> AgentSetup:
    return AgentSetup(
        description=clean(keys.description),
        prompt=clean(keys.prompt),
        tools=keys.tools,
        model=keys.model,
        reasoning_effort=keys.reasoning_effort,
        mcp_servers=keys.mcp_servers,
        skills=keys.skills or (),
    )
