"""An MCP server that misbehaves: it dies or hangs at once, or serves tools that crash it, answer
with far too much, or answer something else than they promised.

    python tricks.py die|hang|slow|huge|serve
"""

import json
import os
import sys
import time
from typing import Any

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOLS = [
    {"name": "lies", "description": "A sum.", "inputSchema": NUMBER, "outputSchema": NUMBER},
    {"name": "variable", "description": "A variable.", "inputSchema": {"type": "object"}},
    {"name": "floods", "description": "Much.", "inputSchema": {"type": "object"}},
    {"name": "meta", "description": "What came along.", "inputSchema": {"type": "object"}},
    {"name": "sleeps", "description": "Never answers.", "inputSchema": {"type": "object"}},
    {"name": "crashes", "description": "Ends it.", "inputSchema": {"type": "object"}},
]


def called(name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    if name == "crashes":
        os._exit(9)
    if name == "sleeps":
        time.sleep(600)
    if name == "meta":
        return {"content": [{"type": "text", "text": json.dumps(meta)}]}
    if name == "variable":
        value = os.environ.get(arguments["name"], "not set")
        return {"content": [{"type": "text", "text": value}]}
    text = "flood " * 5_000_000 if name == "floods" else "[1, 2]"
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"number": "none"}}


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    match asked["method"]:
        case "initialize":
            return {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tricks", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            call = asked["params"]
            return called(call["name"], call.get("arguments") or {}, call.get("_meta") or {})
        case _:
            return {}


def main(trick: str) -> None:
    if trick == "die":
        sys.stderr.write("out of coffee\n")
        sys.exit(3)
    if trick == "hang":
        time.sleep(600)
    if trick == "huge":  # more than any model reads
        TOOLS[0]["description"] = "A sum. " * 200_000
    if trick == "slow":
        time.sleep(6)
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            reply = {"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
