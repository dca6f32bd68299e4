"""Raw events on their way from the SDK's connection to the sessions they belong to."""

import asyncio
import inspect
import io
import json
import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from copilot._jsonrpc import JsonRpcClient

from airboss.model.events import MessageEnded, ToolEnded
from airboss.runtime import sdk_wire
from airboss.runtime.frames import Oversized, PassedOver
from airboss.runtime.hooks import Hooks, Pass
from airboss.runtime.sdk_wire import SdkWire
from airboss.runtime.signals import RuntimeLost, TurnIdle
from tests.runtime.conftest import Flight, Listener, soon

pytestmark = pytest.mark.anyio


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


async def test_the_sdk_is_spared_the_news_of_sessions_that_nobody_hears(
    flight: Flight, listener: Listener
) -> None:
    heard: list[object] = []
    client: Any = (await flight.runtime.process()).client
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

    def hear(self, said: object) -> None:
        assert said


async def test_the_sdk_is_spared_all_hooks(flight: Flight, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that `for_the_sdk` names is the only one that anybody has, and is asked directly."""
    assert list(Hooks(Open()).for_the_sdk()) == ["on_pre_tool_use"]
    asked = await hooks_of_the_sdk(flight, monkeypatch)
    # The close that the last one belongs to may hold the pipe at that moment.
    assert [kind for kind in asked if kind != "sessionEnd"] == []


async def test_the_sdk_answers_hooks_where_that_would_have_to_wait(
    flight: Flight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("select.poll")
    asked = await hooks_of_the_sdk(flight, monkeypatch)
    assert {"sessionStart", "postToolUse", "agentStop"} <= set(asked)


async def test_without_the_wire_sessions_work_by_the_sdks_public_events(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_wire: SdkWire, _client: Any) -> bool:
        return False

    monkeypatch.setattr(SdkWire, "attach", cannot)
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


def event_of(session: str) -> dict[str, Any]:
    params: dict[str, Any] = {"sessionId": session, "event": {"type": "session.idle", "data": {}}}
    return {"jsonrpc": "2.0", "method": "session.event", "params": params}


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
    events: Any = SdkWire(asyncio.get_running_loop())
    assert events.attach(client)
    heard: list[int] = []

    def hear(event: Mapping[str, Any]) -> None:
        heard.append(len(event["data"]["text"]))

    events.routes["ses_1"] = hear
    wire._running = True
    reader = threading.Thread(target=wire._read_loop, daemon=True)
    reader.start()
    reader.join(0.5)  # nobody hears on this thread meanwhile
    assert reader.is_alive()
    assert len(events._waiting) * size < 6_000_000
    assert await soon(lambda: len(heard) == count, 20)
    reader.join(5)
    assert heard == [size] * count


def printed(text: str) -> dict[str, Any]:
    event = {"type": "tool.shell_output", "data": {"text": text}}
    return {"method": "session.event", "params": {"sessionId": "ses_1", "event": event}}


async def test_what_a_command_prints_wakes_the_loop_once_for_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All else is heard at once, in order, and brings along what waits; so does the end."""
    monkeypatch.setattr(sdk_wire, "_GATHER_SECONDS", 60)
    loop, heard = asyncio.get_running_loop(), list[str]()
    wire: Any = SdkWire(loop)

    def hear(event: Mapping[str, Any]) -> None:
        heard.append(event["data"].get("text", event["type"]))

    wire.routes["ses_1"] = hear
    wire._drained_at = loop.time()

    async def say(*messages: dict[str, Any]) -> None:
        for one in messages:
            await asyncio.to_thread(wire._hear, None, one)
        await asyncio.sleep(0.05)

    await say(printed("one"), printed("two"))
    assert heard == []
    await say(event_of("ses_1"))
    assert heard == ["one", "two", "session.idle"]
    await say(printed("three"))
    assert len(heard) == 3
    await asyncio.to_thread(wire._read, io.BufferedReader(io.BytesIO(b"")))
    assert heard[3:] == ["three"]
    wire._drained_at = loop.time() - 61  # nothing was heard for long: nothing to gather
    await say(printed("four"))
    assert heard[4:] == ["four"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (event_of("ses_2"), "spoke for a session that it does not have"),
        ({"method": "hooks.invoke", "id": 1, "params": {"hookType": "x"}}, "none would say"),
        ({"method": "session.event", "params": {"sessionId": [], "event": {"type": "x"}}}, "none"),
        ({"method": "permission.request", "params": {"sessionId": "ses_2"}}, "spoke for a session"),
        (["no", "object"], "none would say"),
        (PassedOver(9, "session.event", session="ses_2"), "spoke for a session"),
    ],
)
async def test_what_comes_from_a_cage_is_not_believed(said: Any, why: str) -> None:
    heard, told = list[Any](), list[str]()
    wire: Any = SdkWire(asyncio.get_running_loop(), is_caged=True)
    wire.known.add("ses_1")
    wire.routes.update(ses_1=heard.append, ses_2=heard.append)
    wire.distrust = told.append
    for one in (said, event_of("ses_1")):
        await asyncio.to_thread(wire._hear, None, one)  # nothing is answered
    await asyncio.sleep(0)
    assert why in told[0]
    assert [one["type"] for one in heard] == ["session.idle"]


async def test_a_message_over_64_mb_from_a_cage_is_not_read() -> None:
    told = list[str]()
    wire: Any = SdkWire(asyncio.get_running_loop(), is_caged=True)
    wire.distrust = told.append
    pipe = io.BufferedReader(io.BytesIO(b"Content-Length: 64000001\r\n\r\n"))
    with pytest.raises(Oversized):
        await asyncio.to_thread(wire._read, pipe)
    await asyncio.sleep(0)
    assert told == [
        "The cage was ended: the agent runtime in it said something of 64 MB, and 64 MB is the "
        "most that is read."
    ]
