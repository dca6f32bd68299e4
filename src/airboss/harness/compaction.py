"""A session's history made shorter because a person asks for it, while nothing else goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from airboss.errors import Conflict, RuntimeUnavailable
from airboss.harness.session_state import SessionState
from airboss.model.context_events import CompactionStarted
from airboss.model.events import Event
from airboss.runtime.errands import Compaction
from airboss.runtime.session import RuntimeSession
from airboss.runtime.signals import Signal

# The model reads the whole history and writes a summary of it. Then it is stopped.
COMPACT_SECONDS = 180.0
_BUSY = "The agent works. A session is compacted while it is idle: wait for it, or stop the turn."


@dataclass
class Compacting:
    """Whoever has `door` keeps the next turn from beginning."""

    state: SessionState
    # The agent as it is to be by now.
    agent: Callable[[], Awaitable[RuntimeSession]]
    seconds: float = COMPACT_SECONDS

    def __post_init__(self) -> None:
        self.door = asyncio.Lock()
        self._who: str | None = None
        self._is_stopped = False

    @property
    def goes_on(self) -> bool:
        return self._who is not None

    async def compact(self, instructions: str | None, who: str) -> Compaction | None:
        """None where there was nothing to compact."""
        if self.state.agent is None or self.state.is_working or self.goes_on:
            raise Conflict(_BUSY)
        self._who, self._is_stopped = who, False
        try:
            async with self.door:
                words = instructions and self.state.redactor.text(instructions).strip()
                return await (await self.agent()).compact(words or None, self.seconds)
        except RuntimeUnavailable:
            if not self._is_stopped:
                raise
            return Compaction(stopped=True)
        finally:
            self._who = None

    async def stop(self) -> None:
        if self.goes_on and self.state.agent:
            self._is_stopped = True
            await self.state.agent.stop_compacting()

    def name(self, said: Event | Signal) -> Event | Signal:
        """The runtime does not know who asked for it."""
        if isinstance(said, CompactionStarted) and self.goes_on:
            return said.model_copy(update={"who": self._who})
        return said
