"""Deadlines of what sessions asked that were cut off meanwhile: nobody else looks at the clock."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.errors import AirbossError, StoreUnavailable
from airboss.log.writer import now_ms
from airboss.model.inbox_events import ItemSettled
from airboss.service.inbox import Inbox
from airboss.service.sessions import Sessions

_log = logging.getLogger(__name__)

EVERY_SECONDS: Final = 1.0


@dataclass
class Deadlines:
    """An open session sees to its own."""

    inbox: Inbox
    sessions: Sessions
    now: Callable[[], int] = now_ms
    _going: Background = field(default_factory=lambda: Background("deadlines"))

    async def start(self) -> None:
        """What came too late while no server ran is settled before anybody can decide it."""
        await self.look()
        self._going.start(self._go_on())

    async def close(self) -> None:
        await self._going.close(cancel=True)

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            try:
                await self.look()
            except StoreUnavailable:  # the log has said that by itself
                continue
            except Exception:  # noqa: BLE001 - a chore's border: whoever runs the server is told
                _log.exception("Could not settle items whose time limit has passed")

    async def look(self) -> None:
        now = self.now()
        for item in self.inbox.waiting():
            expires_at = item.asked.expires_at
            if expires_at is None or expires_at > now or self.sessions.is_open(item.session):
                continue
            owners = self.sessions.owners
            if owners is not None and await owners.is_elsewhere(item.session):
                continue
            with contextlib.suppress(AirbossError):  # decided or closed in this very moment
                late = ItemSettled(item=item.id, outcome="timeout")
                await self.sessions.settle(item.session, late)
