"""Which calls of MCP servers outside of a cage were allowed, and not made yet.

The runtime asks before it calls. In a cage it is not believed: a call that nobody allowed is not
passed on, whoever makes it, nor the same one with other arguments.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, cast

from airboss.harness.proxy_terms import ProxyRefused
from airboss.net.loopback import Receive
from airboss.runtime.permission import Decide, PermissionAnswer, PermissionRequest

_LARGEST: Final = 32 * 1024 * 1024
# Of a message, whatever else stands in it.
_KEYS: Final = ("jsonrpc", "id", "method", "params", "result", "error")
_CALL: Final = "tools/call"
# So long a tool's name is at most with its server's, as the runtime writes it. Where two are the
# same then, they have numbers in place of their last letters.
_LONGEST: Final = 64
_COUNTED: Final = 3
# Of these letters a name stays as its server has it.
_KEPT_LETTER: Final = re.compile(r"[A-Za-z0-9_-]")
_NOBODY: Final = "Nobody allowed this call."


@dataclass(frozen=True)
class _Permit:
    """For a tool by its name as the runtime writes it."""

    server: str
    tool: str
    is_short: bool
    arguments: str

    def is_for(self, server: str, tool: str) -> bool:
        if server != self.server:
            return False
        if self.is_short:
            begin = self.tool[:-_COUNTED]
            return len(tool) >= len(begin) and _is_written(begin, tool[: len(begin)])
        return tool == self.tool or _is_written(self.tool, tool)


@dataclass
class ServerPermits:
    """Of one session."""

    _left: Counter[_Permit] = field(default_factory=Counter[_Permit])

    def deciding(self, decide: Decide) -> Decide:
        """Decides the same, and remembers what was allowed."""

        async def decided(request: PermissionRequest) -> PermissionAnswer:
            answer = await decide(request)
            server = request.raw.get("serverName")
            if answer.allowed and request.kind == "mcp" and isinstance(server, str):
                whole, arguments = request.tool or "", _digest(request.raw.get("args"))
                tool = whole.removeprefix(f"{server}-")
                is_short = len(whole) >= _LONGEST
                self._left[_Permit(server, tool, is_short, arguments)] += 1
            return answer

        return decided

    def take(self, server: str, tool: str, arguments: object) -> bool:
        """Whether it was allowed; once."""
        for permit in [one for one in self._left if one.is_for(server, tool)]:
            if permit.arguments == _digest(arguments):
                self._left[permit] -= 1
                self._left += Counter()  # without those that are used up
                return True
        return False

    async def passed(self, server: str, receive: Receive) -> bytes:
        """The message as we read it, where it is no call, or one that was allowed. Its own words
        could mean another call to whoever reads them otherwise."""
        message = message_in(await read_body(receive))
        if message.get("method") == _CALL:
            params = message.get("params")
            said = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
            tool = said.get("name")
            if not isinstance(tool, str) or not self.take(server, tool, said.get("arguments")):
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


def _is_written(written: str, name: str) -> bool:
    """Whether the runtime writes a name so: for letters of another kind it puts one of its own."""
    return len(written) == len(name) and all(
        theirs == ours if _KEPT_LETTER.match(ours) else theirs in "-_"
        for theirs, ours in zip(written, name, strict=True)
    )


def _digest(arguments: object) -> str:
    """The same for the same, in whatever order, and however a number is written."""
    plain = json.loads(json.dumps(arguments or {}), parse_float=_number)
    return sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number
