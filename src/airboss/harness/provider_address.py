"""Where a session reaches its model, if that is at a provider of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airboss.harness.lent_address import LentAddress
from airboss.harness.models import Route

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy


@dataclass
class ProviderAddress:
    """One at a time: it is given back with the session, or for another one."""

    proxy: "ProviderProxy"
    lent: LentAddress | None = None

    async def provider(self, route: Route) -> Mapping[str, Any] | None:
        """What the runtime is told about it: the proxy's address in the place of its own."""
        self.give_back()
        self.lent = None
        if route.upstream is None:
            return route.provider
        self.lent = await self.proxy.lend(route.upstream)
        return {**(route.provider or {}), "base_url": self.lent.url}

    def give_back(self) -> None:
        if self.lent is not None:
            self.lent.give_back()

    def in_our_words(self, route: Route, message: str) -> str:
        known = route.in_our_words(message)
        return known if self.lent is None else self.lent.in_our_words(known)
