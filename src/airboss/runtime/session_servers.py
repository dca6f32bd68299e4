"""The MCP servers of one session on the runtime, and which of their tools its agents see."""

import asyncio
import contextlib
from typing import Any, Final

from airboss.errors import RuntimeUnavailable
from airboss.model.tool_lists import none_matches
from airboss.runtime.mcp_servers import McpServers, Say
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.tool_names import ToolsUnknown, listed_tools, narrow, tools_of_server

_SILENT: Final = "It does not say which tools it has. The agents see no tool of any MCP server."


class RunningServers(McpServers):
    """What is known of them, and what is said to the runtime about them."""

    def __init__(self, asked: SessionRequest, say: Say) -> None:
        super().__init__(asked.id, asked.servers, asked.redactor, asked.hear, asked.server_wait)
        self._tools = asked.setup.tools
        self._is_agent = asked.setup.agent is not None
        self._say = say
        self._narrowing = asyncio.Lock()
        self._seen = frozenset[str]()  # the tools that they brought
        self._is_new = False  # some came since a request was sent
        self._looked_through = set[str]()  # for words that mean nothing there
        self._are_hidden = False  # as one did not say what it has

    async def start(self, rpc: Any) -> None:
        """The runtime starts them when it is asked for their list. Where the session is an agent it
        does not: there it is told to read them anew."""
        await (rpc.mcp.reload() if self._is_agent else rpc.mcp.list())

    async def tools(self) -> dict[str, tuple[str, ...]]:
        """By the names that they have there; of the servers that are connected."""
        return {
            server: tuple(
                tool
                for tool in await tools_of_server(self._say, server)
                if self._tools.allows(f"{server}-{tool}")
            )
            for server in self.connected
        }

    async def come(self) -> None:
        """Those that were started with the session, or too long."""
        self._is_new |= await self.ready()
        for name in self.to_try_again():
            await self.restart(name)

    async def restart(self, name: str) -> None:
        await self.again(name, self._say)
        self._is_new = True

    async def before_request(self) -> None:
        """They are there, and the model sees no more of them than it may."""
        await self.come()
        await self._narrow()

    async def narrow_later(self) -> None:
        with contextlib.suppress(RuntimeUnavailable):  # the next request does so
            self._is_new = True
            self._looked_through.clear()
            await self._narrow()

    async def _narrow(self) -> None:
        """Said anew where servers came since: what is said while one starts, is forgotten. A server
        that does not say what it has is asked again before the next request."""
        async with self._narrowing:
            again, self._is_new = self._is_new, False
            try:
                self._seen = await narrow(
                    self._tools,
                    self._say,
                    self._seen,
                    self.connected,
                    again=again,
                    are_hidden=self._are_hidden,
                )
                if self._are_hidden:
                    self._are_hidden = False
                    self._looked_through.clear()
                    for server in self.connected:
                        self.remark(server, None)
                await self._tell_idle_words()
            except ToolsUnknown as silent:
                for server in silent.servers if self._are_hidden else ():
                    self.remark(server, _SILENT)
                self._is_new = self._are_hidden = True
            except RuntimeUnavailable:
                self._is_new = True
                raise

    async def _tell_idle_words(self) -> None:
        """What is said about a server's tools may mean none of them, which nobody would notice."""
        for server in self.connected:
            words = self._tools.words_about(server)
            if not words or server in self._looked_through:
                continue
            tools = await listed_tools(self._say, server)
            if tools is None:
                continue
            self._looked_through.add(server)
            idle = ", ".join(f'"{word}"' for word in words if none_matches(word, tools))
            has = ", ".join(sorted(tools)) or "none"
            self.remark(server, f"No tool of it matches {idle}. It has: {has}." if idle else None)
