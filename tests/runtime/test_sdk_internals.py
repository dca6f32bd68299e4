"""A contract with the SDK's inside: when these fail it changed, and `sdk_internals.py` must follow.

What each thing is needed for stands in its `RELIED_ON`.
"""

import inspect
import io
import os
import select
import subprocess
import sys
import threading
import tracemalloc
from types import SimpleNamespace
from typing import Any

import pytest
from copilot import CopilotClient
from copilot._jsonrpc import JsonRpcClient, ProcessExitedError

from airboss.model.events import MessageEnded
from airboss.runtime import sdk_internals
from airboss.runtime.sdk_internals import (
    RELIED_ON,
    SdkConnection,
    bound_errors,
    buffered,
    is_lost,
    process_of,
)
from airboss.runtime.sdk_wire import answer_unused_hook
from airboss.runtime.signals import TurnIdle
from tests.house.private_use import found, private_use
from tests.runtime.conftest import Flight, Listener, soon

pytestmark = pytest.mark.anyio
DOTTED = [name for name in RELIED_ON if "." in name and " " not in name]


@pytest.mark.parametrize("name", DOTTED)
def test_the_sdk_still_has_what_is_relied_on(name: str) -> None:
    found(name)


def test_the_list_has_all_that_the_module_uses_and_nothing_else() -> None:
    source = inspect.getsource(sdk_internals)
    begin, end = source.index("RELIED_ON: Final"), source.index("_PIPE_BYTES: Final")
    code = source[:begin] + source[end:]
    names = {name.rpartition(".")[2] for name in private_use(code)}
    assert names == {name.rpartition(".")[2] for name in DOTTED}
    assert "words 'Client not connected'" in RELIED_ON


def test_the_sdk_uses_its_inside_as_it_did() -> None:
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
    errors: Any = getattr(JsonRpcClient, "_stderr_loop", None)
    assert "process.stderr.readline()" in inspect.getsource(errors)
    write: Any = getattr(JsonRpcClient, "_send_message", None)
    alone = "with self._write_lock" in inspect.getsource(write)
    assert alone, "what we write is never in the middle of what the SDK writes"
    assert buffered(CopilotClient) is not CopilotClient
    assert is_lost(ProcessExitedError("gone"))
    assert is_lost(RuntimeError("Client not connected"))
    assert not is_lost(RuntimeError("Session aborted before response completed"))


async def test_a_running_client_is_listened_to_and_its_pipe_is_buffered(flight: Flight) -> None:
    running = await flight.runtime.process()
    assert running.wire.attached
    process = process_of(running.client)
    assert isinstance(process, subprocess.Popen)
    assert process is running.child
    assert isinstance(process.stdout, io.BufferedReader)


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


@pytest.mark.parametrize("obstacle", ["none", "full", "busy", "closed"])
def test_a_hook_that_nobody_has_is_answered_only_where_that_does_not_wait(obstacle: str) -> None:
    read, write = os.pipe()
    with os.fdopen(read, "rb", 0) as away, os.fdopen(write, "wb", 0) as pipe:
        lock = threading.Lock()
        process = SimpleNamespace(stdin=pipe)
        rpc = SimpleNamespace(
            process=process, notification_handler=print, _handle_message=print, _write_lock=lock
        )
        connection = SdkConnection(rpc)
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
        assert answer_unused_hook(connection, message) == (obstacle == "none")
        assert lock.locked() == (obstacle == "busy")
        if obstacle == "none":
            words = b'{"jsonrpc":"2.0","id":7,"result":{}}'
            assert away.read(4096) == b"Content-Length: %d\r\n\r\n%b" % (len(words), words)
        ours = {"id": 8, "params": {"hookType": "preToolUse"}}
        assert not answer_unused_hook(connection, ours)
        assert not connection.send_at_once({"id": 9, "params": "x" * select.PIPE_BUF}), (
            "it may not fit"
        )


async def test_the_sdk_forgets_a_session_that_was_closed(
    flight: Flight, listener: Listener
) -> None:
    client: Any = (await flight.runtime.process()).client
    session = await flight.session(listener)
    assert list(client._sessions) == [session.id]
    await session.close()
    assert list(client._sessions) == []


async def test_what_the_runtime_complains_about_is_kept_in_part(flight: Flight) -> None:
    wire: Any = getattr((await flight.runtime.process()).client, "_client", None)
    for number in range(1_000):
        wire._stderr_output.append(f"{number}\n")
    assert wire.get_stderr_output().startswith("800\n")
    assert not isinstance(wire.process.stderr, io.RawIOBase), "its lines are bounded"


COMPLAINS = """
import sys
say = sys.stderr.buffer.write
say("first é\\n".encode() + b"\\xff odd\\n" + "é".encode() * 5000 + b"\\n")
for _ in range(64):
    say(b"x" * (1 << 20))
say(b"\\n" * 3 + b"last")
"""


def complaining() -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", COMPLAINS]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


async def test_a_complaint_without_an_end_takes_no_memory() -> None:
    with complaining() as process:
        bound_errors(process)
        wire, largest = JsonRpcClient(process), 0
        tracemalloc.start()
        try:
            wire.start()
            assert await soon(lambda: "last" in wire.get_stderr_output())
            largest = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            await wire.stop()
    lines = wire.get_stderr_output().split("\n")
    assert lines[:2] == ["first é", "\ufffd odd"]
    assert [len(line) > 4000 for line in lines[2:4]] == [True, True]
    assert lines[4:] == ["", "", "last"]
    assert largest < 8 << 20


def test_the_sdk_asks_us_for_the_trace_of_what_it_sends() -> None:
    from copilot import client, session

    kept = vars(client)["get_trace_context"], vars(session)["get_trace_context"]
    said: list[str | None] = ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]
    try:
        sdk_internals.tell_traces(lambda: said[0])
        for module in (client, session):
            asked = vars(module)["get_trace_context"]
            assert asked() == {"traceparent": said[0]}
            said.insert(0, None)
            assert asked() == {}
            said.pop(0)
    finally:
        for module, own in zip((client, session), kept, strict=True):
            setattr(module, "get_trace_context", own)  # noqa: B010 - it has no public name
    for module in (client, session):
        assert "= get_trace_context()" in inspect.getsource(module) or (
            "get_trace_context())" in inspect.getsource(module)
        )
