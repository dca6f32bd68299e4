"""Tools of servers, on the real runtime: what a session may not have is taken away again."""

from typing import Any

import pytest

from airboss.model.setup import Setup, ToolSetup
from airboss.model.tool_lists import ToolList
from airboss.runtime import session as session_module
from airboss.runtime.options import options_of
from airboss.runtime.runtime_process import RuntimeProcess
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import TurnIdle
from airboss.runtime.tool_names import tool_options
from tests.runtime import mcp_server
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio


def setup_with(*lists: ToolList, **more: Any) -> Setup:
    return Setup(tools=ToolSetup(lists=lists, **more))


def offered(flight: Flight) -> set[str]:
    return {tool["function"]["name"] for tool in flight.stage.requests[-1].get("tools", [])}


@pytest.fixture
def with_files(flight: Flight, monkeypatch: pytest.MonkeyPatch) -> Flight:
    """A flight whose sessions have a server with the tools peek and poke."""

    def options(asked: SessionRequest, process: RuntimeProcess) -> dict[str, Any]:
        server = {"files": mcp_server.stdio(flight.folder / "notes")}
        return {**options_of(asked, process), "mcp_servers": server}

    monkeypatch.setattr(session_module, "options_of", options)
    return flight


async def asked(session: RuntimeSession, listener: Listener) -> None:
    listener.told.clear()
    await session.send("say hello")
    await listener.until(TurnIdle)


@pytest.mark.parametrize(
    ("tools", "kept"),
    [
        (ToolList(allow=("view", "files/pe*")), {"view", "files-peek"}),
        (ToolList(allow=("view", "@mcp"), deny=("files/peek",)), {"view", "files-poke"}),
        (ToolList(allow=("view", "files/peek")), {"view", "files-peek"}),
    ],
)
async def test_of_a_server_only_what_is_allowed_stays(
    with_files: Flight, listener: Listener, tools: ToolList, kept: set[str]
) -> None:
    session = await with_files.session(listener, setup=setup_with(tools))

    async def is_there() -> bool:
        await asked(session, listener)
        found = await session.tools()
        return found is not None and "files" in found.servers

    for _ in range(20):  # its tools come a moment later
        if await is_there():
            break
    await asked(session, listener)
    assert offered(with_files) == kept
    found = await session.tools()
    assert found is not None
    assert (found.built_in, found.ours) == (("view",), ())
    names = tuple(sorted(name.removeprefix("files-") for name in kept - {"view"}))
    assert found.servers == {"files": names}


async def test_githubs_server_is_there_where_it_is_asked_for(
    flight: Flight, listener: Listener
) -> None:
    copilots: dict[str, Any] = {"provider": None, "model": "gpt-5-mini", "github_token": "a-token"}
    session = await flight.session(listener, setup=setup_with(github=True), **copilots)
    for _ in range(20):  # it is connected to with the first request
        await asked(session, listener)
        if "github-mcp-server-peek" in offered(flight):
            break
    assert {"github-mcp-server-peek", "github-mcp-server-poke"} <= offered(flight)


def test_without_a_list_nothing_is_said_about_tools() -> None:
    said = tool_options(ToolSetup())
    assert (said["available_tools"], said["tool_search"]) == (None, None)
    assert said["excluded_tools"] == ["lsp", "session_store_sql"]


def test_the_search_is_one_of_the_tools_where_it_is_on() -> None:
    said = tool_options(ToolSetup(lists=(ToolList(allow=("view", "@mcp")),), search="on"))
    assert said["available_tools"][:1] == ["view"]
    assert said["available_tools"][-2:] == ["mcp:*", "tool_search_tool"]
    assert said["tool_search"] == {"enabled": True, "defer_threshold": 0}
