"""An MCP server for tests, built on the protocol's own package: over stdio, or over HTTP where a
port is given. With a `TOKEN` it lets nobody in over HTTP who does not bring it.

    python tools.py [PORT]

With the port 0 it takes a free one, and says which.
"""

import base64
import os
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server.mcpserver import Image, MCPServer
from mcp_types import ToolAnnotations

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADU"
    "lEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("tools", instructions="Ask for what you want to know.")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def variable(name: str) -> str:
    """The value of a variable of this server's environment."""
    return os.environ.get(name, "not set")


@server.tool()
def picture() -> Image:
    """A very small picture."""
    return Image(data=base64.b64decode(PIXEL), format="png")


@server.tool()
def crash() -> str:
    """Ends this server in the middle of a call."""
    os._exit(7)


Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def guarded(app: Any, token: str) -> Any:
    async def answer(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        given: dict[bytes, bytes] = dict(scope.get("headers") or ())
        if scope["type"] == "http" and given.get(b"authorization") != f"Bearer {token}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"Who are you?"})
            return
        await app(scope, receive, send)

    return answer


def main() -> None:
    if len(sys.argv) == 1:
        server.run("stdio")
        return
    app: Any = server.streamable_http_app()
    if token := os.environ.get("TOKEN"):
        app = guarded(app, token)
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listening:
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    main()
