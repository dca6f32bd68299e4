"""Which streams were told something, for those who look at all of them."""

import asyncio

from airboss.model.audit_events import AUDIT
from airboss.model.inbox_events import INBOX

# Streams that no list shows.
UNLISTED = frozenset({INBOX, AUDIT})


class ChangedStreams:
    """One listener's: the streams that were told something since it was last asked."""

    def __init__(self, *, for_a_page: bool = True) -> None:
        self.for_a_page = for_a_page
        self._names: dict[str, None] = {}
        self._woken = asyncio.Event()
        self.is_over = False

    def add(self, name: str) -> None:
        self._names[name] = None
        self._woken.set()

    def end(self) -> None:
        """The server is stopping: nothing more will be heard here."""
        self.is_over = True
        self._woken.set()

    async def next(self) -> list[str]:
        """Those that changed, as soon as one did; none at the end."""
        await self._woken.wait()
        names, self._names = list(self._names), {}
        if not self.is_over:
            self._woken.clear()
        return names
