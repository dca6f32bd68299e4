"""Whether a turn that was cut off may be done again: what its calls may have changed in the world.

A tool that nobody listed counts, and so does one of an MCP server; a call that was not let through
does not, nor one that still waited for permission. What a sub-agent called counts as its own call.
"""

from typing import Final

from airboss.entry.tools import JOB_TOOLS
from airboss.model.events import (
    Event,
    PermissionDecided,
    ToolEnded,
    ToolStarted,
)
from airboss.model.gate_events import ToolVetoed
from airboss.model.inbox_events import ApprovalAsked
from airboss.model.tool_table import BUILT_IN, ToolKind
from airboss.runtime.hooks import missing

# Done twice they are as good as done once. What a sub-agent does is told by its own calls.
_HARMLESS: Final[frozenset[ToolKind]] = frozenset(
    ("read", "fetch", "poll", "delegate", "notes", "ask")
)


def has_effects(tool: str) -> bool:
    return tool not in JOB_TOOLS and BUILT_IN.get(tool) not in _HARMLESS


class Effects:
    """Of one turn, as far as its events were told."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._waiting: set[str] = set()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The calls that may have done something."""
        return tuple(block for block in self._calls if block not in self._waiting)

    @property
    def tools(self) -> tuple[str, ...]:
        """Those that may have done something, each once, in the order of their first calls."""
        return tuple(dict.fromkeys(self._calls[block] for block in self.blocks))

    def may_be_of(self, said: ToolStarted | ToolEnded) -> bool:
        """Whether this call may have done something, or is about to."""
        return said.block in self._calls

    def hear(self, said: Event) -> None:
        match said:
            case ToolStarted() if has_effects(said.name):
                self._calls[said.block] = said.name
            case ToolVetoed(block=str(block)):
                self._calls.pop(block, None)
            case ApprovalAsked(call=str(call)):
                self._waiting.add(call)
            case PermissionDecided(call=str(call)):
                self._waiting.discard(call)
                if not said.allowed:
                    self._calls.pop(call, None)
            case ToolEnded(error=error) if error is not None:
                tool = self._calls.get(said.block)
                if tool is not None and missing(tool) in error.message:
                    del self._calls[said.block]
            case _:
                pass
