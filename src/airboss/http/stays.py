"""How long callers may stay: what is open when a token or a sign-in goes is ended soon after."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field

from airboss.background import Background

# A stream that says nothing hears so soon that its caller is out.
PATROL_SECONDS = 0.5


@dataclass(eq=False)
class _Guest:
    is_in: Callable[[], bool]
    show_out: Callable[[], None]


@dataclass
class Patrol:
    """Goes round while something is open. `look` brings what is known up to date."""

    look: Callable[[], Awaitable[None]]
    background: Background
    _guests: set[_Guest] = field(default_factory=set[_Guest])
    _walking: "asyncio.Task[None] | None" = None

    def add(self, guest: _Guest) -> None:
        self._guests.add(guest)
        if self._walking is None or self._walking.done():
            self._walking = self.background.start(self._walk(), "patrol")

    def remove(self, guest: _Guest) -> None:
        self._guests.discard(guest)

    async def _walk(self) -> None:
        while self._guests:
            await asyncio.sleep(PATROL_SECONDS)
            await self.look()
            for guest in [guest for guest in self._guests if not guest.is_in()]:
                self._guests.discard(guest)
                guest.show_out()


@dataclass(frozen=True)
class Stay:
    """One caller's. Only what waits or streams is watched: a short request costs nothing."""

    patrol: Patrol
    is_in: Callable[[], bool]

    @contextlib.contextmanager
    def watched(self, show_out: Callable[[], None]) -> Generator[None]:
        """Calls `show_out` once the caller is no longer in, as long as this is open."""
        guest = _Guest(self.is_in, show_out)
        self.patrol.add(guest)
        try:
            yield
        finally:
            self.patrol.remove(guest)
