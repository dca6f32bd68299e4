"""Whose a stream is: this process claims what it writes in, and gives back what it only said a word
in. Of a database that several processes share."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from airboss.background import Background
from airboss.errors import OwnedElsewhere, StoreAway, StoreUnavailable
from airboss.log import rows
from airboss.log.appending import SHARED
from airboss.log.stream import LiveStream
from airboss.patience import patience
from airboss.store.database import Database
from airboss.store.dialect import SHARED_EPOCH, Fenced
from airboss.store.ownership import Ownership, claim, release

_SLOW = "The database does not answer. Try again in a moment."


@dataclass
class Holding:
    """Of one log."""

    database: Database
    ownership: Ownership
    # Who is saying a word in which streams, and which of those nobody had before.
    _words: Counter[str] = field(default_factory=Counter[str])
    _borrowed: set[str] = field(default_factory=set[str])
    _returning: dict[str, "asyncio.Task[None]"] = field(
        default_factory=dict[str, "asyncio.Task[None]"]
    )
    _work: Background = field(default_factory=lambda: Background("holding"))

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def claim(self, stream: LiveStream, *, for_a_word: bool) -> None:
        name, worker = stream.name, self.ownership.worker
        if name in SHARED:
            stream.epoch = SHARED_EPOCH
            return
        if returning := self._returning.get(name):
            await asyncio.wait({returning}, timeout=patience())
            if not returning.done():
                raise StoreAway(_SLOW)
        try:
            claimed, view = await self.database.write(
                lambda c: (claim(c, worker, name), rows.view(c, name))
            )
        except Fenced as fenced:
            if fenced.is_own_end:
                self.ownership.tell(fenced)
            raise OwnedElsewhere(
                f"Another server works on {name}: {fenced}. Try again in a moment."
            ) from fenced
        stream.epoch, stream.is_own, stream.taken = claimed.epoch, True, None
        if not for_a_word:
            self._borrowed.discard(name)
        elif claimed.is_new:
            self._borrowed.add(name)
        if claimed.head != stream.committed:
            stream.begin_anew(claimed.head, view)

    def begin_word(self, name: str) -> None:
        self._words[name] += 1

    async def end_word(self, stream: LiveStream) -> None:
        """What nobody had is nobody's again, unless somebody here has gone on with it."""
        name, epoch = stream.name, stream.epoch
        self._words[name] -= 1
        if self._words[name]:
            return
        del self._words[name]
        if name not in self._borrowed or epoch is None:
            return
        self._borrowed.discard(name)
        stream.is_own = False
        returning = self._work.start(self._give_back(name, epoch), name)
        self._returning[name] = returning
        returning.add_done_callback(lambda _: self._returning.pop(name, None))
        await asyncio.wait({returning}, timeout=patience())

    async def _give_back(self, name: str, epoch: int) -> None:
        """However long the database is away."""
        try:
            await self.database.write(
                partial(release, worker=self.ownership.worker, stream=name, epoch=epoch)
            )
        except StoreUnavailable:
            return  # this process ends, and has nothing any more then
