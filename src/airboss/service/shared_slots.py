"""The slots of all machines of a database: this one's are handed out as far as all together have
room. Who waited first goes first, on whatever machine."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.engine.slots import Slots
from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.store.notices import SLOTS, WORK
from airboss.store.slot_rows import SlotRows

# Where no notice came: so often somebody looks who waits.
_LOOK_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


@dataclass
class SharedSlots:
    """Of one worker. Without a bound for all, nothing is counted."""

    slots: Slots
    rows: SlotRows
    log: EventLog
    # What the database was told last.
    _told: frozenset[str] = frozenset()
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _work: Background = field(default_factory=lambda: Background("slots"))

    def start(self) -> None:
        self.slots.on_change = self._woken.set
        self._work.start(self._go_on(), "counting")
        self._work.start(self._listen(), "listening")

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def _listen(self) -> None:
        """Also of workers that end: their slots are free then."""
        with self.log.changes(SLOTS, WORK) as heard:
            while not heard.is_over:
                if await heard.within():
                    self._woken.set()

    async def _go_on(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            try:
                await self._settle()
            except StoreUnavailable as error:
                _log.debug("Could not count the slots of all machines: %s", error)
            except Exception:  # noqa: BLE001 - a chore's border: whoever waits is looked at again
                _log.exception("Could not count the slots of all machines")

    async def _settle(self) -> None:
        most = self.slots.overall
        held = self.slots.keys if most is not None else frozenset[str]()
        wanted = self.slots.next_keys()
        if held == self._told and not wanted:
            return
        found = await self.rows.settle(held, wanted, most or 0)
        is_free = not self._told <= found
        self._told = found
        self.slots.hand_out(found, wanted)
        if not found <= self.slots.keys:  # somebody was called away meanwhile
            self._woken.set()
        if is_free:
            self.log.announce(SLOTS)
