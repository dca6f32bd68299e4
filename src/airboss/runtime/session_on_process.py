"""A session that the runtime has opened, and what is asked of it beside its turns."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

from airboss.errors import RuntimeUnavailable
from airboss.runtime.errands import Compaction, aside, compact, stop_compacting
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused

if TYPE_CHECKING:
    from copilot.rpc import SessionRpc
    from copilot.session import CopilotSession

T = TypeVar("T")

WORKING_SECONDS: Final = 5.0
_NOTHING_TO_COMPACT: Final = "Nothing to compact"


class SessionOnProcess:
    """On one process of the runtime."""

    def __init__(self, process: RuntimeProcess, name: str) -> None:
        self.id = name
        self._process = process
        self._sdk: CopilotSession | None = None

    @property
    def _opened(self) -> "CopilotSession":
        if self._sdk is None:
            raise RuntimeUnavailable(f"Session {self.id} is not open.")
        return self._sdk

    async def _say(self, ask: "Callable[[SessionRpc], Coroutine[Any, Any, T]]") -> T:
        return await self._process.ask(ask(self._opened.rpc), WORKING_SECONDS)

    async def aside(self, question: str, seconds: float) -> str:
        """Answered from the history, by the same model, while a turn runs as well."""
        return await self._process.ask(aside(self._opened, question), seconds)

    async def compact(self, instructions: str | None, seconds: float) -> Compaction | None:
        """Replace the history by a summary; None where there is too little of it. Whoever stops
        waiting, or waited for so long, has it stopped: the history is then as it was."""
        try:
            return await self._process.ask(compact(self._opened, instructions), seconds)
        except RuntimeRefused as error:
            if _NOTHING_TO_COMPACT in str(error):
                return None
            raise
        except (RuntimeUnavailable, asyncio.CancelledError):
            await self.stop_compacting()
            raise

    async def stop_compacting(self) -> None:
        if self._process.alive:
            with contextlib.suppress(RuntimeUnavailable):
                await self._process.ask(stop_compacting(self._opened), WORKING_SECONDS)
