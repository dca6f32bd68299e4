"""The cage of a chat in which nobody works any more ends after a while, and the next request opens
it again, with what it had on disk. A cage takes some 100 MB, and there are only so many."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Final

from airboss.errors import AirbossError
from airboss.harness.session_opening import SessionOpening
from airboss.harness.session_state import SessionState

REST_SECONDS: Final = 600.0
_LOOKS: Final = 20
_RESTS: Final = "Nobody worked in it for a while. The next message opens it again."


@dataclass
class CageRest:
    """Of one session; `door` keeps turns from beginning meanwhile."""

    state: SessionState
    opening: SessionOpening
    door: asyncio.Lock
    seconds: float = REST_SECONDS
    is_resting: bool = False
    # Since when nothing is worked on.
    idle_since: float | None = None
    _waking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def may_rest(self) -> bool:
        """A task goes on by itself, and has nobody who would wait for it; and extensions in the
        cage would end with it."""
        terms = self.opening.terms.now
        is_busy = self.state.is_working or self.state.waiting or self.state.keeps_cage()
        return terms.cage is not None and self.state.task is None and not is_busy

    @property
    def last_at(self) -> int:
        """When it last said something."""
        return self.state.view.updated_at if self.state.view else 0

    async def watch(self) -> None:
        """Until it is cancelled."""
        if self.opening.terms.now.cage is None or self.state.task is not None:
            return
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.seconds / _LOOKS)
            if not self.may_rest:
                self.idle_since = None
            elif self.idle_since is None:
                self.idle_since = loop.time()
            elif loop.time() - self.idle_since >= self.seconds:
                await self.rest()

    async def rest(self) -> bool:
        """Whether it rests now."""
        async with self.door, self._waking:
            agent = self.state.agent
            if self.is_resting or agent is None or not agent.alive or not self.may_rest:
                return self.is_resting
            self.is_resting = True
            with contextlib.suppress(AirbossError):
                await agent.close()
            await self.opening.left(_RESTS)
            return True

    async def end(self) -> None:
        """The agent is there again, with its history, where the session is open. Refused where
        there is no room for its cage."""
        self.state.must_be_open()
        self.idle_since = None
        async with self._waking:
            if self.is_resting:
                self.state.agent = await self.opening.reopened()
                self.is_resting = False
