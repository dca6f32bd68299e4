"""Where a session reaches its models, if these are at providers of one's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from airboss.harness.lent_address import LentAddress
from airboss.harness.models import Route
from airboss.model.traces import TraceContext
from airboss.runtime.named_models import ServiceModel

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy


@dataclass
class ProviderAddress:
    """One for each provider: they are given back with the session, or for others."""

    proxy: "ProviderProxy"
    # What the session works on.
    trace: Callable[[], TraceContext | None] = lambda: None
    lent: dict[str, LentAddress] = field(default_factory=dict[str, LentAddress])

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

    async def _provider(self, route: Route) -> Mapping[str, Any] | None:
        upstream = route.upstream
        if upstream is None:
            return route.provider
        if upstream.name not in self.lent:
            lent = self.lent[upstream.name] = await self.proxy.lend(upstream)
            lent.trace = self.trace
        return {**(route.provider or {}), "base_url": self.lent[upstream.name].url}

    def give_back(self) -> None:
        for lent in self.lent.values():
            lent.give_back()

    def in_our_words(self, route: Route, message: str) -> str:
        said = route.in_our_words(message)
        for name, lent in self.lent.items():
            if name == route.service or lent.nonce in said:
                said = lent.in_our_words(said)
        return said
