"""The MCP servers of a session: how the runtime is told of them, and what it tells of them.

The runtime starts none before somebody asks for their list or the first turn begins, and holds that
turn back until each has answered, also one that never will.
"""

import asyncio
import contextlib
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

from airboss.errors import AirbossError
from airboss.model.excerpt import MOST_OF_A_REASON, Redacting, excerpt, name_of
from airboss.model.mcp_events import McpChanged, McpState
from airboss.model.tool_lists import is_wild
from airboss.runtime.environment import SERVER
from airboss.runtime.sweep import sweep_servers

T = TypeVar("T")

# So long the first request waits for servers that have not answered, where nobody says how long.
READY_SECONDS: Final = 10.0
_RELEASE_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.2
_END_SECONDS: Final = 3.0
_LATE: Final = "It has not answered in time. The work goes on without it."
_ENDED: Final = "It did not answer in time, and was ended. The work goes on without it."
# The runtime asks in the words of the newest protocol first. A program that starts so slowly that
# it is asked in older ones next may have chosen the newest already, and refuses those.
_OUT_OF_STEP: Final = "handshake"
# How the runtime tells of a call that a server ended in, or before. It says nothing else of that,
# and does not start it again.
_GONE: Final = re.compile(r"MCP server '([^']+)': .*\btransport closed\b", re.IGNORECASE)
_ENDED_IN_A_CALL: Final = "It ended in the middle of the work. The next request starts it again."
_ALL: Final = ("*",)
_STATES: Final[Mapping[str, McpState]] = {
    "pending": "starting",
    "connected": "connected",
    "failed": "failed",
    "needs-auth": "needs-sign-in",
    "stopped": "stopped",
    "disabled": "stopped",
}


class Say(Protocol):
    """Says something to the runtime about one session, and waits for its word."""

    async def __call__(self, ask: "Callable[[Any], Coroutine[Any, Any, T]]") -> T: ...


@dataclass(frozen=True)
class ServerProgram:
    """A server that is started. `env` is what it has beside the environment of agents."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    tools: Sequence[str] | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class ServerAddress:
    """A server that is called: at an address of our own, or at its own."""

    url: str = field(repr=False)
    # Ends all calls that are on their way, and those that come.
    cut: Callable[[], None] = field(default=lambda: None, repr=False)
    tools: Sequence[str] | None = None
    seconds: float | None = None


Server: TypeAlias = ServerProgram | ServerAddress


def server_options(servers: Mapping[str, Server], cwd: str) -> dict[str, Any] | None:
    """In the SDK's words; forgotten on a resume, and given anew."""
    return {name: server_config(name, server, cwd) for name, server in servers.items()} or None


def server_config(name: str, server: Server, cwd: str) -> dict[str, Any]:
    # It knows no globs: what it offers too much is taken away when its tools come.
    words = _ALL if server.tools is None else tuple(server.tools)
    tools = list(_ALL if any(is_wild(word) for word in words) else words)
    limits = {} if server.seconds is None else {"timeout": int(server.seconds * 1000)}
    if isinstance(server, ServerAddress):
        return {"type": "http", "url": server.url, "tools": tools, **limits}
    program, *arguments = server.command
    return {
        "type": "stdio",
        "command": program,
        "args": arguments,
        "env": {**server.env, SERVER: name},
        "working_directory": cwd,
        "tools": tools,
        **limits,
    }


class McpServers:
    """What is known of one session's servers. `tell` hears what changes."""

    def __init__(
        self,
        session: str,
        servers: Mapping[str, Server],
        redactor: Redacting,
        tell: Callable[[McpChanged], None],
        wait_seconds: float = READY_SECONDS,
    ) -> None:
        self._session = session
        self.wait_seconds = wait_seconds
        self._servers = servers
        self._redactor = redactor
        self._tell = tell
        self._states: dict[str, McpState] = dict.fromkeys(servers, "starting")
        self._ended = set[str]()  # by us, as they were late
        self._out_of_step = set[str]()
        self._tried_again = set[str]()
        self._brought = set[str]()  # those whose tools came: a moment behind the connection
        self._gone = set[str]()  # since the last request
        self._told: dict[str, McpChanged] = {}
        self._stirred = asyncio.Event()
        self._is_waited_for = bool(servers)

    def __bool__(self) -> bool:
        return bool(self._states)

    @property
    def connected(self) -> list[str]:
        return [name for name, state in self._states.items() if state == "connected"]

    def hear(self, raw: Mapping[str, Any]) -> bool:
        """One raw event; whether the tools that there are may have changed."""
        data = cast("Mapping[str, Any]", raw.get("data") or {})
        match raw.get("type"):
            case "session.mcp_server_status_changed":
                self._change(str(data.get("serverName")), data)
            case "session.mcp_servers_loaded":
                for one in cast("Sequence[Mapping[str, Any]]", data.get("servers") or ()):
                    self._change(str(one.get("name")), one)
            case "session.mcp_server_tools_loaded" | "mcp.tools.list_changed":
                self._brought.add(str(data.get("serverName")))
                self._stirred.set()
                return str(data.get("serverName")) in self._states
            case "tool.execution_complete":
                self._note_end(data)
            case _:
                pass
        return False

    def _change(self, name: str, data: Mapping[str, Any]) -> None:
        state = _STATES.get(str(data.get("status")))
        if name not in self._states or state is None:
            return
        self._states[name] = state
        self._stirred.set()
        error = str(data["error"]) if data.get("error") else None
        if name in self._ended and state == "failed":
            error = _ENDED
        if state == "failed" and error and _OUT_OF_STEP in error:
            self._out_of_step.add(name)
        said = McpChanged(
            server=name_of(name),
            state=state,
            error=error and excerpt(self._redactor, error, MOST_OF_A_REASON),
        )
        before = self._told.get(name)
        # That it is still there takes nothing back of what was remarked on it.
        is_news = error is not None or before is None or state != before.state
        if is_news and said != before and not (before is None and state == "starting"):
            self._told[name] = said
            self._tell(said)

    def _note_end(self, data: Mapping[str, Any]) -> None:
        """A call may find its server gone."""
        error = data.get("error")
        told = cast("Mapping[str, Any]", error).get("message") if isinstance(error, dict) else ""
        found = _GONE.match(str(told))
        if found is not None and self._states.get(found[1]) == "connected":
            self._gone.add(found[1])
            self._become(found[1], "failed", _ENDED_IN_A_CALL)

    def remark(self, name: str, error: str | None) -> None:
        """On one that is connected, and does less than somebody may think."""
        before = self._told.get(name)
        error = error and excerpt(self._redactor, error, MOST_OF_A_REASON)
        if before is not None and before.state == "connected" and before.error != error:
            self._become(name, "connected", error)

    def _become(self, name: str, state: McpState, error: str | None = None) -> None:
        self._states[name] = state
        said = self._told[name] = McpChanged(server=name_of(name), state=state, error=error)
        self._tell(said)

    async def ready(self) -> bool:
        """Before the first request: until each has answered, or too long. The runtime brings no
        tool of any server before all have answered, so that who is late is ended where others are
        there, and else left to come later. Whether this was the first."""
        if not self._is_waited_for:
            return False
        self._is_waited_for = False
        await self._settled(self.wait_seconds)
        late = [name for name, state in self._states.items() if state == "starting"]
        if late and self.connected:
            self._ended.update(late)
            await self._end(late)
            await self._settled(_END_SECONDS)
        for name in late:
            if self._states[name] == "starting":
                self._become(name, "starting", _LATE)
        return True

    def to_try_again(self) -> set[str]:
        """Those that only began too slowly, each once, and those that ended."""
        slow, gone = self._out_of_step - self._tried_again, self._gone
        self._tried_again |= slow
        self._gone = set[str]()
        return slow | gone

    async def again(self, name: str, say: Say) -> None:
        """Connect to one anew, and wait as for the first time. What comes of it is told."""
        from copilot.rpc import MCPRestartServerRequest

        self._states[name] = "starting"
        self._brought.discard(name)
        request = MCPRestartServerRequest(server_name=name)
        with contextlib.suppress(AirbossError):  # its state says so
            await say(lambda rpc: rpc.mcp.restart_server(request))
        await self._settled(self.wait_seconds)

    async def _settled(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.are_late or not self._brought.issuperset(self.connected):
                    self._stirred.clear()
                    await self._stirred.wait()

    async def _end(self, names: Sequence[str]) -> None:
        for name in names:
            server = self._servers[name]
            if isinstance(server, ServerAddress):
                server.cut()
        await sweep_servers(self._session, names)

    @property
    def are_late(self) -> bool:
        return "starting" in self._states.values()

    async def release(self, say: Say, has_begun: Callable[[], bool]) -> None:
        """A request that the runtime holds back for servers goes on without them. When it begins to
        do so, it does not say: it is told until the turn begins."""
        with contextlib.suppress(AirbossError, TimeoutError):  # the request waits longer then
            async with asyncio.timeout(_RELEASE_SECONDS):
                while self.are_late and not has_begun():
                    said = await say(lambda rpc: rpc.mcp.move_loading_to_background())
                    if said.moved_to_background:
                        return
                    await asyncio.sleep(_LOOK_SECONDS)
