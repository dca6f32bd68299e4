"""MCP servers that misbehave, on the real runtime: the session goes on, and says what happened."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from airboss.model.events import ToolEnded
from airboss.model.mcp_events import McpChanged
from airboss.model.setup import AgentSetup, ServerSetup, Setup, ToolSetup
from airboss.model.tool_lists import ToolList
from airboss.runtime import tool_names
from airboss.runtime.mcp_servers import ServerAddress, ServerProgram
from airboss.runtime.session import RuntimeSession
from airboss.runtime.signals import TurnFailed, TurnIdle
from airboss.runtime.tool_names import tool_options
from tests.runtime import mcp_server
from tests.runtime.conftest import Flight, Listener, running, soon
from tests.trials import trial

pytestmark = pytest.mark.anyio

TRICKS = Path(__file__).parents[1] / "servers" / "tricks.py"


def tricks(*words: str) -> ServerProgram:
    return ServerProgram((sys.executable, str(TRICKS), *words))


def states(listener: Listener) -> dict[str, str]:
    return {said.server: said.state for said in listener.all(McpChanged)}


async def ask(session: RuntimeSession, listener: Listener, text: str, seconds: float = 20) -> None:
    before = len(listener.all(TurnIdle))
    await session.send(text)
    assert await soon(lambda: len(listener.all(TurnIdle)) > before, seconds)


async def test_servers_that_fail_hang_or_are_nowhere_stop_nothing(
    flight: Flight, listener: Listener
) -> None:
    servers: dict[str, Any] = {
        "good": ServerProgram((sys.executable, mcp_server.__file__, str(flight.folder / "notes"))),
        "dies": tricks("die"),
        "hangs": tricks("hang"),
        "missing": ServerProgram(("/no/such/program",)),
        "nowhere": ServerAddress("http://127.0.0.1:1/mcp"),
    }
    began = time.monotonic()
    # On a busy machine the good one takes some seconds, too.
    session = await flight.session(listener, servers=servers, server_wait=6.0)
    opened = time.monotonic() - began
    await ask(session, listener, 'call good-poke {"what": "it"}')
    assert (flight.folder / "notes").read_text("utf-8") == "poke it\n"
    found = states(listener)
    assert (found["good"], found["dies"], found["missing"]) == ("connected", "failed", "failed")
    assert found["hangs"] == "failed"
    errors = {said.server: said.error or "" for said in listener.all(McpChanged)}
    assert "exit code 3" in errors["dies"]
    assert "out of coffee" in errors["dies"]
    assert errors["hangs"].startswith("It did not answer in time, and was ended.")
    assert running(f"{TRICKS} hang") == []
    assert listener.all(TurnFailed) == []
    assert opened < 15, "nobody waits for servers when a session is opened"
    await session.close()


async def test_one_that_is_late_alone_may_come_later(flight: Flight, listener: Listener) -> None:
    session = await flight.session(listener, servers={"slow": tricks("slow")}, server_wait=0.2)
    await ask(session, listener, "say hello")
    assert states(listener) == {"slow": "starting"}
    assert await soon(lambda: states(listener) == {"slow": "connected"}, 30)
    await ask(session, listener, "call slow-lies {}")
    assert listener.all(ToolEnded)[-1].error is None
    await session.close()


@trial
async def test_one_that_starts_so_slowly_that_it_refuses_is_tried_again(
    flight: Flight, listener: Listener
) -> None:
    first = flight.folder / "first"
    begin = f'[ -e {first} ] || {{ touch {first}; sleep 13; }}; exec "$@"'
    words = (sys.executable, str(TRICKS.with_name("tools.py")))
    slow = ServerProgram(("/bin/sh", "-c", begin, "sh", *words))
    session = await flight.session(listener, servers={"slow": slow}, server_wait=0.2)
    await ask(session, listener, "say hello")
    assert await soon(lambda: states(listener) == {"slow": "failed"}, 60)
    session.servers.wait_seconds = 20.0
    await ask(session, listener, 'call slow-variable {"name": "NOTHING"}', 40)
    assert states(listener) == {"slow": "connected"}
    assert listener.all(ToolEnded)[-1].error is None
    await session.close()


async def test_a_server_that_crashes_floods_or_lies_costs_one_call_each(
    flight: Flight, listener: Listener
) -> None:
    servers = {"odd": tricks("serve"), "other": tricks("serve")}
    session = await flight.session(listener, servers=servers)
    await ask(session, listener, 'call odd-lies {"number": "no number"}')
    await ask(session, listener, "call odd-floods {}", 60)
    await ask(session, listener, "call odd-crashes {}")
    await ask(session, listener, "call other-lies {}", 60)
    lied, flooded, crashed, fine = listener.all(ToolEnded)
    await ask(session, listener, "call odd-lies {}")
    changes = [said for said in listener.all(McpChanged) if said.server == "odd"]
    assert [said.state for said in changes[:2]] == ["connected", "failed"]
    assert changes[-1].state == "connected"
    ended = "It ended in the middle of the work. The next request starts it again."
    assert changes[1].error == ended
    assert listener.all(ToolEnded)[-1].text.startswith("[1, 2]")
    assert lied.error is None
    assert len(flooded.text) < 1_000_000
    assert crashed.error is not None
    assert fine.error is None
    assert fine.text.startswith("[1, 2]")
    assert listener.all(TurnFailed) == []
    await session.close()


async def test_a_server_that_asks_back_gets_no_word_no_model_and_no_folder(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener, servers={"odd": tricks("serve")})
    await ask(session, listener, "call odd-asks {}")
    [ended] = listener.all(ToolEnded)
    answered, sampled, roots = json.loads(ended.text.splitlines()[0])
    assert answered == {"action": "decline"}
    assert sampled["stopReason"] == "cancelled"
    assert roots == {"roots": []}
    assert "What do you know?" not in str(flight.stage.requests[0])
    assert len(flight.stage.requests) == 2, "the call, and what came of it"
    await session.close()


async def test_a_turn_that_is_stopped_leaves_the_servers_and_a_closed_session_does_not(
    flight: Flight, listener: Listener
) -> None:
    # With a word of its own: others run the same server at the same time.
    words = ("serve", str(flight.folder))
    session = await flight.session(listener, servers={"odd": tricks(*words)})
    await ask(session, listener, "call odd-lies {}")
    await session.send("shell sleep 60")
    await session.abort()
    await ask(session, listener, "call odd-lies {}")
    assert listener.all(ToolEnded)[-1].text.startswith("[1, 2]")
    assert running(" ".join(words))
    await session.close()
    assert await soon(lambda: not running(" ".join(words)))


async def test_servers_of_a_session_with_an_agent_start_with_it_too(
    flight: Flight, listener: Listener
) -> None:
    agent = AgentSetup(description="d", prompt="p", tools=("view", "@mcp"))
    setup = Setup(agents={"a": agent}, mcp_servers={"odd": ServerSetup()}, agent="a")
    servers = {"odd": tricks("serve")}
    session = await flight.session(listener, servers=servers, setup=setup)
    assert await soon(lambda: states(listener) == {"odd": "connected"}), "nothing was asked yet"
    await session.close()
    again = Listener()
    resumed = await flight.session(again, id=session.id, resume=True, servers=servers, setup=setup)
    assert await soon(lambda: states(again) == {"odd": "connected"})
    await ask(resumed, again, "call odd-lies {}")
    assert again.all(ToolEnded)[-1].text.startswith("[1, 2]")
    await resumed.close()


async def test_tools_that_come_later_are_narrowed_too(flight: Flight, listener: Listener) -> None:
    setup = Setup(
        tools=ToolSetup(
            lists=(ToolList(allow=("view", "odd/lies", "odd/n*"), deny=("odd/gone", "odd/c*")),)
        )
    )
    session = await flight.session(listener, servers={"odd": tricks("serve")}, setup=setup)
    await ask(session, listener, "call odd-lies {}")
    assert _offered(flight) == {"odd-lies"}
    await ask(session, listener, "call odd-lies {}")
    await ask(session, listener, "say hello")
    assert _offered(flight) == {"odd-lies"}
    has = "asks, crashes, floods, lies, meta, sleeps, variable"
    told = f'No tool of it matches "n*", "gone". It has: {has}.'
    assert listener.all(McpChanged)[-1].error == told
    await session.close()


def _offered(flight: Flight) -> set[str]:
    tools = flight.stage.requests[-1]["tools"]
    return {tool["function"]["name"] for tool in tools if "-" in tool["function"]["name"]}


async def test_of_a_server_that_does_not_say_what_it_has_the_model_sees_nothing_until_it_does(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine, where its answer comes too late."""
    listed = tool_names.listed_tools

    async def busy(*_: Any) -> None:
        return None

    monkeypatch.setattr(tool_names, "listed_tools", busy)
    setup = Setup(tools=ToolSetup(lists=(ToolList(deny=("web_*",)),)))
    session = await flight.session(listener, servers={"odd": tricks("serve")}, setup=setup)
    for _ in range(2):
        await ask(session, listener, "say hello")
        assert _offered(flight) == set()
    silent = "It does not say which tools it has. The agents see no tool of any MCP server."
    assert listener.all(McpChanged)[-1].error == silent
    monkeypatch.setattr(tool_names, "listed_tools", listed)
    await ask(session, listener, "say hello")
    assert _offered(flight) >= {"odd-lies", "odd-variable", "odd-floods"}
    assert listener.all(McpChanged)[-1].error is None
    await session.close()


def test_what_is_named_exactly_is_said_before_any_server_comes() -> None:
    said = tool_options(ToolSetup(lists=(ToolList(allow=("view", "odd/lies", "odd-variable")),)))
    assert said["available_tools"][-2:] == ["odd-lies", "odd-variable"]
    assert "mcp:*" not in said["available_tools"]
    said = tool_options(ToolSetup(lists=(ToolList(deny=("odd/floods", "odd/c*")),)))
    assert "odd-floods" in said["excluded_tools"]
    assert "mcp:*" not in said["excluded_tools"]
