"""What ended long ago, or is more than the disk is to hold, is deleted: at the start and hourly."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.errors import AirbossError, StoreUnavailable
from airboss.log.log import EventLog
from airboss.log.writer import now_ms
from airboss.service.audit import Audit
from airboss.service.duties import always
from airboss.service.runs import Runs
from airboss.store.database import Database
from airboss.store.ended import EndedIndex, EndedStream

_log = logging.getLogger(__name__)

EVERY_SECONDS: Final = 3600.0
_DAY_MS: Final = 24 * 3600 * 1000
_AT_ONCE: Final = 50
# A session that people left open, or that can be resumed, is kept however old it is.
_STATES: Final = {
    "run": ("succeeded", "failed", "canceled"),
    # Around a task that was started by itself, and goes with it.
    "lone": ("succeeded", "failed", "canceled"),
    "task": ("succeeded", "failed", "canceled", "crashed"),
    "session": ("closed",),
}
# A task goes with its run, and a session with its task.
_OWNERS: Final = {"task": ("run", "own_run"), "session": ("task",)}


@dataclass
class Retention:
    """Without a bound nothing is ever deleted."""

    log: EventLog
    runs: Runs
    index: EndedIndex
    keep_days: float | None = None
    keep_bytes: int | None = None
    audit: Audit | None = None
    keep_audit_days: float | None = None
    now: Callable[[], int] = now_ms
    # Whether this process is to do it, where several share a database.
    has_duty: Callable[[str], Awaitable[bool]] = always
    every_seconds: float = EVERY_SECONDS
    _going: Background = field(default_factory=lambda: Background("retention"))

    def start(self) -> None:
        self._going.start(self._go_on())

    def keep(self, days: float | None, size: int | None) -> None:
        """From now on so much. What is more than that goes with the next look, within the hour."""
        self.keep_days, self.keep_bytes = days, size

    async def close(self) -> None:
        await self._going.close(cancel=True)

    async def _go_on(self) -> None:
        while True:
            try:
                count = await self.tidy() if await self.has_duty("retention") else 0
            except StoreUnavailable:  # the log has said that by itself
                count = 0
            except Exception:  # noqa: BLE001 - a chore's border: whoever runs the server is told
                _log.exception("Could not delete old data")
                count = 0
            if count:
                _log.info("Deleted %d finished runs, tasks and sessions", count)
            await asyncio.sleep(self.every_seconds)

    async def tidy(self) -> int:
        """Deletes what is too old, then the oldest while there is too much; answers how many."""
        await self.log.forget_left()
        count = 0
        if self.audit and self.keep_audit_days is not None:
            before = self.now() - int(self.keep_audit_days * _DAY_MS)
            await self.audit.trim(self.keep_audit_days, before)
        if self.keep_days is not None:
            before = self.now() - int(self.keep_days * _DAY_MS)
            while found := await self.index.oldest(before, _AT_ONCE):
                if not (gone := await self._delete(found)):
                    break
                count += gone
        while self.keep_bytes is not None and await self.index.used_bytes() > self.keep_bytes:
            gone = await self._delete(await self.index.oldest(None, 1))
            if not gone:
                break
            count += gone
        return count

    async def _delete(self, found: list[EndedStream]) -> int:
        count = 0
        for one in found:
            with contextlib.suppress(AirbossError):  # somebody retries or deletes it just now
                if one.kind in ("run", "lone"):
                    await self.runs.forget(one.stream)
                else:  # what it owned has no owner then, and is found next
                    view = await self.log.view(one.stream)
                    if view is not None and view.is_open:  # somebody has resumed it since
                        continue
                    await self.log.forget([one.stream], one.stream)
                count += 1
        return count


def ended_in(database: Database) -> EndedIndex:
    return EndedIndex(database, _STATES, _OWNERS)
