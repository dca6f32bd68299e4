"""Which name of a tool is whose in one session: the first who was given it keeps it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from airboss.extensions.joined import Joined, refusal
from airboss.model.tool_table import BUILT_IN, HIDDEN, OURS


def _taken() -> dict[str, str]:
    return {
        **dict.fromkeys((*BUILT_IN, *HIDDEN), "the agent runtime"),
        **dict.fromkeys(OURS, "Airboss"),
    }


@dataclass
class GivenNames:
    """`servers` are the session's MCP servers: their tools are named SERVER-TOOL."""

    servers: Sequence[str] = ()
    _owners: dict[str, str] = field(default_factory=_taken)

    def give(self, extension: str, brought: Joined) -> str | None:
        """Why it cannot have its names, or None: then they are its own, and only those."""
        owner = f"the extension {extension}"
        others = {name: other for name, other in self._owners.items() if other != owner}
        if no := refusal(brought, others, self.servers):
            return no
        self._owners = {**others, **dict.fromkeys(brought.tools, owner)}
        return None

    def take_back(self, extension: str) -> None:
        owner = f"the extension {extension}"
        self._owners = {name: other for name, other in self._owners.items() if other != owner}
