"""What went wrong with MCP servers in one turn, in words for the reason of a task that failed."""

from collections.abc import Iterable
from typing import Final

from airboss.model.events import Event, ToolEnded
from airboss.model.mcp_events import McpChanged, McpServer

# How the runtime's word begins where a server did not answer a call. What it answered is no trouble
# of the server, also where that is an error.
_NOT_ANSWERED: Final = "MCP server '"
_MOST: Final = 3


class ServerTroubles:
    """Of those that did not work when the turn began, or later in it."""

    def __init__(self, servers: Iterable[McpServer] = ()) -> None:
        self._of_servers = {one.name: one.error for one in servers if one.error is not None}
        self._of_calls: dict[str, None] = {}

    def hear(self, said: Event) -> None:
        match said:
            case McpChanged(error=str(error)) if said.state != "connected":
                self._of_servers[said.server] = error
            case McpChanged(state="connected"):
                self._of_servers.pop(said.server, None)
            case ToolEnded(error=error) if error and error.message.startswith(_NOT_ANSWERED):
                self._of_calls[error.message] = None
            case _:
                pass

    @property
    def words(self) -> tuple[str, ...]:
        of_servers = [f"MCP server '{name}': {error}" for name, error in self._of_servers.items()]
        return tuple([*of_servers, *self._of_calls][:_MOST])
