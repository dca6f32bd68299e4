"""Tools that others bring, on the real runtime: GitHub's own server, and what is asked for them."""

import os
import signal
from typing import Any

import pytest

from airboss.harness.gate import Gate
from airboss.harness.loops import Loops
from airboss.model.events import ToolEnded
from airboss.runtime import session as session_module
from airboss.runtime.hooks import Pass, Veto
from airboss.runtime.options import options_of
from airboss.runtime.origins import Origins
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.runtime_process import RuntimeProcess
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import RuntimeLost, TurnIdle
from tests.harness.states import unopened_state
from tests.runtime import mcp_server
from tests.runtime.conftest import Flight, Listener, soon
from tests.runtime.test_hooks import Porter
from tests.trials import sampled

pytestmark = pytest.mark.anyio

COPILOTS: dict[str, Any] = {"provider": None, "model": "gpt-5-mini", "github_token": "a-token"}
PEEK = 'call github-mcp-server-peek {"what": "me"}'


def offered(flight: Flight) -> list[str]:
    """The tools of GitHub's server in the requests that the model got."""
    names = {tool["function"]["name"] for asked in flight.stage.requests for tool in asked["tools"]}
    return sorted(name for name in names if name.startswith("github-"))


def deaf(_: Origins, __: Any) -> None:
    """Hears nothing."""


def changed(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    def options(asked: SessionRequest, process: RuntimeProcess) -> dict[str, Any]:
        return {**options_of(asked, process), **changes}

    monkeypatch.setattr(session_module, "options_of", options)


async def test_githubs_own_server_is_in_no_session_new_or_resumed_nor_in_a_sub_agent(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener, **COPILOTS)
    for text in (PEEK, f"agent {PEEK}"):
        listener.told.clear()
        await session.send(text)
        await listener.until(TurnIdle)
    await session.close()
    again = Listener()
    session = await flight.session(again, id=session.id, resume=True, **COPILOTS)
    await session.send(PEEK)
    await again.until(TurnIdle)
    ends = [*listener.all(ToolEnded), *again.all(ToolEnded)]
    assert all(end.error is not None for end in ends if "peek" in str(end))
    assert (flight.stage.mcp_methods, flight.stage.mcp_calls, offered(flight)) == ([], [], [])


async def test_it_would_be_there_and_run_unasked_if_we_did_not_say_no(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this, the test above could pass for a server that the stand-in does not have."""
    changed(monkeypatch, disabled_mcp_servers=None)
    session = await flight.session(listener, gate=Porter(), **COPILOTS)
    await session.send(PEEK)
    await listener.until(TurnIdle)
    assert offered(flight) == ["github-mcp-server-peek", "github-mcp-server-poke"]
    assert [call["name"] for call in flight.stage.mcp_calls] == ["peek"]
    assert listener.permissions == []


async def test_the_gate_has_it_asked_for_even_so(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(monkeypatch, disabled_mcp_servers=None)
    listener.answer = PermissionAnswer(allowed=False, reason="No.")
    gate = Gate(unopened_state(), Loops(), lambda _: None, lambda _, __: None)
    session = await flight.session(listener, gate=gate, **COPILOTS)
    await session.send(PEEK)
    await listener.until(TurnIdle)
    [asked_for] = listener.permissions
    assert (asked_for.kind, asked_for.tool) == ("mcp", "github-mcp-server-peek")
    assert (asked_for.raw["serverName"], asked_for.raw["args"]) == (
        "github-mcp-server",
        {"what": "me"},
    )
    assert flight.stage.mcp_calls == []


@pytest.mark.parametrize("text", ["call files-peek {}", "agent call files-peek {}"])
async def test_the_server_is_known_also_where_the_start_of_a_call_was_not_heard_of(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """A sub-agent's start comes late when much goes on."""
    changed(monkeypatch, mcp_servers={"files": mcp_server.stdio(flight.folder / "notes")})
    monkeypatch.setattr(Origins, "hear", deaf)
    porter = Porter(lambda use: Pass(must_ask=use.tool == "files-peek"))
    session = await flight.session(listener, gate=porter)
    await session.send(text)
    await listener.until(TurnIdle)
    assert [asked_for.raw.get("serverName") for asked_for in listener.permissions] == ["files"]


async def test_a_call_with_the_id_of_another_is_not_taken_for_a_tool_of_that_ones_server(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids of calls are the model's: two calls may have the same."""

    def hear_another(self: Origins, raw: Any) -> None:
        heard(self, {**raw, "data": {**raw["data"], "mcpServerName": "trusted"}})

    heard = Origins.hear
    changed(monkeypatch, mcp_servers={"files": mcp_server.stdio(flight.folder / "notes")})
    monkeypatch.setattr(Origins, "hear", hear_another)
    porter = Porter(lambda use: Pass(must_ask=use.tool == "files-peek"))
    session = await flight.session(listener, gate=porter)
    await session.send("call files-peek {}")
    await listener.until(TurnIdle)
    assert [asked_for.raw.get("serverName") for asked_for in listener.permissions] == ["files"]


async def test_what_was_asked_when_the_runtime_died_is_asked_again_as_what_it_was(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = flight.folder / "notes"
    changed(monkeypatch, mcp_servers={"files": mcp_server.stdio(notes)})
    asked: list[PermissionRequest] = []

    async def wait(asked_for: PermissionRequest) -> PermissionAnswer:
        asked.append(asked_for)
        return await listener.until(PermissionAnswer, 60)

    porter = Porter(lambda _: Pass(must_ask=True))
    session = await flight.session(listener, gate=porter, decide=wait)
    await session.send('call files-peek {"what": "it"}')
    assert await soon(lambda: asked)
    await soon(lambda: False, 1)  # the runtime writes it down half a second later
    pid = flight.runtime.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await listener.until(RuntimeLost)
    again = Listener()
    resumed = {"id": session.id, "resume": True, "goes_on": True}
    session = await flight.session(again, gate=porter, **resumed)
    pending = await session.pending()
    assert len(pending.permissions) == 1
    session.go_on(pending)
    await again.until(TurnIdle)
    [asked_for] = again.permissions
    assert (asked_for.kind, asked_for.tool, asked_for.call) == ("mcp", "files-peek", asked[0].call)
    assert asked_for.raw["args"] == {"what": "it"}
    assert notes.read_text("utf-8") == "peek it\n"


@pytest.mark.parametrize("answer", sampled(1, [Veto("No."), Pass({"what": "else"}, must_ask=True)]))
async def test_a_call_that_was_changed_cannot_be_asked_for_and_does_not_run(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    """The runtime would ask for the call as it was made, and run that."""
    notes = flight.folder / "notes"
    changed(monkeypatch, mcp_servers={"files": mcp_server.stdio(notes)})
    session = await flight.session(listener, gate=Porter(lambda _: answer))
    await session.send('call files-peek {"what": "it"}')
    await listener.until(TurnIdle)
    assert listener.permissions == []
    assert notes.read_text("utf-8") == ""
