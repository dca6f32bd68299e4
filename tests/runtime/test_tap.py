"""A contract with the SDK's inside: when these fail, the SDK changed, and `tap.py` must follow."""

import asyncio
import inspect
import io
import json
import os
import select
import subprocess
import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from copilot import CopilotClient
from copilot._jsonrpc import JsonRpcClient, ProcessExitedError

from airboss.model.events import MessageEnded, ToolEnded
from airboss.runtime.hooks import Hooks, Pass
from airboss.runtime.signals import RuntimeLost, TurnIdle
from airboss.runtime.tap import (
    Tap,
    _says,  # pyright: ignore[reportPrivateUsage]
    _says_nothing,  # pyright: ignore[reportPrivateUsage]
    buffered,
    is_lost,
    process_of,
)
from tests.runtime.conftest import Flight, Listener, soon

pytestmark = pytest.mark.anyio


def test_the_sdk_still_has_what_the_tap_holds_on_to() -> None:
    assert inspect.iscoroutinefunction(
        CopilotClient._start_cli_server  # pyright: ignore[reportPrivateUsage]
    )
    handle: Any = getattr(JsonRpcClient, "_handle_message", None)
    assert list(inspect.signature(handle).parameters) == ["self", "message"]
    read = inspect.getsource(JsonRpcClient._read_loop)  # pyright: ignore[reportPrivateUsage]
    assert "self._handle_message(message)" in read
    assert "message = self._read_message()" in read
    one: Any = getattr(JsonRpcClient, "_read_message", None)
    assert "process.stdout.readline()" in inspect.getsource(one)
    write: Any = getattr(JsonRpcClient, "_send_message", None)
    alone = "with self._write_lock" in inspect.getsource(write)
    assert alone, "what the tap says is never in the middle of what the SDK says"
    assert buffered(CopilotClient) is not CopilotClient
    assert is_lost(ProcessExitedError("gone"))
    assert is_lost(RuntimeError("Client not connected"))
    assert not is_lost(RuntimeError("Session aborted before response completed"))


def test_the_sdk_still_acts_on_these_events_itself() -> None:
    """Each of these kinds reaches the SDK; a new one here would have to be passed on as well."""
    from copilot.session import CopilotSession

    acts = CopilotSession._handle_broadcast_event  # pyright: ignore[reportPrivateUsage]
    cases = [line.split()[1] for line in inspect.getsource(acts).splitlines() if " case " in line]
    assert cases == [
        "ExternalToolRequestedData()",
        "ExternalToolCompletedData()",
        "PermissionRequestedData()",
        "McpOauthRequiredData()",
        "CommandExecuteData()",
        "ElicitationRequestedData()",
        "CapabilitiesChangedData()",
        "SessionCanvasOpenedData()",
        "SessionCanvasClosedData()",
    ]


async def test_a_running_client_is_tapped_and_its_pipe_is_buffered(flight: Flight) -> None:
    life = await flight.runtime.life()
    assert life.tap.attached
    process = process_of(life.client)
    assert isinstance(process, subprocess.Popen)
    assert process is life.process
    assert isinstance(process.stdout, io.BufferedReader)


async def test_the_sdk_is_spared_the_news_of_sessions_that_nobody_hears(
    flight: Flight, listener: Listener
) -> None:
    heard: list[object] = []
    client: Any = (await flight.runtime.life()).client
    client.on_lifecycle(heard.append)
    session = await flight.session(listener)
    await session.close()
    assert heard == []


async def hooks_of_the_sdk(flight: Flight, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which the SDK was asked for in a session with a gate, of one turn with one call."""
    from copilot.session import CopilotSession

    asked: list[str] = []
    invoke = CopilotSession._handle_hooks_invoke  # pyright: ignore[reportPrivateUsage]

    async def record(session: CopilotSession, kind: str, given: Any) -> Any:
        asked.append(kind)
        return await invoke(session, kind, given)

    monkeypatch.setattr(CopilotSession, "_handle_hooks_invoke", record)
    session = await flight.session(listener := Listener(), gate=Open())
    await session.send("shell echo hello")
    await listener.until(TurnIdle)
    assert listener.all(ToolEnded)[0].text.startswith("hello\n")
    await session.close()
    return asked


class Open:
    """A gate that nobody minds."""

    async def before(self, use: object) -> Pass:
        assert use
        return Pass()

    def hear(self, told: object) -> None:
        assert told


async def test_short_words_are_written_at_once_and_long_ones_by_the_sdks_thread(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    long: list[int] = []
    send: Any = getattr(JsonRpcClient, "_send_message", None)

    async def record(wire: JsonRpcClient, message: dict[str, Any]) -> None:
        long.append(len(str(message)))
        await send(wire, message)

    monkeypatch.setattr(JsonRpcClient, "_send_message", record)
    session = await flight.session(listener)
    long.clear()
    for words in ("say short", "say " + "long " * 1_000):
        listener.told.clear()
        await session.send(words)
        await listener.until(TurnIdle)
        assert listener.all(MessageEnded)[0].text.split() == words.split()[1:]
    await session.close()
    assert [size > select.PIPE_BUF for size in long] == [True]


async def test_the_sdk_is_spared_the_hooks_that_nobody_has(
    flight: Flight, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that `for_the_sdk` names are the only ones that anybody has."""
    assert list(Hooks(Open()).for_the_sdk()) == ["on_pre_tool_use"]
    asked = await hooks_of_the_sdk(flight, monkeypatch)
    # The close that the last one belongs to may hold the pipe at that moment.
    assert [kind for kind in asked if kind != "sessionEnd"] == ["preToolUse"]


async def test_the_sdk_answers_hooks_where_the_tap_would_have_to_wait(
    flight: Flight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("select.poll")
    asked = await hooks_of_the_sdk(flight, monkeypatch)
    assert {"sessionStart", "preToolUse", "postToolUse", "agentStop"} <= set(asked)


@pytest.mark.parametrize("obstacle", ["none", "full", "busy", "closed"])
def test_a_hook_that_nobody_has_is_answered_only_where_that_does_not_wait(obstacle: str) -> None:
    read, write = os.pipe()
    with os.fdopen(read, "rb", 0) as away, os.fdopen(write, "wb", 0) as pipe:
        lock = threading.Lock()
        wire = SimpleNamespace(process=SimpleNamespace(stdin=pipe), _write_lock=lock)
        message = {"id": 7, "params": {"hookType": "postToolUse"}}
        match obstacle:
            case "full":
                os.set_blocking(write, False)
                while pipe.write(b"x" * 4096):
                    pass
                os.set_blocking(write, True)
            case "busy":
                lock.acquire()
            case "closed":
                away.close()
            case _:
                pass
        assert _says_nothing(wire, message) == (obstacle == "none")
        assert lock.locked() == (obstacle == "busy")
        if obstacle == "none":
            words = b'{"jsonrpc":"2.0","id":7,"result":{}}'
            assert away.read(4096) == b"Content-Length: %d\r\n\r\n%b" % (len(words), words)
        ours = {"id": 8, "params": {"hookType": "preToolUse"}}
        assert not _says_nothing(wire, ours)
        assert not _says(wire, {"id": 9, "params": "x" * select.PIPE_BUF}), "it may not fit"


async def test_the_sdk_forgets_a_session_that_was_closed(
    flight: Flight, listener: Listener
) -> None:
    client: Any = (await flight.runtime.life()).client
    session = await flight.session(listener)
    assert list(client._sessions) == [session.id]
    await session.close()
    assert list(client._sessions) == []


async def test_without_the_tap_sessions_work_by_the_sdks_public_events(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_tap: Tap, _client: Any) -> bool:
        return False

    monkeypatch.setattr(Tap, "attach", cannot)
    session = await flight.session(listener)
    await session.send("shell echo hello")
    await listener.until(TurnIdle)
    assert listener.all(ToolEnded)[0].text.startswith("hello\n")
    assert listener.all(MessageEnded)[0].text == "done"


async def test_a_listener_that_fails_does_not_silence_the_others(
    flight: Flight, listener: Listener
) -> None:
    def fail(told: object) -> None:
        is_end = isinstance(told, RuntimeLost)  # that is told by whoever ends it
        if not is_end:
            raise LookupError

    deaf = await flight.session(Listener(), hear=fail)
    session = await flight.session(listener)
    await deaf.send("say one")
    await session.send("say two")
    await listener.until(TurnIdle)
    assert listener.all(MessageEnded)[0].text == "two "


def framed(*messages: dict[str, Any]) -> bytes:
    bodies = [json.dumps(message).encode() for message in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)


async def test_who_says_more_than_is_heard_has_to_wait() -> None:
    """Else all of it would be in memory: here the loop is held while 40 MB are said."""
    size, count = 100_000, 400
    event = {"type": "tool.shell_output", "data": {"text": "x" * size}}
    said = {"method": "session.event", "params": {"sessionId": "ses_1", "event": event}}
    pipe = io.BufferedReader(io.BytesIO(framed(*[said] * count)))
    wire: Any = JsonRpcClient(SimpleNamespace(stdout=pipe))
    wire.notification_handler = print
    client: Any = SimpleNamespace(_client=wire)
    tap: Any = Tap(asyncio.get_running_loop())
    assert tap.attach(client)
    heard: list[int] = []

    def hear(event: Mapping[str, Any]) -> None:
        heard.append(len(event["data"]["text"]))

    tap.routes["ses_1"] = hear
    wire._running = True
    reader = threading.Thread(target=wire._read_loop, daemon=True)
    reader.start()
    reader.join(0.5)  # nobody hears on this thread meanwhile
    assert reader.is_alive()
    assert len(tap._waiting) * size < 6_000_000
    assert await soon(lambda: len(heard) == count, 20)
    reader.join(5)
    assert heard == [size] * count


async def test_what_the_runtime_complains_about_is_kept_in_part(flight: Flight) -> None:
    wire: Any = getattr((await flight.runtime.life()).client, "_client", None)
    for number in range(1_000):
        wire._stderr_output.append(f"{number}\n")
    assert wire.get_stderr_output().startswith("800\n")
