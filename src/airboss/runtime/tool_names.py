"""A session's tools in the runtime's words: exact names, and what servers brought by now.

The runtime takes no globs. Which tools a server has is known a moment after it was connected, so
until then all of it are there for the model to see; the gate lets none pass that is not allowed.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from airboss.model.setup import ToolSetup
from airboss.model.tool_lists import KNOWN, allowed_by, known_and_allowed
from airboss.model.tool_table import GITHUBS_SERVER, OURS, SEARCH_TOOL

if TYPE_CHECKING:
    from copilot.rpc import SessionRpc

_ALL_OF_SERVERS: Final = "mcp:*"
# For none of these the runtime asks anybody, and for none it has another switch that holds for
# sub-agents too: `lsp` runs whatever command a repository's .github/lsp.json names.
EXCLUDED: Final = ("lsp", "session_store_sql")

Ask = Callable[[Callable[["SessionRpc"], Any]], Awaitable[Any]]


@dataclass(frozen=True)
class ToolsBySource:
    """The tools that a session has now; of each server by its name."""

    built_in: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    servers: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def tool_options(tools: ToolSetup) -> dict[str, Any]:
    """What a session is opened with."""
    search = {"on": {"enabled": True, "defer_threshold": 0}, "off": {"enabled": False}}
    return {
        "available_tools": _available(tools),
        "excluded_tools": _excluded(tools, ()),
        "tool_search": search.get(tools.search),
        # Left out, every session on a GitHub token has GitHub's own server with its tools.
        "disabled_mcp_servers": [] if tools.github else [GITHUBS_SERVER],
    }


def _available(tools: ToolSetup) -> list[str] | None:
    """None where nothing but denied tools is named: all others are there, also those that our table
    does not know yet."""
    if all(one.allow is None for one in tools.lists):
        return None
    names = [name for name in known_and_allowed(tools.lists) if name != SEARCH_TOOL]
    servers = [_ALL_OF_SERVERS] if _may_have_servers(tools) else []
    return [*names, *servers, *([SEARCH_TOOL] if tools.search == "on" else [])]


def _excluded(tools: ToolSetup, brought: Iterable[str]) -> list[str]:
    denied = [name for name in (*KNOWN, *brought) if not allowed_by(tools.lists, name)]
    return [*EXCLUDED, *denied, *([] if _may_have_servers(tools) else [_ALL_OF_SERVERS])]


def _may_have_servers(tools: ToolSetup) -> bool:
    return all(one.may_allow_mcp for one in tools.lists)


async def narrow(tools: ToolSetup, ask: Ask, known: frozenset[str]) -> frozenset[str]:
    """Take away what servers brought and the session may not have. Answers what they have brought:
    with the same as before nothing is done."""
    if not tools.lists or not _may_have_servers(tools):
        return known
    brought = known | {tool.name for tool in await _metadata(ask) if tool.mcp_server_name}
    if any(not allowed_by(tools.lists, name) for name in brought - known):
        await ask(_update(_excluded(tools, sorted(brought))))
    return brought


def _update(names: list[str]) -> Callable[["SessionRpc"], Any]:
    from copilot.rpc import SessionUpdateOptionsParams

    return lambda rpc: rpc.options.update(SessionUpdateOptionsParams(excluded_tools=names))


async def _metadata(ask: Ask) -> Sequence[Any]:
    return (await ask(lambda rpc: rpc.tools.get_current_metadata())).tools or ()


async def tools_by_source(ask: Ask) -> ToolsBySource | None:
    """As the runtime says; before the first turn it knows of none but ours."""
    found = await _metadata(ask)
    if all(tool.name in OURS for tool in found):
        return None
    names = [tool.name for tool in found if not tool.mcp_server_name]
    servers: dict[str, tuple[str, ...]] = {}
    for tool in found:
        if server := tool.mcp_server_name:
            servers[server] = (*servers.get(server, ()), str(tool.mcp_tool_name or tool.name))
    built_in = tuple(sorted(name for name in names if name not in OURS))
    return ToolsBySource(built_in, tuple(name for name in OURS if name in names), servers)
