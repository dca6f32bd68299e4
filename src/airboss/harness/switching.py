"""A session that goes on with another model, effort, policy or agent, from its next turn on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from airboss.errors import Conflict
from airboss.harness.models import Route
from airboss.harness.permissions import PolicyRule
from airboss.harness.session_state import SessionState
from airboss.harness.session_terms import SessionTerms
from airboss.harness.setup import Said, SetupPlan
from airboss.model.context_events import SessionChanged
from airboss.model.views import SessionView
from airboss.runtime.session import RuntimeSession
from airboss.session_keys import Effort, SessionKeys
from airboss.settings import Policy

# What the service calls a model of its own choice, and who says so where nobody was asked.
AUTO: Final = "auto"
AIRBOSS: Final = "airboss"
# A service that does not say so takes requests for a model again after about a minute.
_USUAL_SECONDS: Final = 60


@dataclass(frozen=True)
class Switch:
    """What somebody wants to be different from the next turn on."""

    model: str | None = None
    reasoning_effort: Effort | None = None
    permissions: Policy | None = None
    # Of those that the session has; no letters: none of them.
    agent: str | None = None


def switched(
    view: SessionView, wanted: Switch, efforts: tuple[str, ...] | None, who: str
) -> SessionChanged | None:
    """As an event; None where all is so already. `efforts` are those of the model that is meant.
    Refused where that does not offer the effort, also one that the session has already."""
    if view.state == "closed":
        raise Conflict("The session is closed; nothing of it can be changed.")
    effort = wanted.reasoning_effort or view.reasoning_effort
    model = wanted.model or view.instead_of or view.model
    keys = SessionKeys.model_validate({"reasoning_effort": effort})
    SetupPlan((Said(keys),)).check_effort(model, efforts)
    said = SessionChanged(
        # Said of one that returns to its own model by itself, it stays with that.
        model=wanted.model if view.instead_of else _other(wanted.model, view.model),
        reasoning_effort=_other(wanted.reasoning_effort, view.reasoning_effort),
        policy=_other(wanted.permissions, view.policy),
        agent=None if wanted.agent == (view.agent or "") else wanted.agent,
        who=who,
    )
    return None if said == SessionChanged(who=who) else said


def _other(wanted: str | None, now: str | None) -> str | None:
    return None if wanted == now else wanted


class Switching:
    """The terms of a session: those of `now`, and those of its next turn where somebody wants it
    to go on with others."""

    def __init__(self, state: SessionState, terms: SessionTerms) -> None:
        self._state = state
        self.now = terms
        self._next: SessionTerms | None = None
        # The model that it returns to, and from when on.
        self._left: Route | None = None
        self._return_at = 0.0

    @property
    def latest(self) -> SessionTerms:
        return self._next or self.now

    async def change(self, said: SessionChanged, route: Route, rule: PolicyRule | None) -> None:
        await self._state.writer.commit(said)
        self._next = changed(self.latest, said, route, rule)
        if said.model is not None:
            self._left = None

    async def give_way(self, came: float, seconds: int | None, who: str) -> None:
        """The model is at its limit since `came`: the running turn goes on with one of the
        service's choice. A turn that begins so many seconds later has its own again."""
        left = self.now.route
        said = SessionChanged(model=AUTO, instead_of=left.model, who=who)
        await self._state.writer.commit(said)
        self._left, self._return_at = left, came + (seconds or _USUAL_SECONDS)
        self.now = replace(self.now, route=replace(left, model=AUTO))

    async def _return(self) -> None:
        left, self._left = self._left, None
        if left is not None:
            await self._state.writer.commit(SessionChanged(model=left.model, who=AIRBOSS))
            self._next = replace(self.latest, route=left)

    async def agent(self, reopen: Callable[[], Awaitable[RuntimeSession]]) -> RuntimeSession:
        """On the latest terms. As it was where that fails, unless `reopen` did."""
        if self._left is not None and monotonic() >= self._return_at:
            await self._return()
        agent, terms, before = self._state.opened_agent, self._next, self.now
        if terms is None:
            return agent
        self.now = terms
        try:
            self._state.agent = agent = await moved(agent, before, terms, reopen)
        except BaseException:
            self.now = before
            raise
        self._next = None if self._next is terms else self._next
        return agent


def changed(
    terms: SessionTerms, said: SessionChanged, route: Route, rule: PolicyRule | None
) -> SessionTerms:
    effort = said.reasoning_effort or terms.setup.reasoning_effort
    agent = terms.setup.agent if said.agent is None else said.agent or None
    setup = terms.setup.model_copy(update={"reasoning_effort": effort, "agent": agent})
    route = terms.route if said.model is None else route
    return replace(terms, route=route, rule=rule or terms.rule, setup=setup)


async def moved(
    agent: RuntimeSession,
    before: SessionTerms,
    terms: SessionTerms,
    reopen: Callable[[], Awaitable[RuntimeSession]],
) -> RuntimeSession:
    """The agent on its new terms, with its history: another session of the runtime where another
    service has the model, or where it is another of its agents. Between two turns only."""
    is_another = terms.setup.agent != before.setup.agent
    if is_another or not terms.route.is_served_like(before.route):
        await agent.close()
        return await reopen()
    effort, is_model = terms.setup.reasoning_effort, terms.route.model != before.route.model
    if is_model and agent.knows_named_models_only:
        await agent.close()
        return await reopen()
    if is_model or effort != before.setup.reasoning_effort:
        await agent.set_model(terms.route.model, effort)
    return agent
