"""The one list of everything that waits for a person, over all sessions and runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.engine.budgets import Budgets
from airboss.harness.earlier_decisions import earlier_decisions_of
from airboss.harness.limits import Budget
from airboss.harness.pending_items import EarlierDecisions
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.ids import ItemId, PromptId, SessionId, TaskRunId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import INBOX, InboxArrived, InboxItem, InboxSettled, ItemSettled
from airboss.model.rules import KeptRule
from airboss.model.views import SessionView
from airboss.service.pages import StreamPage, page_of_events

# Of what was settled so much is remembered, to say who was first.
_REMEMBERED: Final = 1024
EMPTY: Final = InboxView(created_at=0, updated_at=0, seq=0)


@dataclass
class Inbox:
    """All sessions tell it what waits; what it says is a repetition of what they said."""

    log: EventLog
    current_rules: Callable[[], tuple[KeptRule, ...]]
    allowed: Budgets
    _writer: Writer | None = None
    _settled: dict[ItemId, ItemSettled] = field(default_factory=dict[ItemId, ItemSettled])
    # What waits, also in the moment before the list has it.
    _known: dict[ItemId, InboxItem] = field(default_factory=dict[ItemId, InboxItem])

    async def open(self) -> None:
        self._writer = await self.log.writer(INBOX)
        self._known = {item.id: item for item in self._view.items}
        await self._remember()

    async def _remember(self) -> None:
        """Whoever comes late is told who was first, also by the next server."""
        after = max(0, self._view.seq - _REMEMBERED)
        for recorded in await self.log.after(INBOX, after, _REMEMBERED):
            event = recorded.event
            if isinstance(event, InboxSettled):
                self._settled[event.item] = ItemSettled(
                    item=event.item, outcome=event.outcome, who=event.who
                )

    async def recover(self) -> None:
        """Behind the sessions' own recovery: what they do not ask any more is settled."""
        for item in self._view.items:
            view = await self.log.view(item.session)
            if not isinstance(view, SessionView) or item not in view.items:
                self._say_settled(item.session, ItemSettled(item=item.id, outcome="cancelled"))

    @property
    def _view(self) -> InboxView:
        view = self._writer.view if self._writer else None
        return view if isinstance(view, InboxView) else EMPTY

    # What sessions need.

    @property
    def rules(self) -> tuple[KeptRule, ...]:
        return self.current_rules()

    def arrived(self, item: InboxItem) -> None:
        if self._writer and item.id not in self._known:
            self._known[item.id] = item
            self._writer.say(InboxArrived(item=item))

    def settled(self, session: SessionId, settled: ItemSettled) -> None:
        if settled.item in self._known:
            self._say_settled(session, settled)

    def _say_settled(self, session: SessionId, settled: ItemSettled) -> None:
        self._known.pop(settled.item, None)
        self._settled[settled.item] = settled
        while len(self._settled) > _REMEMBERED:
            del self._settled[next(iter(self._settled))]
        if self._writer:
            who, outcome = settled.who, settled.outcome
            self._writer.say(
                InboxSettled(item=settled.item, session=session, outcome=outcome, who=who)
            )

    async def earlier_decisions(self, session: SessionId, prompt: PromptId) -> EarlierDecisions:
        return await earlier_decisions_of(self.log, session, prompt)

    def budgets(self, task: TaskRunId | None) -> tuple[Budget, ...]:
        return self.allowed.of(task)

    async def settle(self) -> None:
        """Until the list shows what was told to it."""
        if self._writer:
            await self._writer.settle()

    # What people ask for.

    async def show(self) -> InboxView:
        """As of its own seq: a stream that begins there misses and repeats nothing."""
        view = await self.log.view(INBOX)
        return view if isinstance(view, InboxView) else EMPTY

    async def events(self, after: int, limit: int) -> StreamPage:
        return await page_of_events(self.log, INBOX, after, limit)

    def waiting(self) -> tuple[InboxItem, ...]:
        return tuple(self._known.values())

    def find(self, item: ItemId) -> InboxItem | None:
        return self._known.get(item)

    def what_became_of(self, item: ItemId) -> ItemSettled | None:
        return self._settled.get(item)
