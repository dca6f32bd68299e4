"""The one list of everything that waits for a person, over all sessions and runs."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from airboss.errors import StoreUnavailable
from airboss.harness.earlier_decisions import events_of
from airboss.harness.item_lines import no_longer_waits
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.ids import ItemId, SessionId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import INBOX, InboxItem, InboxSettled, ItemSettled
from airboss.model.views import SessionView
from airboss.service.pages import StreamPage, page_of_events

# In so much of the list's story it is looked up who was first.
_REMEMBERED: Final = 2048
# Which of these sessions another worker has.
Others: TypeAlias = Callable[[Sequence[SessionId]], Awaitable[frozenset[str]]]
EMPTY: Final = InboxView(created_at=0, updated_at=0, seq=0)


@dataclass(frozen=True)
class Inbox:
    """Reads the list. Sessions write it, each item together with their own word on it."""

    log: EventLog
    writer: Writer

    @classmethod
    async def opened(cls, log: EventLog) -> "Inbox":
        return cls(log, await log.writer(INBOX))

    async def recover(self, others: Others | None = None) -> None:
        """Behind the sessions' own recovery: what they do not ask any more is settled. Sessions
        that another worker has see to theirs themselves."""
        await self.log.refresh(INBOX)
        waiting = self.waiting()
        spared = await others([item.session for item in waiting]) if others else frozenset[str]()
        for item in (one for one in waiting if one.session not in spared):
            view = await self.log.view(item.session)
            asked = view.items if isinstance(view, SessionView) else ()
            if item.id not in {one.id for one in asked}:
                gone = ItemSettled(item=item.id, outcome="cancelled")
                self.writer.say(no_longer_waits(item.session, gone))

    async def show(self) -> InboxView:
        """As of its own seq: a stream that begins there misses and repeats nothing."""
        return self._view

    @property
    def _view(self) -> InboxView:
        view = self.writer.view
        return view if isinstance(view, InboxView) else EMPTY

    async def events(self, after: int, limit: int) -> StreamPage:
        return await page_of_events(self.log, INBOX, after, limit)

    def waiting(self) -> tuple[InboxItem, ...]:
        return self._view.items

    def find(self, item: ItemId) -> InboxItem | None:
        return next((one for one in self.waiting() if one.id == item), None)

    async def what_became_of(self, item: ItemId) -> ItemSettled | None:
        """Whoever comes late is told who was first, also by the next server."""
        with contextlib.suppress(StoreUnavailable):  # what is on disk is read all the same
            await self.writer.settle()
        after, kinds = max(0, self._view.seq - _REMEMBERED), ("inbox.settled",)
        for recorded in await self.log.transcript(INBOX, after, _REMEMBERED, kinds):
            event = recorded.event if item in recorded.body else None
            if isinstance(event, InboxSettled) and event.item == item:
                return await self._settled_in(event)
        return None

    async def _settled_in(self, said: InboxSettled) -> ItemSettled:
        """As its session has it, unless that was deleted."""
        async for recorded in events_of(self.log, said.session, ("item.settled",)):
            event = recorded.event
            if isinstance(event, ItemSettled) and event.item == said.item:
                return event
        return ItemSettled(item=said.item, outcome=said.outcome, who=said.who)
