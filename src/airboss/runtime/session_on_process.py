"""A session that the runtime has opened, and what is asked of it beside its turns."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

from airboss.errors import RuntimeUnavailable
from airboss.runtime.errands import (
    CommandAnswer,
    Compaction,
    aside,
    command,
    compact,
    stop_compacting,
)
from airboss.runtime.requests import CutOffRequests, pending_requests
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused
from airboss.runtime.tool_names import ToolsBySource, tools_by_source
from airboss.runtime.tools import ToolOffer

if TYPE_CHECKING:
    from copilot.rpc import SessionRpc
    from copilot.session import CopilotSession

T = TypeVar("T")

WORKING_SECONDS: Final = 5.0
_COMMAND_SECONDS: Final = 30.0
_NOTHING_TO_COMPACT: Final = "Nothing to compact"


class SessionOnProcess:
    """On one process of the runtime."""

    def __init__(self, process: RuntimeProcess, name: str) -> None:
        self.id = name
        self._process = process
        self._sdk: CopilotSession | None = None
        self._began = False
        # What Airboss offers now.
        self.offers: tuple[ToolOffer, ...] = ()

    @property
    def _brought(self) -> frozenset[str]:
        """The names of the tools of extensions."""
        return frozenset(offer.name for offer in self.offers if offer.asks)

    @property
    def workspace(self) -> str | None:
        """The runtime's folder for the plan and the notes of the session."""
        path = self._sdk.workspace_path if self._sdk else None
        return None if path is None else str(path)

    @property
    def has_begun(self) -> bool:
        """Whether the agent has read the request of its turn."""
        return self._began

    @property
    def _opened(self) -> "CopilotSession":
        if self._sdk is None:
            raise RuntimeUnavailable(f"Session {self.id} is not open.")
        return self._sdk

    async def _say(self, ask: "Callable[[SessionRpc], Coroutine[Any, Any, T]]") -> T:
        return await self._process.ask(ask(self._opened.rpc), WORKING_SECONDS)

    async def _put(self, text: str) -> object:
        return await self._process.ask(self._opened.send(text))

    async def tools(self) -> ToolsBySource | None:
        return await tools_by_source(self._say, self._brought)

    async def pending(self) -> CutOffRequests:
        """What was asked for when the session was cut off, and is still."""
        return await pending_requests(self._say)

    async def command(self, name: str, words: str) -> CommandAnswer:
        """One of the runtime's own."""
        return await self._process.ask(command(self._opened, name, words), _COMMAND_SECONDS)

    async def history(self) -> list[dict[str, Any]]:
        """All that the runtime told of the session, in its own words."""
        found: list[Any] = await self._process.ask(self._opened.get_events())
        return [event.to_dict() for event in found]

    async def plan(self) -> str | None:
        """What the agent wrote down as its plan, where it did."""
        said = await self._say(lambda to: to.plan.read())
        return said.content if said.exists else None

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
