"""An entry that a call to one server has installed is that of all servers of the database."""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.errors import AirbossError, StoreUnavailable
from airboss.log.log import EventLog
from airboss.service.audit import actor
from airboss.service.entries import Entries
from airboss.service.installed import Installed
from airboss.store.installed import InstalledStore

ENTRY: Final = "entry"
# While something runs here on another one.
_AGAIN_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


@dataclass
class SharedEntry:
    """Of one worker. It lasts until the last of them has ended, or another one is installed."""

    entries: Entries
    store: InstalledStore
    log: EventLog
    # What the database said last.
    digest: str | None = None
    # What was read before another entry was installed here must not take the place of that.
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _work: Background = field(default_factory=lambda: Background("installed entry"))

    async def start(self) -> None:
        """With what is installed, before anybody asks."""
        if self.entries.settings.test:
            return
        await self.store.begin()
        self.entries.on_install = self._tell
        await self._look(is_new=True)
        self._work.start(self._look_on(), "looking")

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def _tell(self, made: Installed) -> None:
        async with self._turn:
            await self.entries.keep(made)
            await self.store.keep(made.digest, actor().who or "", made.loaded_at)
            self.digest = made.digest
        self.log.announce(ENTRY)

    async def _look_on(self) -> None:
        with self.log.changes(ENTRY) as heard:
            while not heard.is_over:
                await self._look(is_new=await heard.within(_AGAIN_SECONDS))

    async def _look(self, *, is_new: bool) -> None:
        try:
            async with self._turn:
                if is_new:
                    self.digest = await self.store.digest()
                if self.digest:
                    await self.entries.take(self.digest)
        except StoreUnavailable as error:
            _log.debug("Could not look for the installed entry: %s", error)
        except AirbossError as error:
            _log.warning("The entry that is installed cannot be used here: %s", error)
