"""A session's history made shorter because a person asks for it, while nothing else goes on."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from airboss.errors import Conflict, RuntimeUnavailable
from airboss.harness.session_state import SessionState
from airboss.model.context_events import CompactionEnded, CompactionStarted
from airboss.model.events import Event
from airboss.runtime.errands import Compaction
from airboss.runtime.session import RuntimeSession
from airboss.runtime.signals import Signal

# The model reads the whole history and writes a summary of it. Then it is stopped.
COMPACT_SECONDS = 180.0
# The runtime tells of the end as an event, too; that may come behind its answer.
_HEARD_SECONDS = 5.0
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
        self._is_heard = asyncio.Event()

    @property
    def goes_on(self) -> bool:
        return self._who is not None

    async def compact(self, instructions: str | None, who: str) -> Compaction | None:
        """None where there was nothing to compact."""
        if self.state.agent is None or self.state.is_working or self.goes_on:
            raise Conflict(_BUSY)
        self._who, self._is_stopped = who, False
        self._is_heard.clear()
        try:
            async with self.door:
                words = instructions and self.state.redactor.text(instructions).strip()
                words = await self._allowed(words)
                done = await (await self.agent()).compact(words or None, self.seconds)
                if done and done.removed:
                    await self._told()
                return done
        except RuntimeUnavailable:
            if not self._is_stopped:
                raise
            return Compaction(stopped=True)
        finally:
            self._who = None

    async def _allowed(self, instructions: str | None) -> str | None:
        """What hooks leave of it; refused where one says no."""
        if self.state.hooks is None:
            return instructions
        given = {"trigger": "manual", "instructions": instructions or "", "who": self._who}
        said = await self.state.hooks.ask("beforeCompaction", given)
        if said.no is not None:
            raise Conflict(f"A hook refused to compact the history: {said.no}")
        return said.given["instructions"] or None

    async def _told(self) -> None:
        """Whoever asks next reads of it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_HEARD_SECONDS):
                await self._is_heard.wait()
        await self.state.writer.settle()

    async def stop(self) -> None:
        if self.goes_on and self.state.agent:
            self._is_stopped = True
            await self.state.agent.stop_compacting()

    def name(self, said: Event | Signal) -> Event | Signal:
        """The runtime does not know who asked for it."""
        hooks = self.state.hooks
        if hooks is not None and isinstance(said, CompactionStarted) and not self.goes_on:
            hooks.start("beforeCompaction", {"trigger": said.trigger, "before": said.before})
        if hooks is not None and isinstance(said, CompactionEnded):
            hooks.start("afterCompaction", said.model_dump(mode="json", exclude={"kind"}))
        if isinstance(said, CompactionEnded):
            self._is_heard.set()
        if isinstance(said, CompactionStarted) and self.goes_on:
            return said.model_copy(update={"who": self._who})
        return said
