"""One session's items without an agent, a person who settles them, and whoever waits meanwhile."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from airboss.harness.pending_items import EarlierDecisions, PendingItems
from airboss.harness.permissions import PolicyRule
from airboss.harness.session_state import SessionState
from airboss.model.ids import PromptId, SessionId
from airboss.model.inbox_events import Asked, ItemOutcome, ItemSettled
from airboss.model.rules import KeptRule


@dataclass
class NoRules:
    current: tuple[KeptRule, ...] = ()


@dataclass
class Slot:
    """Whoever works for a job gives up their place meanwhile."""

    said: list[str] = field(default_factory=list[str])
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, reason: str, wait: object = None) -> None:
        self.said.append(reason)
        self.begun.set()

    def drop(self, wait: object) -> None:
        pass

    def behind(self, reason: str | None) -> None:
        self.said.append(reason or "goes on by itself")

    def busy(self, reason: str | None) -> None:
        self.said.append(reason or "not busy any more")

    async def end(self, wait: object = None) -> None:
        self.said.append("goes on")


@dataclass
class Desk:
    """One session's items, and a person who settles them."""

    state: SessionState
    earlier: EarlierDecisions = field(default_factory=dict[str, list[ItemSettled]])
    seconds: float | None = None
    pending: PendingItems = field(init=False)

    def __post_init__(self) -> None:
        rule = PolicyRule("ask", Path("/work"), given=False)
        self.pending = PendingItems(self.state, rule, NoRules(), self._earlier, self.seconds)

    async def _earlier(self, _: SessionId, __: PromptId) -> EarlierDecisions:
        return self.earlier

    async def asked(self, count: int = 1) -> list[Asked]:
        """Once so many are on disk."""
        view = self.state.view
        async with asyncio.timeout(20):
            while view is None or len(view.items) != count:
                await asyncio.sleep(0.005)
                view = self.state.view
        return [item.asked for item in view.items]

    async def settle(self, outcome: ItemOutcome, who: str = "ada") -> ItemSettled:
        [asked] = await self.asked()
        settled = ItemSettled(item=asked.item, outcome=outcome, who=who)
        await self.pending.settle(settled)
        return settled
