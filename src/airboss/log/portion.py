"""What one flush takes from a stream: its rows, what a block's end makes of them, and the view."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airboss.errors import StoreUnavailable
from airboss.log.doubt import InDoubt
from airboss.log.marks import Marks
from airboss.log.parts import parts_of
from airboss.log.rows import Run, row_of
from airboss.model.events import (
    BlockDelta,
    BlockStarted,
    Event,
    MessageEnded,
    ReasoningEnded,
    Recorded,
    ToolEnded,
)
from airboss.model.views import View, fold
from airboss.store.dialect import SHARED_EPOCH, Growth, Origin, Part, Row, Start

if TYPE_CHECKING:
    from airboss.log.stream import LiveStream


@dataclass(slots=True)
class OpenText:
    """A block in the making: where its deltas ended, and how many of them the store has."""

    marks: Marks = field(default_factory=Marks)
    start: int | None = None
    stored_to: int = 0
    whole: bool = True

    def add(self, seq: int, delta: BlockDelta) -> None:
        self.whole = self.whole and delta.offset == self.marks.said
        self.marks.add(seq, delta.offset + len(delta.text))

    def fits(self, end: Event) -> bool:
        """Whether the end's text is what the deltas said; if not, they stay as they are."""
        if not isinstance(end, ReasoningEnded | MessageEnded | ToolEnded):
            return False
        return self.whole and self.marks.said == len(end.text)


@dataclass(eq=False, slots=True)
class Group:
    """Events that are written in one transaction or not at all, in these streams; and who waits."""

    streams: "tuple[LiveStream, ...]"
    done: "asyncio.Future[None] | None" = None
    # Until when who waits does so while the database is away.
    until: float | None = None
    # Who waited was told that nobody knows; whether it is written, as soon as somebody does.
    fate: "asyncio.Future[bool] | None" = None

    def is_late(self, now: float) -> bool:
        return self.until is not None and now > self.until

    def leave_in_doubt(self, words: str) -> None:
        """Who waits does so no longer, before it is known what came of it."""
        if self.done and not self.done.done():
            self.fate = asyncio.get_running_loop().create_future()
            self.done.set_exception(InDoubt(words, self.fate))

    def tell(self, refused: StoreUnavailable | None = None) -> None:
        """It is written, or was not said; each stream of it says so."""
        if self.fate and not self.fate.done():
            self.fate.set_result(refused is None)
        if self.done is None or self.done.done():
            return
        if refused is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(type(refused)(str(refused)))


@dataclass(slots=True)
class Item:
    """An event on its way to the disk."""

    recorded: Recorded
    event: Event
    group: Group | None = None
    shown: bool = False
    text: OpenText | None = None
    closes: OpenText | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Portion:
    """What one flush takes from a stream."""

    growth: Growth
    items: Sequence[Item]
    rows: Sequence[Row]
    parts: Sequence[Part]
    runs: Sequence[Run]
    opened: Sequence[Start]
    closed: Sequence[Start]
    origins: Sequence[Origin]
    view: View | None
    # Whether something but deltas was said: those change no view.
    has_new_view: bool

    @property
    def is_shared(self) -> bool:
        return self.growth.epoch == SHARED_EPOCH


def portion_of(
    stream: str,
    view: View | None,
    items: Sequence[Item],
    epoch: int | None = None,
    committed: int = 0,
    *,
    in_parts: bool = False,
) -> Portion:
    """Deltas that become part of a run are not written before it. Others are rows of their own, or
    `in_parts`."""
    runs = [run for item in items for run in _runs(stream, item)]
    merged = {seq for run in runs for seq in run.marks.seqs}
    left = [item for item in items if item.recorded.seq not in merged]
    parts: Sequence[Part] = ()
    if in_parts:
        said = [(one.recorded, one.event) for one in left if isinstance(one.event, BlockDelta)]
        parts = parts_of(stream, said)
        left = [item for item in left if item.text is None]
    rows = [_row(stream, item) for item in left]
    opened = [item.recorded.seq for item in items if isinstance(item.event, BlockStarted)]
    closed = [item.closes.start for item in items if item.closes and item.closes.start]
    before = view
    for item in items:
        if item.text is None:
            view = fold(view, stream, item.recorded.seq, item.recorded.at, item.event)
    return Portion(
        growth=Growth(
            stream,
            items[0].recorded.seq,
            items[-1].recorded.seq,
            sum(len(item.recorded.body) for item in items),
            epoch,
            committed,
        ),
        items=items,
        rows=rows,
        parts=parts,
        runs=runs,
        opened=[(stream, seq) for seq in opened if seq not in closed],
        closed=[(stream, seq) for seq in closed if seq not in opened],
        origins=[(stream, item.origin, item.recorded.seq) for item in items if item.origin],
        view=view,
        has_new_view=view is not before,
    )


def _row(stream: str, item: Item) -> Row:
    event = item.event
    role, block = None, getattr(event, "block", None)
    if item.text is not None:
        role = "delta"
    elif isinstance(event, BlockStarted):
        role = "start"
    elif block is not None:
        role = "end"
    return row_of(stream, item.recorded, event.kind, role, block)


def _runs(stream: str, item: Item) -> list[Run]:
    """A delta that stands alone stays a delta."""
    text, event = item.closes, item.event
    if text is None or not isinstance(event, ReasoningEnded | MessageEnded | ToolEnded):
        return []
    if not text.fits(event):
        return []
    return [
        Run(
            stream=stream,
            block=event.block,
            at=item.recorded.at,
            end_seq=item.recorded.seq,
            end_kind=event.kind,
            marks=marks,
            stored=marks.seqs[0] <= text.stored_to,
        )
        for marks in text.marks.runs()
        if len(marks.seqs) > 1
    ]
