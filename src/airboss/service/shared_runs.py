"""Runs on a database that several machines share: what each needs, and who takes it."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from airboss.engine.homes import WALK
from airboss.engine.slots import Slots
from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.machines.fitting import free_places, places_of
from airboss.model.ids import RunId
from airboss.model.runs import RunView
from airboss.service.placement import Placement
from airboss.store.claims import Claims
from airboss.store.notices import WORK


def _nothing() -> None:
    """Nobody listens."""


@dataclass
class SharedRuns:
    """As one worker sees them, which has so many `slots`."""

    claims: Claims
    placement: Placement
    log: EventLog
    slots: Slots
    # So long tasks may end when this worker is told to stop.
    drain_seconds: float = 0
    # Told when a run of this worker has ended: there may be room for another.
    on_room: Callable[[], None] = _nothing
    # What was offered here and does not fit this machine.
    _for_others: set[str] = field(default_factory=set[str])

    async def folder(self, cwd: str | None, labels: Sequence[str]) -> str:
        return (await self.placement.locate(cwd, labels)).cwd

    async def offer(self, run: RunId, cwd: str, labels: Sequence[str]) -> None:
        """Workers find the run: at once, or when this one is lost."""
        needs = (await self.placement.locate(cwd, labels)).needs
        if not self.placement.me.fits(needs):
            self._for_others.add(run)
        await self.claims.offer(run, needs.root, needs.place, WALK, sorted(needs.labels))

    def has_ended(self) -> None:
        self.on_room()

    def room(self, open_runs: Iterable[RunView]) -> int:
        """How many more runs this worker takes beside these."""
        return free_places(self.slots.count, open_runs) if self.placement.works else -1

    def keeps(self, view: RunView, open_runs: Iterable[RunView]) -> bool:
        """Whether this worker works on a run that it has accepted, which is one of these. In a
        session that somebody lent it is nobody else's."""
        if places_of(view) == 0:
            return True
        return view.id not in self._for_others and self.room(open_runs) >= 0

    def be_draining(self, *, is_draining: bool) -> None:
        """Takes nothing new, and no task begins; or all of that again."""
        if self.placement.is_draining != is_draining:
            self.placement.is_draining = is_draining
            self.slots.close(is_closed=is_draining)

    async def drain(self) -> None:
        """Before this worker stops: until no task is at work, but no longer than it may take."""
        with contextlib.suppress(StoreUnavailable):  # others find it lost
            await self.claims.drain(self.claims.worker)
        self.be_draining(is_draining=True)
        self.on_room()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.drain_seconds):
                await self.slots.until_empty()

    async def held_for(self, run: str) -> str | None:
        """Whom a run waits for that nobody has, and nobody who lives could take."""
        waiting = await self.claims.waiting(run)
        return None if waiting is None else await self.placement.held_for(waiting)

    async def give_away(self, *names: str) -> None:
        """A run with what is below it, all of it on disk: whoever has room takes it."""
        self._for_others.difference_update(names)
        self.log.let_go(names)
        await self.claims.release(names)
        self.call()

    def call(self) -> None:
        self.log.announce(WORK)
