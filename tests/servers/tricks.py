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
    {"name": "asks", "description": "Asks back.", "inputSchema": {"type": "object"}},
    {"name": "crashes", "description": "Ends it.", "inputSchema": {"type": "object"}},
]


FORM = {"type": "object", "properties": {"word": {"type": "string"}}}
QUESTION = {"role": "user", "content": {"type": "text", "text": "What do you know?"}}
BACK: dict[str, dict[str, Any]] = {
    "elicitation/create": {"message": "Your password?", "requestedSchema": FORM},
    "sampling/createMessage": {"messages": [QUESTION], "maxTokens": 10},
    "roots/list": {},
}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer_of(method: str) -> Any:
    """What the client says to a request of the server."""
    say({"id": method, "method": method, "params": BACK[method]})
    while True:
        reply = json.loads(sys.stdin.readline())
        if reply.get("id") == method:
            return reply.get("result") or reply.get("error")


def called(name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    if name == "crashes":
        os._exit(9)
    if name == "sleeps":
        time.sleep(600)
    if name == "asks":
        answers = [answer_of(method) for method in BACK]
        return {"content": [{"type": "text", "text": json.dumps(answers)}]}
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
    while line := sys.stdin.readline():
        asked = json.loads(line)
        if "id" in asked:
            say({"id": asked["id"], "result": answer(asked)})


if __name__ == "__main__":
    main(sys.argv[1])
