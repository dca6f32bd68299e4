"""How a session is opened on the runtime: what it is asked for, and with whose account."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from airboss.harness.accounts import Grant
from airboss.harness.agent_routes import agent_routes
from airboss.harness.incarnation import Incarnation
from airboss.harness.models import REHEARSAL, Route
from airboss.harness.open_cages import CagedSession
from airboss.harness.own_words import has_unseen_repository, own_words
from airboss.harness.plans import PLAN_OFFER
from airboss.harness.provider_address import ProviderAddress
from airboss.harness.questions import ASK_USER_OFFER
from airboss.harness.server_launch import ServerLaunch
from airboss.harness.session_account import SessionAccount
from airboss.harness.switching import Switching
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.model.events import Event
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.mcp_events import McpChanged
from airboss.model.redaction import Redactor
from airboss.model.sub_agent_events import SubAgentEnded, SubAgentStarted
from airboss.runtime.auto_switch import DecideSwitch
from airboss.runtime.hooks import MoreHooks, ToolGate
from airboss.runtime.permission import Decide
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import Overhear, SessionRequest
from airboss.runtime.signals import ModelAnswered, Signal, TurnFailed
from airboss.runtime.tools import AnswerCall, ToolOffer

TOOLS = (*JOB_TOOL_OFFERS, ASK_USER_OFFER, PLAN_OFFER)


@dataclass(frozen=True)
class Ears:
    """Who hears a session, and decides and answers for it."""

    hear: Callable[[Event | Signal], None]
    decide: Decide
    answer: AnswerCall
    gate: ToolGate
    hooks: MoreHooks | None = None
    # Asked at each opening: the terms of a session change.
    switch: Callable[[], DecideSwitch | None] = lambda: None
    # Those of Airboss and, as of now, of extensions.
    tools: Callable[[], tuple[ToolOffer, ...]] = lambda: TOOLS
    overhear: Overhear | None = None


@dataclass(frozen=True)
class SessionOpening:
    """What one session has while it is open: given back with it."""

    terms: Switching
    incarnation: Incarnation
    account: SessionAccount
    address: ProviderAddress
    launch: ServerLaunch
    redactor: Redactor
    ears: Ears
    # Where it works in a cage.
    caged: CagedSession | None = None

    async def opened(self, *, resume: bool, goes_on: bool = False) -> RuntimeSession:
        terms = self.terms.now
        if terms.cage is not None and self.caged is not None:
            terms.open_cages.enter(terms.cage, self.caged)

        async def enter(grant: Grant | None) -> RuntimeSession:
            request = await self._request(grant, resume=resume, goes_on=goes_on)
            return await terms.open_session(request)

        return await self.account.opened(terms.route, terms.setup, enter)

    def give_back(self) -> None:
        self.address.give_back()
        self.launch.give_back()
        self.account.release()
        terms = self.terms.now
        if terms.cage is not None and self.caged is not None:
            terms.open_cages.leave(terms.cage, self.caged)

    async def left(self, why: str) -> None:
        """It rests: what was lent is given back, and its cage ends where nobody else is in it."""
        self.address.give_back()
        self.launch.give_back()
        terms = self.terms.now
        if terms.cage is not None and self.caged is not None:
            terms.open_cages.leave(terms.cage, self.caged, why)
            await terms.end_cages((terms.cage.owner,))

    async def moved(self, agent: RuntimeSession) -> RuntimeSession:
        """For the next turn: with another account, where its own rests, or with its next token."""
        now, account = self.terms.now, self.account
        if not account.must_move(now.route, now.setup) and not (
            await account.has_new_token(now.setup)
        ):
            return agent
        await agent.close()
        return await self.reopened()

    async def reopened(self) -> RuntimeSession:
        """The same session at another service, for another account, or after a rest."""
        return await self.incarnation.reopened(self.opened)

    def in_our_words(self, said: Event | Signal) -> Event | Signal:
        """What the runtime tells of services and accounts."""
        route = self.terms.now.route
        if isinstance(said, ModelAnswered):
            self.account.worked()
        if isinstance(said, TurnFailed):
            said = self.account.hear(said, route, self.terms.now.setup)
            told = self.address.in_our_words(route, said.message)
            return replace(said, message=excerpt(self.redactor, told, MOST_OF_A_REASON))
        if isinstance(said, McpChanged):
            return self.launch.in_our_words(said, self.redactor)
        if isinstance(said, SubAgentStarted | SubAgentEnded):
            return self._of_sub_agent(said, route)
        return said

    def _of_sub_agent(
        self, said: SubAgentStarted | SubAgentEnded, route: Route
    ) -> SubAgentStarted | SubAgentEnded:
        # Rehearsed models have no provider in their names.
        told = said.model_copy(
            update={"model": said.model and said.model.removeprefix(f"{REHEARSAL}/")}
        )
        if isinstance(told, SubAgentStarted) or not told.error:
            return told
        error = excerpt(
            self.redactor, self.address.in_our_words(route, told.error), MOST_OF_A_REASON
        )
        return told.model_copy(update={"error": error})

    async def _own_words(self) -> str | None:
        setup, cwd = self.terms.now.setup, self.terms.now.rule.cwd
        lacks_git = setup.cage is not None and await asyncio.to_thread(
            has_unseen_repository, setup, cwd
        )
        return own_words(setup, lacks_git=lacks_git)

    async def _request(self, grant: Grant | None, *, resume: bool, goes_on: bool) -> SessionRequest:
        terms, ears = self.terms.now, self.ears
        routes = await agent_routes(terms.setup, terms.route, terms.route_of)
        provider = await self.address.provider(terms.route)
        token, renew = self.address.login(grant)
        return SessionRequest(
            id=self.incarnation.runtime_id,
            cwd=terms.rule.cwd,
            model=terms.route.model,
            setup=routes.in_names_of_the_runtime(terms.setup),
            own_words=self.incarnation.words(await self._own_words()),
            provider=provider,
            named=await self.address.named(terms.route, provider, routes.elsewhere),
            servers=await self.launch.servers(terms.setup),
            vision=terms.route.vision,
            github_token=token,
            renew_token=renew,
            place=terms.homes.key(terms.setup.identity, grant, terms.cage),
            tools=ears.tools(),
            overhear=ears.overhear,
            decide=ears.decide,
            answer=ears.answer,
            gate=ears.gate,
            hooks=ears.hooks,
            switch=ears.switch(),
            hear=ears.hear,
            redactor=self.redactor,
            resume=resume,
            goes_on=goes_on,
            quiet_limit=terms.quiet_seconds,
            server_wait=terms.mcp_wait_seconds,
            most=terms.max_block,
        )
