"""An entry that a call to one server has installed is that of all servers of the database."""

import asyncio
import contextlib
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

# Where no notice came, and while something runs here on another one.
_LOOK_SECONDS: Final = 1.0
_ENTRY: Final = "entry"

_log = logging.getLogger(__name__)


@dataclass
class SharedEntry:
    """Of one worker. It lasts until the last of them has ended, or another one is installed."""

    entries: Entries
    store: InstalledStore
    log: EventLog
    _work: Background = field(default_factory=lambda: Background("installed entry"))

    async def start(self) -> None:
        """With what is installed, before anybody asks."""
        if self.entries.settings.test:
            return
        await self.store.begin()
        self.entries.on_install = self._tell
        await self._look()
        self._work.start(self._look_on(), "looking")

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def _tell(self, made: Installed) -> None:
        await self.entries.keep(made)
        await self.store.keep(made.digest, actor().who or "", made.loaded_at)
        self.log.announce(_ENTRY)

    async def _look_on(self) -> None:
        with self.log.changes(for_a_page=False) as heard:
            while not heard.is_over:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_SECONDS):
                        while not heard.is_over:
                            if _ENTRY in await heard.next() or heard.took_any():
                                break
                await self._look()

    async def _look(self) -> None:
        try:
            if digest := await self.store.digest():
                await self.entries.take(digest)
        except StoreUnavailable as error:
            _log.debug("Could not look for the installed entry: %s", error)
        except AirbossError as error:
            _log.warning("The entry that is installed cannot be used here: %s", error)
