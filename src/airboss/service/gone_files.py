"""Files that this machine has of sessions that are deleted: whoever deleted one did so with its own
files, and cannot reach those of other machines."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog, ForgetFiles
from airboss.store.bindings import BindingStore
from airboss.store.notices import DELETED

# Where no notice came; and between two looks, where much is deleted.
_LOOK_SECONDS: Final = 3600.0
_REST_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


@dataclass
class GoneFiles:
    """Of one machine of several. What it is bound to is kept until its files are gone."""

    log: EventLog
    bindings: BindingStore
    forget_files: ForgetFiles
    end_cages: Callable[[Collection[str]], Awaitable[None]]
    _work: Background = field(default_factory=lambda: Background("gone files"))

    def start(self) -> None:
        self._work.start(self._look_on(), "looking")

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def _look_on(self) -> None:
        with self.log.changes(DELETED) as heard:
            while not heard.is_over:
                try:
                    await self._look()
                except StoreUnavailable as error:  # with the next one
                    _log.warning("Files of deleted sessions stay for now: %s", error)
                except Exception:  # noqa: BLE001 - a chore's border: whoever runs the server is told
                    _log.exception("Could not delete the files of deleted sessions")
                await asyncio.sleep(_REST_SECONDS)
                await heard.within(_LOOK_SECONDS)

    async def _look(self) -> None:
        gone = await self.bindings.gone()
        if not gone:
            return
        await self.end_cages(gone)
        names = [name for some in gone.values() for name in some]
        await asyncio.to_thread(self.forget_files, list(gone), names)
        await self.bindings.forget_gone(list(gone))
