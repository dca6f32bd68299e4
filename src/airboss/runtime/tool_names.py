"""A session's tools in the runtime's words: exact names, and what servers brought by now.

The runtime takes no globs. Which tools a server has is known a moment after it was connected, so
what a glob means is said then. Until that is known the model sees none of them; and the gate lets
none pass that is not allowed.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from airboss.errors import RuntimeUnavailable
from airboss.model.setup import ToolSetup
from airboss.model.tool_lists import KNOWN, is_wild, known_and_allowed
from airboss.model.tool_table import GITHUBS_SERVER, OURS, SEARCH_TOOL

if TYPE_CHECKING:
    from copilot.rpc import SessionRpc

_ALL_OF_SERVERS: Final = "mcp:*"
# For none of these the runtime asks anybody, and for none it has another switch that holds for
# sub-agents too: `lsp` runs whatever command a repository's .github/lsp.json names.
EXCLUDED: Final = ("lsp", "session_store_sql")


class ToolsUnknown(Exception):
    """These servers did not say which tools they have: the model sees none of any."""

    def __init__(self, servers: Sequence[str]) -> None:
        super().__init__(*servers)
        self.servers = servers


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
        "excluded_tools": _excluded(tools, (), none_of_servers=False),
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
    exact = [_exact(word) for one in tools.lists for word in one.allow or ()]
    if servers and all(exact):  # then nothing else of a server is ever there
        servers = [name for name in exact if name and "-" in name and tools.allows(name)]
    return [*names, *servers, *([SEARCH_TOOL] if tools.search == "on" else [])]


def _exact(word: str) -> str | None:
    """The one name that such a word means, in the runtime's words; None where it may mean more."""
    return None if is_wild(word) or word.startswith("@") else word.replace("/", "-", 1)


def _excluded(tools: ToolSetup, brought: Iterable[str], *, none_of_servers: bool) -> list[str]:
    # What is denied by its name is never there, whenever its server comes.
    named = (_exact(word) for one in tools.lists for word in one.deny)
    names = dict.fromkeys((*KNOWN, *brought, *(name for name in named if name)))
    denied = [name for name in names if not tools.allows(name)]
    hides_all = none_of_servers or not _may_have_servers(tools)
    return [*EXCLUDED, *denied, *([_ALL_OF_SERVERS] if hides_all else [])]


def _may_have_servers(tools: ToolSetup) -> bool:
    return all(one.may_allow_mcp for one in tools.lists)


async def narrow(
    tools: ToolSetup,
    ask: Ask,
    known: frozenset[str],
    servers: Iterable[str] = (),
    *,
    again: bool = False,
    are_hidden: bool = False,
) -> frozenset[str]:
    """Take away what servers brought and the session may not have. Answers what they have brought:
    with the same as before nothing is done, unless it is to be said `again`: what is said while
    servers start the runtime may forget. `servers` are those that are connected: before the
    first turn the list of all tools does not have theirs. Where a server does not say what it has,
    as happens on a busy machine, the model sees no tool of any, and `ToolsUnknown` is raised; then
    they `are_hidden` the next time."""
    if not tools.is_limited or not _may_have_servers(tools):
        return known
    brought = known | {tool.name for tool in await _metadata(ask) if tool.mcp_server_name}
    silent: list[str] = []
    for server in servers:
        if not any(name.startswith(f"{server}-") for name in brought):
            found = await listed_tools(ask, server)
            silent += [server] if found is None else []
            brought |= {f"{server}-{tool}" for tool in found or ()}
    denied = any(not tools.allows(name) for name in (brought if again else brought - known))
    if silent or are_hidden or denied:
        await ask(_update(_excluded(tools, sorted(brought), none_of_servers=bool(silent))))
    if silent:
        raise ToolsUnknown(silent)
    return brought


def _update(names: list[str]) -> Callable[["SessionRpc"], Any]:
    from copilot.rpc import SessionUpdateOptionsParams

    return lambda rpc: rpc.options.update(SessionUpdateOptionsParams(excluded_tools=names))


async def tools_of_server(ask: Ask, server: str) -> list[str]:
    """By their names there; none where it cannot say so just now."""
    return await listed_tools(ask, server) or []


async def listed_tools(ask: Ask, server: str) -> list[str] | None:
    from copilot.rpc import MCPListToolsRequest

    try:
        said = await ask(lambda rpc: rpc.mcp.list_tools(MCPListToolsRequest(server_name=server)))
    except RuntimeUnavailable:
        return None
    return [str(tool.name) for tool in said.tools]


async def _metadata(ask: Ask) -> Sequence[Any]:
    return (await ask(lambda rpc: rpc.tools.get_current_metadata())).tools or ()


async def tools_by_source(ask: Ask, brought: frozenset[str] = frozenset()) -> ToolsBySource | None:
    """As the runtime says; before the first turn it knows of none but ours. Those that extensions
    `brought` are told with these."""
    found = [tool for tool in await _metadata(ask) if tool.name not in brought]
    if all(tool.name in OURS for tool in found):
        return None
    names = [tool.name for tool in found if not tool.mcp_server_name]
    servers: dict[str, tuple[str, ...]] = {}
    for tool in found:
        if server := tool.mcp_server_name:
            servers[server] = (*servers.get(server, ()), str(tool.mcp_tool_name or tool.name))
    built_in = tuple(sorted(name for name in names if name not in OURS))
    return ToolsBySource(built_in, tuple(name for name in OURS if name in names), servers)
