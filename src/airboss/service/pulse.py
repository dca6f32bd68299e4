"""Once a second: a notice that was lost costs no more than that, whatever it told of. One question
asks for all, where each of those who wait for something would ask for itself."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.service.rule_sharing import RULES
from airboss.service.shared_entry import ENTRY
from airboss.store.notices import ACCESS, COMMANDS
from airboss.store.pulse import Found, PulseStore

# Within a second it is known, and it has to be read first.
_SECONDS: Final = 0.9

_log = logging.getLogger(__name__)


@dataclass
class Pulse:
    """Of one worker. `is_draining` and `entry` are what it knows; `wake` is told of work."""

    store: PulseStore
    log: EventLog
    is_draining: Callable[[], bool]
    entry: Callable[[], str | None]
    wake: Callable[[], None]
    _access: tuple[str | None, str | None] | None = None
    _work: Background = field(default_factory=lambda: Background("pulse"))

    def start(self) -> None:
        self._work.start(self._go_on(), "looking")

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            try:
                found = await self.store.look()
                if found is not None:
                    self._tell(found)
            except StoreUnavailable as error:
                self._access = None  # whoever looked meanwhile may have seen nothing
                _log.debug("Could not look for what no notice told of: %s", error)
            except Exception:  # noqa: BLE001 - a chore's border: it is looked again in a second
                _log.exception("Could not look for what no notice told of")

    def _tell(self, found: Found) -> None:
        is_draining = found.state == "draining"
        if found.has_work or is_draining or self.is_draining():
            self.wake()
        words = {
            COMMANDS: found.is_asked,
            RULES: found.has_new_rules,
            ENTRY: found.entry != self.entry(),
            ACCESS: found.access != self._access,
        }
        self._access = found.access
        for word, is_new in words.items():
            if is_new:
                self.log.announce(word, only_here=True)
