"""An MCP server for tests, over stdio or over a stage's HTTP: one tool that its server calls
read-only, one of which it says nothing. Each call is noted in a file.

    python mcp_server.py NOTES
"""

import json
import sys
from pathlib import Path
from typing import Any

SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}}}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "peek",
        "description": "Only looks, says its server.",
        "inputSchema": SCHEMA,
        "annotations": {"readOnlyHint": True},
    },
    {"name": "poke", "description": "Pokes.", "inputSchema": SCHEMA},
]


def answer(asked: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The response to one message of the protocol; none to a notification."""
    if "id" not in asked:
        return None
    match asked["method"]:
        case "initialize":
            result: dict[str, Any] = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"},
            }
        case "tools/list":
            result = {"tools": TOOLS}
        case "tools/call":
            calls.append(asked["params"])
            result = {"content": [{"type": "text", "text": f"{asked['params']['name']} was here"}]}
        case _:
            result = {}
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


def stdio(notes: Path) -> dict[str, Any]:
    """The server in the words of the SDK's `mcp_servers`."""
    arguments = [__file__, str(notes)]
    return {"type": "stdio", "command": sys.executable, "args": arguments, "tools": ["*"]}


def main(notes: Path) -> None:
    for line in sys.stdin:
        calls: list[dict[str, Any]] = []
        told = answer(json.loads(line), calls)
        with notes.open("a", encoding="utf-8") as file:
            file.writelines(f"{call['name']} {call['arguments'].get('what')}\n" for call in calls)
        if told is not None:
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
