"""A runtime of somebody else, and one of ours that others may use: real processes, real sockets."""

import json
import socket
import stat
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import RuntimeUnavailable
from airboss.model.events import MessageDelta, MessageEnded, ToolEnded, ToolStarted
from airboss.runtime.agent_runtime import Runtime
from airboss.runtime.connection import OutsideRuntime, refusing_handler, shared_in
from airboss.runtime.locate import CLI_VERSION
from airboss.runtime.signals import RuntimeLost, TurnIdle
from tests.runtime.conftest import Flight, Listener, running, soon
from tests.runtime.others_runtime import TOKEN, OthersRuntime, others_runtime

pytestmark = pytest.mark.anyio


@pytest.fixture
def theirs(tmp_path: Path) -> Generator[OthersRuntime]:
    with others_runtime(tmp_path / "their-home") as runtime:
        yield runtime


@pytest.fixture
async def joined(flight: Flight, theirs: OthersRuntime) -> AsyncGenerator[Flight]:
    plan = replace(flight.runtime.plan, outside=OutsideRuntime(theirs.url, TOKEN))
    runtime = Runtime(plan)
    try:
        yield replace(flight, runtime=runtime)
    finally:
        await runtime.stop()


async def test_sessions_work_on_the_runtime_of_somebody_else_which_goes_on_without_us(
    joined: Flight, theirs: OthersRuntime, listener: Listener
) -> None:
    status = await joined.runtime.status()
    assert (status.version, status.protocol, status.pid) == (CLI_VERSION, 3, None)
    session = await joined.session(listener)
    await session.send("shell echo $COPILOT_HOME")
    await listener.until(TurnIdle)
    [ended] = listener.all(ToolEnded)
    assert str(theirs.home) in ended.text
    assert [request.kind for request in listener.permissions] == ["shell"]
    await session.close()
    await joined.runtime.stop()
    assert theirs.is_alive
    assert not list(joined.runtime.plan.notes.glob("*"))


async def test_another_runtime_that_is_killed_in_a_turn_is_told_and_found_again_when_it_returns(
    joined: Flight, theirs: OthersRuntime, listener: Listener
) -> None:
    session = await joined.session(listener)
    await session.send("say first words")
    await listener.until(TurnIdle)
    listener.told.clear()
    await session.send("shell sleep 4716.5")
    await listener.until(ToolStarted)
    assert await soon(lambda: running("sleep 4716.5"))
    began = time.monotonic()
    theirs.kill()
    lost = await listener.until(RuntimeLost)
    assert time.monotonic() - began < 2
    assert f"at {theirs.url}" in lost.reason
    await session.close()

    # It is looked for while its owner starts it again, and what its agent left is swept before.
    again = Listener()
    threading.Timer(0.8, theirs.start).start()
    later = await joined.session(again, id=session.id, resume=True)
    assert running("sleep 4716.5") == []
    await later.send("say here again")
    assert await again.until(TurnIdle) == TurnIdle(aborted=False)
    assert [end.text for end in again.all(MessageEnded)] == ["here again "]
    asked = joined.stage.requests[-1]["messages"]
    assert "say first words" in json.dumps(asked)
    await later.close()


async def test_a_connection_that_is_cut_ends_the_turn_but_not_the_runtime(
    joined: Flight, theirs: OthersRuntime, listener: Listener
) -> None:
    session = await joined.session(listener)
    await session.send("wait one two")
    await listener.until(MessageDelta)
    process = await joined.runtime.process()
    await process.client.force_stop()
    await listener.until(RuntimeLost)
    await session.close()
    again = Listener()
    later = await joined.session(again, id=session.id, resume=True)
    await later.send("say on")
    assert await again.until(TurnIdle) == TurnIdle(aborted=False)
    assert theirs.is_alive
    await later.close()


async def test_what_cannot_be_joined_is_told_in_words(
    flight: Flight, theirs: OthersRuntime
) -> None:
    async def why(url: str, token: str | None) -> str:
        outside = OutsideRuntime(url, token, return_seconds=0.1)
        runtime = Runtime(replace(flight.runtime.plan, outside=outside))
        with pytest.raises(RuntimeUnavailable) as refused:
            await runtime.status()
        await runtime.stop()
        assert "Traceback" not in str(refused.value)
        assert token is None or token not in str(refused.value)
        return str(refused.value)

    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"127.0.0.1:{free.getsockname()[1]}"
    assert f"No agent runtime answers at {nobody} (runtime_url)" in await why(nobody, TOKEN)
    assert "refuses the token in AIRBOSS_RUNTIME_TOKEN" in await why(theirs.url, "a-wrong-token")
    assert "wants a token: set AIRBOSS_RUNTIME_TOKEN" in await why(theirs.url, None)
    with _answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url:
        assert "does not answer as an agent runtime does" in await why(url, TOKEN)
    told = _framed({"jsonrpc": "2.0", "result": {"ok": True, "protocolVersion": 2, "version": "0"}})
    with _answering(told) as url:
        said = await why(url, TOKEN)
    assert "speaks protocol 2, and Airboss speaks protocol 3" in said
    assert CLI_VERSION in said


async def test_a_runtime_of_ours_that_is_shared_lets_in_who_has_its_token_and_nobody_else(
    flight: Flight, listener: Listener
) -> None:
    learnt: list[str] = []
    plan = replace(flight.runtime.plan, is_shared=True, learn=learnt.append)
    runtime = Runtime(plan)
    try:
        session = await replace(flight, runtime=runtime).session(listener)
        [note] = shared_in(plan.notes)
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        told = json.loads(note.read_text(encoding="utf-8"))
        assert learnt == [told["token"]]
        await session.send("shell env; cat /proc/$PPID/environ; true")
        await listener.until(TurnIdle)
        [ended] = listener.all(ToolEnded)
        assert "COPILOT_AGENT_SESSION_ID" in ended.text
        assert told["token"] not in ended.text.split("COPILOT_AGENT_SESSION_ID")[0]

        async def visit(token: str) -> None:
            guest = Runtime(
                replace(flight.runtime.plan, outside=OutsideRuntime(told["url"], token))
            )
            try:
                assert (await guest.status()).version == CLI_VERSION
            finally:
                await guest.stop()

        await visit(told["token"])
        with pytest.raises(RuntimeUnavailable, match="refuses the token"):
            await visit("something-else")
        listener.told.clear()
        await session.send("say still here")
        await listener.until(TurnIdle)
        await session.close()
    finally:
        await runtime.stop()
    assert shared_in(plan.notes) == []
    assert await soon(lambda: not running(f"--port {told['url'].rpartition(':')[2]}"))


@contextmanager
def _answering(said: bytes) -> Generator[str]:
    """A program that is no runtime, or another one, and says this to the first who asks."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            guest, _ = listening.accept()
            with guest:
                asked = guest.recv(65536)
                if b"{" not in asked:  # head and body may come one after the other
                    asked += guest.recv(65536)
                name = json.loads(asked[asked.index(b"{") :])["id"]
                guest.sendall(said.replace(b'"?"', json.dumps(name).encode()))
                guest.recv(65536)

        worker = threading.Thread(target=answer, daemon=True)
        worker.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        worker.join(5)


def _framed(message: dict[str, object]) -> bytes:
    # As long as an id of the SDK is, so that the length stays right.
    body = json.dumps({**message, "id": "?"}).encode()
    length = len(body) - len(b'"?"') + len(json.dumps("0" * 36))
    return b"Content-Length: %d\r\n\r\n%b" % (length, body)


async def test_a_call_that_comes_before_our_wire_goes_nowhere() -> None:
    handler: Any = refusing_handler()
    with pytest.raises(RuntimeUnavailable, match="too early"):
        await handler.send_request(None, None)
    with pytest.raises(RuntimeUnavailable, match="no websocket"):
        await handler.open_websocket(None)
