"""Whether a page shows what the log says: the digest of a stream as of one of its events."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from airboss.engine.run_story import telling_events
from airboss.errors import Conflict, Invalid, NotFound
from airboss.log.log import EventLog
from airboss.model.events import Recorded
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import INBOX
from airboss.model.runs import RunView
from airboss.model.states import STATES, FoldedInbox, FoldedRun, State
from airboss.model.views import View

# The states that are kept, so that the next question of the same page is a short one.
_KEPT: Final = 4
_PAGE: Final = 2000
_WORDS: Final = {"session": "session", "run": "run", "task": "task run", "inbox": "inbox"}


@dataclass(frozen=True)
class Compared:
    """The server's digest, and whether the page's is the same; None where it gave none."""

    seq: int
    digest: str
    same: bool | None


@dataclass
class Digests:
    """Folds a stream for whoever wants to know, and counts the pages that were wrong."""

    log: EventLog
    asked: int = 0
    differences: int = 0
    _known: OrderedDict[str, State] = field(default_factory=OrderedDict[str, State])
    # One at a time: a state is told its events in another thread.
    _folding: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def compare(self, kind: str, stream: str, seq: int, have: str | None) -> Compared:
        view = await self._must_catch_up(kind, stream, seq)
        async with self._folding:
            state = self._known.pop(stream, None)
            if state is None or state.head > seq:
                state = await self._begun(kind, stream, seq, view)
            while found := await self.log.transcript(stream, state.head, _PAGE, until=seq):
                await asyncio.to_thread(_tell, state, found)
            digest = await asyncio.to_thread(state.digest)
            self._known[stream] = state
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        if state.head != seq:
            raise Invalid(f"{seq} is not an event of {stream}, or is a delta. Use another event.")
        self.asked += 1
        self.differences += have is not None and have != digest
        return Compared(seq, digest, None if have is None else have == digest)

    async def _begun(self, kind: str, stream: str, seq: int, view: View | None) -> State:
        """A state that is not folded from every event, where it need not be: of a run most events
        tell of waits that are over, and the inbox is its view, with whatever was ever in it."""
        if kind == RunView.stream_kind:
            run = FoldedRun(stream)
            found = await telling_events(self.log, stream, seq)
            await asyncio.to_thread(_tell, run, found)
            return run
        if isinstance(view, InboxView) and view.seq == seq:
            return FoldedInbox(stream, view)
        return STATES[kind](stream)

    async def _must_catch_up(self, kind: str, stream: str, seq: int) -> View | None:
        view = await self.log.view(stream)
        if stream != INBOX and (view is None or view.stream_kind != kind):
            raise NotFound(_WORDS[kind], stream)
        last = view.seq if view else 0
        if seq > last:
            raise Conflict(f"{stream} has not reached {seq} yet: its last event is {last}.")
        return view


def _tell(state: State, found: Sequence[Recorded]) -> None:
    for recorded in found:
        state.tell(recorded)
