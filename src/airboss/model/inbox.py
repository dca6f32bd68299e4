"""What waits for a person, over all sessions: a view that is kept."""

from typing import ClassVar

from airboss.model.events import Event
from airboss.model.inbox_events import INBOX, InboxArrived, InboxItem, InboxSettled
from airboss.model.words import Frozen


class InboxView(Frozen):
    """All that waits as of `seq`, in the order in which it came."""

    stream_kind: ClassVar[str] = "inbox"

    id: str = INBOX
    state: str = "open"
    created_at: int
    updated_at: int
    seq: int
    items: tuple[InboxItem, ...] = ()

    @property
    def is_open(self) -> bool:
        return True

    @property
    def is_over(self) -> bool:
        return False


def begin_inbox(seq: int, at: int, event: InboxArrived) -> InboxView:
    return InboxView(created_at=at, updated_at=at, seq=seq, items=(event.item,))


def fold_inbox(view: InboxView, seq: int, at: int, event: Event) -> InboxView:
    match event:
        case InboxArrived():
            items = (*view.items, event.item)
        case InboxSettled():
            items = tuple(item for item in view.items if item.id != event.item)
        case _:
            items = view.items
    return view.model_copy(update={"items": items, "seq": seq, "updated_at": at})
