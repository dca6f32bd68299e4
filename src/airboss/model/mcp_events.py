"""What is told of a session's MCP servers, and what it comes to."""

from typing import Literal, TypeAlias

from airboss.model.words import Frozen, Words

McpState: TypeAlias = Literal["starting", "connected", "failed", "needs-sign-in", "stopped"]


class McpChanged(Frozen):
    """An MCP server of the session was connected, failed, wants a person to sign in, or ended."""

    kind: Literal["mcp.changed"] = "mcp.changed"
    server: Words
    state: McpState
    # Why it failed, or what becomes of it.
    error: Words | None = None


class McpServer(Frozen):
    """An MCP server of a session as it is now."""

    name: Words
    state: McpState = "starting"
    error: Words | None = None


def with_change(servers: tuple[McpServer, ...], event: McpChanged) -> tuple[McpServer, ...]:
    """In the order in which they were named; one that nobody named comes last."""
    new = McpServer(name=event.server, state=event.state, error=event.error)
    if all(server.name != event.server for server in servers):
        return (*servers, new)
    return tuple(new if server.name == event.server else server for server in servers)


def begun(servers: tuple[McpServer, ...]) -> tuple[McpServer, ...]:
    """When their session is opened or resumed."""
    return tuple(McpServer(name=server.name) for server in servers)


def ended(servers: tuple[McpServer, ...]) -> tuple[McpServer, ...]:
    """When their session is closed or interrupted."""
    return tuple(McpServer(name=server.name, state="stopped") for server in servers)
