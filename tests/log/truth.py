"""What a writer said, kept beside the log, so that every step of a reader can be judged."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import (
    BlockDelta,
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    Recorded,
    SessionOpened,
)


@dataclass
class Told:
    """One block's text as it was said: seqs, and how long the text was by each of them."""

    block: str
    text: str = ""
    seqs: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])

    def by(self, seq: int) -> int:
        place = bisect_right(self.seqs, seq)
        return self.ends[place - 1] if place else 0


@dataclass
class Truth:
    """Says events through a writer and remembers each with the number it must have got."""

    seq: int = 0
    others: dict[int, Event] = field(default_factory=dict[int, Event])
    blocks: list[Told] = field(default_factory=list[Told])
    block_of: dict[int, Told] = field(default_factory=dict[int, Told])
    _open: dict[str, Told] = field(default_factory=dict[str, Told])

    def other(self, event: Event) -> Event:
        self.seq += 1
        self.others[self.seq] = event
        return event

    def start(self, block: str) -> Event:
        self._open[block] = Told(block)
        self.blocks.append(self._open[block])
        return self.other(MessageStarted(block=block))

    def delta(self, block: str, text: str) -> Event:
        said = self._open[block]
        self.seq += 1
        delta = MessageDelta(block=block, offset=len(said.text), text=text)
        said.text += text
        said.seqs.append(self.seq)
        said.ends.append(len(said.text))
        self.block_of[self.seq] = said
        return delta

    def end(self, block: str) -> Event:
        return self.other(MessageEnded(block=block, text=self._open.pop(block).text))

    def is_open(self, block: str) -> bool:
        return block in self._open

    def check(self, after: int, events: Sequence[Recorded], *, to_the_end: bool = True) -> None:
        """Each event brings the reader from one place to the next, and leaves nothing out."""
        here = after
        for recorded in events:
            self._check_step(here, recorded)
            here = recorded.seq
        if to_the_end:
            assert here == max(after, self.seq), f"a reader from {after} came only to {here}"

    def _check_step(self, here: int, recorded: Recorded) -> None:
        there, event = recorded.seq, recorded.event
        assert there > here, f"{there} came after {here}"
        expected = [seq for seq in self.others if here < seq <= there]
        moved = [said for said in self.blocks if said.by(here) != said.by(there)]
        if isinstance(event, BlockDelta):
            said = self.block_of[there]
            rest = said.text[said.by(here) : said.by(there)]
            delta = MessageDelta(block=said.block, offset=said.by(here), text=rest)
            assert (expected, moved, event) == ([], [said], delta)
        else:
            assert (expected, moved) == ([there], [])
            assert event == self.others[there]


async def read_all(log: EventLog, stream: str, after: int, limit: int) -> list[Recorded]:
    """Page by page to the end."""
    found: list[Recorded] = []
    while page := await log.after(stream, after, limit):
        assert len(page) <= limit
        found += page
        after = page[-1].seq
    return found


async def begin(log: EventLog, stream: str, truth: Truth) -> Writer:
    """The first event of a stream is always on disk before anything else is said."""
    writer = await log.writer(stream)
    opened = SessionOpened(model="m", cwd="/", policy="read-only", who="me")
    assert (await writer.commit(truth.other(opened))).seq == truth.seq
    return writer


def deltas_of(events: Sequence[Recorded]) -> list[BlockDelta]:
    found = [recorded.event for recorded in events]
    return [cast("BlockDelta", event) for event in found if isinstance(event, BlockDelta)]
