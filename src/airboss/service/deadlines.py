"""Deadlines of what sessions asked that were cut off meanwhile: nobody else looks at the clock."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

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
    _going: "asyncio.Task[None] | None" = None

    async def start(self) -> None:
        """What came too late while no server ran is settled before anybody can decide it."""
        await self.look()
        self._going = asyncio.create_task(self._go_on(), name="deadlines")

    async def close(self) -> None:
        if self._going is not None:
            self._going.cancel()
            await asyncio.wait({self._going})

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            try:
                await self.look()
            except StoreUnavailable:  # the log has said that by itself
                continue
            except Exception:  # noqa: BLE001 - a chore's border: whoever runs the server is told
                _log.exception("What nobody decided in time could not be settled")

    async def look(self) -> None:
        now = self.now()
        for item in self.inbox.waiting():
            expires_at = item.asked.expires_at
            if expires_at is None or expires_at > now or self.sessions.is_open(item.session):
                continue
            with contextlib.suppress(AirbossError):  # decided or closed in this very moment
                late = ItemSettled(item=item.id, outcome="timeout")
                await self.sessions.settle(item.session, late)
