"""Whether a turn goes on with a model of the service's choice where its own is at its limit."""

from dataclasses import dataclass
from time import monotonic

from airboss.harness.pending_items import PendingItems
from airboss.harness.session_account import SessionAccount
from airboss.harness.switching import AIRBOSS, AUTO, Switching
from airboss.runtime.auto_switch import DecideSwitch, SwitchOffer


@dataclass(frozen=True)
class SwitchDecisions:
    """By the setting `auto_switch`, or by a person. Another account comes before another model."""

    terms: Switching
    pending: PendingItems
    account: SessionAccount

    @property
    def decide(self) -> DecideSwitch | None:
        """None where the turn fails in any case: then the runtime does not ask."""
        now = self.terms.now
        return None if now.auto_switch == "no" or now.route.provider else self._decide

    async def _decide(self, offer: SwitchOffer) -> bool:
        now, came = self.terms.now, monotonic()
        if now.route.model == AUTO or self.account.has_other(now.route, now.setup):
            return False
        if now.auto_switch == "yes":
            await self.terms.give_way(came, offer.retry_seconds, AIRBOSS)
            return True
        settled = await self.pending.ask_switch(now.route.model, offer.reason, offer.retry_seconds)
        if settled.outcome != "go-on":
            return False
        await self.terms.give_way(came, offer.retry_seconds, settled.who or AIRBOSS)
        return True
