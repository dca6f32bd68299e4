"""A program on this machine that is called like an MCP server over HTTP."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.server_bridge import ServerBridge
from tests.runtime.conftest import running, soon

TRICKS = Path(__file__).parents[1] / "servers" / "tricks.py"
# Says something by itself, and leaves a child behind.
TALKS = """
import json, subprocess, sys
subprocess.Popen(["setsid", "sleep", "6173"], stdout=subprocess.DEVNULL)
for line in sys.stdin:
    print("no message"); print("[" * 100_000)
    print(json.dumps({"method": "notifications/x", "params": {}}), flush=True)
    if "id" in (asked := json.loads(line)):
        print(json.dumps({"id": asked["id"], "result": asked["method"]}), flush=True)
"""


class Call:
    """One call of the runtime."""

    def __init__(self, method: str, message: Any = None) -> None:
        self.scope: dict[str, Any] = {"type": "http", "method": method}
        self._body = b"" if message is None else json.dumps(message).encode()
        self._is_read = False
        self.left = asyncio.Event()
        self.status = 0
        self.said = b""

    async def receive(self) -> dict[str, Any]:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.said += message.get("body", b"")

    async def answered(self, bridge: ServerBridge) -> tuple[int, Any]:
        async with asyncio.timeout(30):
            await bridge.serve(self.scope, self.receive, self.send)
        return self.status, json.loads(self.said) if self.said else None


def asking(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.fixture
async def bridges(tmp_path: Path) -> AsyncGenerator[Any]:
    made: list[ServerBridge] = []

    def bridge(*command: str, **environ: str) -> ServerBridge:
        made.append(ServerBridge("it", command, {"PATH": "/usr/bin:/bin", **environ}, tmp_path))
        return made[-1]

    yield bridge
    for one in made:
        one.end()
        await one.ended()


async def test_questions_are_answered_and_all_else_is_put_to_the_program(bridges: Any) -> None:
    bridge = bridges(sys.executable, str(TRICKS), "serve", WORD="there")
    begun = await Call("POST", asking("initialize", protocolVersion="x")).answered(bridge)
    assert (begun[0], begun[1]["result"]["protocolVersion"]) == (200, "x")
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert await Call("POST", note).answered(bridge) == (202, None)
    call = asking("tools/call", name="variable", arguments={"name": "WORD"})
    _, said = await Call("POST", call).answered(bridge)
    assert said["result"]["content"][0]["text"] == "there"
    assert (await Call("DELETE").answered(bridge))[0] == 200
    assert (await Call("POST", ["no message"]).answered(bridge))[0] == 400


async def test_a_program_that_ends_says_why_and_is_started_again_for_who_begins_anew(
    bridges: Any,
) -> None:
    bridge = bridges(sys.executable, str(TRICKS), "serve")
    for _ in range(2):
        await Call("POST", asking("initialize", protocolVersion="x")).answered(bridge)
        call = asking("tools/call", name="crashes", arguments={})
        _, said = await Call("POST", call).answered(bridge)
        assert said["error"]["message"] == "The program has ended with exit code 9."
    dying = bridges(sys.executable, str(TRICKS), "die")
    _, said = await Call("POST", asking("initialize")).answered(dying)
    assert "exit code 3: out of coffee" in str(said)
    nowhere = bridges("/nowhere/server")
    status, said = await Call("POST", asking("initialize")).answered(nowhere)
    assert (status, "could not be started" in str(said)) == (502, True)


async def test_a_program_that_the_agent_writes_is_not_started(bridges: Any) -> None:
    bridge = bridges(sys.executable, str(TRICKS), "serve")
    bridge.written = (TRICKS.parent,)
    status, said = await Call("POST", asking("initialize")).answered(bridge)
    assert status == 502
    assert f"{TRICKS} is not run outside of the cage" in str(said)


async def test_what_it_says_by_itself_is_told_to_who_listens_and_it_ends_whole(
    bridges: Any,
) -> None:
    bridge = bridges(sys.executable, "-c", TALKS)
    listening = Call("GET")
    heard = asyncio.create_task(bridge.serve(listening.scope, listening.receive, listening.send))
    _, said = await Call("POST", asking("initialize")).answered(bridge)
    assert said["result"] == "initialize"
    assert await soon(lambda: b"event: message\ndata: " in listening.said)
    assert await soon(lambda: running("sleep 6173"))
    listening.left.set()
    async with asyncio.timeout(10):
        await heard
    bridge.end()
    await bridge.ended()
    assert not running("sleep 6173")
    status, _ = await Call("POST", asking("tools/list")).answered(bridge)
    assert status == 410


async def test_the_program_does_not_start_where_the_agent_writes(
    tmp_path: Path, bridges: Any
) -> None:
    """There, the agent's `json.py` would be run as a part of it."""
    (tmp_path / "json.py").write_text("raise SystemExit('of the agent')", "utf-8")
    tells = (
        "import json, os, sys; asked = json.loads(sys.stdin.readline()); "
        "said = [os.getcwd(), os.environ['AIRBOSS_SESSION_FOLDER']]; "
        "print(json.dumps({'id': asked['id'], 'result': said}), flush=True); sys.stdin.read()"
    )
    bridge = bridges(sys.executable, "-c", tells)
    _, said = await Call("POST", asking("initialize")).answered(bridge)
    started, of_session = said["result"]
    assert of_session == str(tmp_path)
    assert started != of_session
    bridge.end()
    await bridge.ended()
    assert not await asyncio.to_thread(Path(started).exists)
