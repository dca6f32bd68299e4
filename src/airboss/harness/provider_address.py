"""Where a session reaches its models, if these are at providers of one's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from airboss.harness.lent_account import LentAccount
from airboss.harness.lent_address import LentAddress
from airboss.harness.models import Route
from airboss.harness.providers import PLACEHOLDER_KEY, Upstream
from airboss.model.traces import TraceContext
from airboss.runtime.named_models import ServiceModel

if TYPE_CHECKING:
    from airboss.harness.accounts import Grant
    from airboss.harness.proxy import ProviderProxy
    from airboss.runtime.session_request import RenewToken


@dataclass
class ProviderAddress:
    """One for each provider: they are given back with the session, or for others."""

    proxy: "ProviderProxy"
    # What the session works on.
    trace: Callable[[], TraceContext | None] = lambda: None
    # In a cage there is no network: calls are handed over, and no key or token is inside.
    is_caged: bool = False
    lent: dict[str, LentAddress] = field(default_factory=dict[str, LentAddress])
    account: LentAccount | None = None

    async def provider(self, route: Route) -> Mapping[str, Any] | None:
        """What the runtime is told about it: the proxy's address in the place of its own."""
        self.give_back()
        self.lent = {}
        return await self._provider(route)

    async def named(
        self, own: Route, provider: Mapping[str, Any] | None, others: Sequence[Route]
    ) -> tuple[ServiceModel, ...]:
        """All by name, where agents have models at other services than the session's own."""
        if not others:
            return ()
        first = [ServiceModel(own.service, own.model, provider, own.vision)] if provider else []
        more = [
            ServiceModel(
                route.service, route.model, await self._provider(route) or {}, route.vision
            )
            for route in others
            if provider is None or route.qualified != own.qualified
        ]
        return (*first, *more)

    def login(self, grant: "Grant | None") -> "tuple[str | None, RenewToken | None]":
        """What the runtime shows to Copilot's service, and who renews it."""
        if grant is None:
            return None, None
        if not self.is_caged:
            return grant.token, grant.renewed
        if self.account is not None:
            self.account.give_back()
        self.account = self.proxy.lend_account(grant)
        return self.account.word, None

    async def _provider(self, route: Route) -> Mapping[str, Any] | None:
        upstream = route.upstream
        if upstream is None and self.is_caged and route.provider is not None:
            upstream = _rehearsed(route)
        if upstream is None:
            return route.provider
        if upstream.name not in self.lent:
            lent = await self.proxy.lend(upstream, handed=self.is_caged)
            self.lent[upstream.name] = lent
            lent.trace = self.trace
        key = {"api_key": PLACEHOLDER_KEY} if self.is_caged else {}
        return {**(route.provider or {}), **key, "base_url": self.lent[upstream.name].url}

    def give_back(self) -> None:
        for lent in self.lent.values():
            lent.give_back()
        if self.account is not None:
            self.account.give_back()
            self.account = None

    def in_our_words(self, route: Route, message: str) -> str:
        said = route.in_our_words(message)
        for name, lent in self.lent.items():
            if name == route.service or lent.nonce in said:
                said = lent.in_our_words(said)
        return said


def _rehearsed(route: Route) -> Upstream:
    """The rehearsal model is on this machine, which nobody reaches from a cage."""
    known = route.provider or {}
    key = {"authorization": f"Bearer {known.get('api_key', '')}"}
    return Upstream(route.service, str(known.get("base_url", "")), key, allows_private=True)
