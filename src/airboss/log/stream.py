"""One stream in memory: what is not written yet, the last of what was said, and who is waiting."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from airboss.errors import StoreUnavailable
from airboss.log.news import News
from airboss.log.portion import Group, Item, OpenText, Portion, portion_of
from airboss.log.rows import OpenBlock
from airboss.model.events import (
    BlockDelta,
    BlockStarted,
    Event,
    MessageEnded,
    ReasoningEnded,
    Recorded,
    ToolEnded,
)
from airboss.model.views import View

# Puts a delta where it survives our death; False when that failed.
NoteDelta = Callable[[str, Recorded], bool]

# What viewers who are up to date are served from; all others are served by the store.
TAIL_EVENTS = 256
TAIL_CHARACTERS = 128 * 1024


class LiveStream:
    """The live end of a stream. There is one for each name, as long as anybody holds it."""

    def __init__(
        self,
        name: str,
        head: int,
        view: View | None,
        note: NoteDelta | None,
        epoch: int | None = None,
        *,
        is_own: bool = True,
    ) -> None:
        """Without `note` nothing is shown before it is committed. `epoch` is the one in which this
        server holds the stream; none of one that is new. One that is not its own is told by others,
        and the store may be ahead of what is known here."""
        self.name = name
        self.epoch = epoch
        self.is_own = is_own
        self.view = view
        self.head = head
        self.grown = asyncio.Event()
        self.is_forgotten = False
        self._note = note
        # When the last was said.
        self._at = 0
        self._floor = head
        self._tail: list[Recorded] = []
        self._tail_size = 0
        self._committed: int = head
        self._pending: list[Item] = []
        self._in_flight = False
        # Said and not shown. As long as there is one, nothing behind it is shown either.
        self._unshown = 0
        # Why nobody here says anything in it, until somebody claims it again.
        self.taken: StoreUnavailable | None = None
        self._blocks: dict[str, OpenText] = {}
        # What was said from an origin, by it: from there nothing else is said any more.
        self._origins: dict[str, Recorded] = {}

    def skip(self, count: int) -> None:
        """Leave numbers out that an earlier writer may have shown and not written."""
        self.head += count

    def reopen(self, left: OpenBlock) -> None:
        stored_to = left.marks.seqs[-1] if left.marks.seqs else 0
        whole = left.marks.said == len(left.text)
        self._blocks[left.block] = OpenText(left.marks, left.seq, stored_to, whole)

    def remember(self, origins: Mapping[str, Recorded]) -> None:
        """What earlier writers said from an origin."""
        self._origins.update(origins)

    def said_from(self, origin: str) -> Recorded | None:
        return self._origins.get(origin)

    # Saying.

    def say(
        self,
        recorded: Recorded,
        event: Event,
        group: Group | None = None,
        origin: str | None = None,
    ) -> Recorded:
        """It gets the next number. A delta is shown at once when all before it was; anything else
        when it is on disk."""
        self.head += 1
        recorded.seq = self.head
        # A clock that was set back does not tell a story backwards.
        before = self.view.updated_at if self.view else 0
        recorded.at = self._at = max(recorded.at, self._at, before)
        item = Item(recorded, event, group, origin=origin)
        if origin is not None:
            self._origins[origin] = recorded
        if isinstance(event, BlockDelta):
            item.text = self._blocks.setdefault(event.block, OpenText())
            item.text.add(self.head, event)
        elif isinstance(event, BlockStarted):
            # One of the same name that is still open gets no end any more.
            item.closes = self._blocks.pop(event.block, None)
            self._blocks[event.block] = OpenText(start=self.head)
        elif isinstance(event, ReasoningEnded | MessageEnded | ToolEnded):
            item.closes = self._blocks.pop(event.block, None)
        self._pending.append(item)
        self._unshown += 1
        if self._unshown == 1 and self._may_be_shown(item):
            self._show([item])
        return recorded

    @property
    def has_journal(self) -> bool:
        return self._note is not None

    def _may_be_shown(self, item: Item) -> bool:
        """Before its batch: only what the journal has, and nothing that is written with others."""
        if self._note is None or item.text is None or item.group is not None:
            return False
        return self._note(self.name, item.recorded)

    def _show(self, items: Sequence[Item]) -> None:
        for item in items:
            item.shown = True
        self._unshown -= len(items)
        self._put([item.recorded for item in items])

    def _put(self, said: Sequence[Recorded]) -> None:
        self._tail += said
        self._tail_size += sum(len(recorded.body) for recorded in said)
        if len(self._tail) > 2 * TAIL_EVENTS or self._tail_size > 2 * TAIL_CHARACTERS:
            self._trim(TAIL_EVENTS, TAIL_CHARACTERS)
        self._wake()

    def _wake(self) -> None:
        self.grown.set()
        self.grown = asyncio.Event()

    def _trim(self, events: int, characters: int) -> None:
        """Only what is on disk leaves the memory."""
        place = 0
        for recorded in self._tail:
            over = len(self._tail) - place > events or self._tail_size > characters
            if not over or recorded.seq > self._committed:
                break
            place += 1
            self._tail_size -= len(recorded.body)
            self._floor = recorded.seq
        del self._tail[:place]

    def rest(self) -> None:
        """Nothing more will be said for now: whoever reads is served by the store."""
        self._trim(0, 0)

    def forget(self) -> None:
        """Nothing of it is left, and whoever follows it is to know."""
        self.is_forgotten = True
        self.grown.set()

    # Writing.

    @property
    def is_busy(self) -> bool:
        return self._in_flight or bool(self._pending)

    @property
    def waiting(self) -> int:
        return len(self._pending)

    def waits_for(self, seq: int) -> bool:
        """Whether something up to `seq` is still to be written."""
        return bool(self._pending) and self._pending[0].recorded.seq <= seq

    def take(self, *, first: bool = False) -> Portion:
        """What waits to be written, or the first of it. It stays when this fails."""
        count = self._together() if first else len(self._pending)
        portion = portion_of(
            self.name,
            self.view,
            self._pending[:count],
            self.epoch,
            self._committed,
            in_parts=self._note is None,
        )
        del self._pending[:count]
        self._in_flight = True
        return portion

    @property
    def first_group(self) -> Group | None:
        return self._pending[0].group

    def _together(self) -> int:
        """The first event, with those that were said in one call with it."""
        group, count = self.first_group, 1
        while group and count < len(self._pending) and self._pending[count].group is group:
            count += 1
        return count

    def written(self, portion: Portion) -> None:
        self._in_flight = False
        if portion.is_shared:
            self._come_behind(portion)
        self.view = portion.view
        if self.epoch is None:
            self.epoch = 1
        self._committed = portion.items[-1].recorded.seq
        for item in portion.items:
            if item.text is not None:
                item.text.stored_to = item.recorded.seq
        self._show_what_may([item for item in portion.items if not item.shown])
        for item in portion.items:
            if item.group:
                item.group.tell()

    def _come_behind(self, portion: Portion) -> None:
        """Others write here, too: what they said before this is the store's to tell."""
        first, self.head = portion.growth.first, portion.growth.last
        if first != self._committed + 1:
            self._tail, self._tail_size, self._floor = [], 0, first - 1
        for item in self._pending:
            self.head += 1
            item.recorded.seq = self.head

    def begin_anew(self, head: int, view: View | None) -> None:
        """From what the store has: somebody else wrote here meanwhile."""
        self.head = self._committed = self._floor = head
        self.view = view
        self._tail, self._tail_size = [], 0
        self._wake()

    def end_writer(self, reason: StoreUnavailable) -> None:
        """It is somebody else's. What was said here and is not written was not said."""
        for item in self._pending:
            self._unsay(item, reason)
        self._pending = []
        self._blocks, self._origins = {}, {}
        self.head = self._committed
        self.taken, self.is_own = reason, False

    def hear(self, news: News) -> bool:
        """What somebody else said here. Whether it fits to what is known by now: what is said here
        is on its way, or was written since."""
        if self.is_busy or news.after != self._committed:
            return False
        head = news.head
        if head is None:
            self.forget()
            return True
        self.is_own = False
        view = self.view if news.view is None else news.view
        if news.said is None:
            self.begin_anew(head, view)
        else:
            self.view, self.head, self._committed = view, head, head
            self._put(news.said)
        return True

    @property
    def committed(self) -> int:
        return self._committed

    def _show_what_may(self, items: list[Item]) -> None:
        for item in self._pending:
            if item.shown:
                continue
            if not self._may_be_shown(item):
                break
            items.append(item)
        if items:
            self._show(items)

    def give_back(self, portion: Portion) -> None:
        """It was not written: it waits again, before all that was said since."""
        self._in_flight = False
        self._pending[:0] = portion.items

    def refuse(
        self, reason: StoreUnavailable, whom: Callable[[Group], bool] = lambda _: True
    ) -> None:
        """Who waits is told no, and has not said it; what the runtime said is kept for later."""
        kept: list[Item] = []
        for item in self._pending:
            if item.group and item.group.done and whom(item.group):
                self._unsay(item, reason)
            else:
                kept.append(item)
        self._pending = kept
        self._show_what_may([])

    def drop_first(self, reason: StoreUnavailable) -> None:
        """What cannot be written, by a fault of ours, must not stop all that comes after it."""
        count = self._together()
        for item in self._pending[:count]:
            self._unsay(item, reason)
        del self._pending[:count]
        self._show_what_may([])

    def _unsay(self, item: Item, reason: StoreUnavailable) -> None:
        event = item.event
        if not item.shown:
            self._unshown -= 1
        if item.text is not None:
            item.text.whole = False
        if item.origin is not None:
            self._origins.pop(item.origin, None)
        if item.closes and isinstance(event, ReasoningEnded | MessageEnded | ToolEnded):
            self._blocks.setdefault(event.block, item.closes)
        if item.group:
            item.group.tell(reason)

    # Reading.

    def after(self, seq: int) -> list[Recorded] | None:
        """What was said behind `seq`, or None where the store has to be asked."""
        if seq < self._floor:
            return None
        tail = self._tail
        if not tail or tail[-1].seq <= seq:
            return []
        place = bisect_right(tail, seq, key=lambda recorded: recorded.seq)
        # Deltas that others said are told several in one. Who was told a part of them by the store
        # is told the rest by it, too.
        if not self.is_own and seq > (tail[place - 1].seq if place else self._floor):
            return None
        return tail[place:]
