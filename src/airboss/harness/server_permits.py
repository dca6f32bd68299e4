"""Which calls of MCP servers outside of a cage were allowed, and not made yet.

The runtime asks before it calls. In a cage it is not believed: a call that nobody allowed is not
passed on, whoever makes it.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, cast

from airboss.harness.proxy_terms import ProxyRefused
from airboss.net.loopback import Receive
from airboss.runtime.permission import Decide, PermissionAnswer, PermissionRequest

_LARGEST: Final = 32 * 1024 * 1024
# Of a message, whatever else stands in it.
_KEYS: Final = ("jsonrpc", "id", "method", "params", "result", "error")
_CALL: Final = "tools/call"
# The runtime writes names of tools in its own letters, and shortens long ones.
_LETTERS: Final = 24
_NOBODY: Final = "Nobody allowed this call."


@dataclass
class ServerPermits:
    """Of one session; by server and tool."""

    _left: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def deciding(self, decide: Decide) -> Decide:
        """Decides the same, and remembers what was allowed."""

        async def decided(request: PermissionRequest) -> PermissionAnswer:
            answer = await decide(request)
            server = request.raw.get("serverName")
            if answer.allowed and request.kind == "mcp" and isinstance(server, str):
                tool = (request.tool or "").removeprefix(f"{server}-")
                self._left[server, _plain(tool)] += 1
            return answer

        return decided

    def take(self, server: str, tool: str) -> bool:
        """Whether it was allowed; once."""
        key = server, _plain(tool)
        if self._left[key] <= 0:
            return False
        self._left[key] -= 1
        return True

    async def passed(self, server: str, receive: Receive) -> bytes:
        """The message as we read it, where it is no call, or one that was allowed. Its own words
        could mean another call to whoever reads them otherwise."""
        message = message_in(await read_body(receive))
        if message.get("method") == _CALL:
            params = message.get("params")
            tool = cast("dict[str, Any]", params).get("name") if isinstance(params, dict) else None
            if not isinstance(tool, str) or not self.take(server, tool):
                raise ProxyRefused(403, _NOBODY)
        return json.dumps({key: message[key] for key in _KEYS if key in message}).encode()


def message_in(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise ProxyRefused(400, "This is not a message of the Model Context Protocol.")
    return cast("dict[str, Any]", said)


async def read_body(receive: Receive) -> bytes:
    body, more = bytearray(), True
    while more:
        part = await receive()
        if part["type"] == "http.disconnect":
            raise ProxyRefused(400, "The call was cut off.")
        body += part.get("body", b"")
        more = part.get("more_body", False)
        if len(body) > _LARGEST:
            raise ProxyRefused(413, "This message is too large.")
    return bytes(body)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())[:_LETTERS]
