"""Which streams were told something, for those who look at all of them."""

import asyncio
import contextlib

from airboss.model.audit_events import AUDIT
from airboss.model.inbox_events import INBOX
from airboss.store.notices import ACCESS, ANSWERS, COMMANDS, DELETED, SLOTS, WORK

# What no list shows.
UNLISTED = frozenset({INBOX, AUDIT, COMMANDS, ANSWERS, WORK, ACCESS, SLOTS, DELETED})


class ChangedStreams:
    """One listener's: the streams that were told something since it was last asked. One that is
    `only_here` does not hear what other processes on the same database say; one with `words` hears
    these alone, and is not woken by anything else."""

    def __init__(self, *words: str, for_a_page: bool = True, only_here: bool = False) -> None:
        self._words = frozenset(words)
        self.for_a_page = for_a_page and not words
        self.only_here = only_here
        self._names: dict[str, None] = {}
        self._any = False
        self._woken = asyncio.Event()
        self.is_over = False

    def add(self, name: str) -> None:
        if self._words and name not in self._words:
            return
        self._names[name] = None
        self._woken.set()

    def add_any(self) -> None:
        """Nobody knows which: other processes were not heard for a while."""
        self._any = True
        self._woken.set()

    def took_any(self) -> bool:
        """Whether it may have been any, since this was last asked."""
        taken, self._any = self._any, False
        return taken

    def add_of_others(self, name: str | None) -> None:
        """What another process said; None: nobody knows where."""
        if self.only_here:
            return
        if name is None:
            self.add_any()
        else:
            self.add(name)

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

    async def within(self, seconds: float | None = None) -> bool:
        """Until something was heard, or may have been, but no longer than this; whether it was."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        heard, self._names = bool(self._names), {}
        if not self.is_over:
            self._woken.clear()
        return self.took_any() or heard
