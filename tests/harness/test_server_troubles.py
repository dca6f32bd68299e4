"""What is told of servers that do not work, and what is not."""

from airboss.harness.server_troubles import ServerTroubles
from airboss.model.events import ToolEnded, ToolError
from airboss.model.mcp_events import McpChanged, McpServer

LOST = "MCP server 'files': MCP request failed: MCP transport closed"


def ended(message: str) -> ToolEnded:
    return ToolEnded(block="b", text="", error=ToolError(message=message))


def test_servers_that_failed_before_or_in_the_turn_are_told_until_they_are_back() -> None:
    troubles = ServerTroubles([McpServer(name="wiki", state="failed", error="It is away.")])
    troubles.hear(McpChanged(server="files", state="starting", error="It is late."))
    assert troubles.words == (
        "MCP server 'wiki': It is away.",
        "MCP server 'files': It is late.",
    )
    troubles.hear(McpChanged(server="wiki", state="connected"))
    troubles.hear(McpChanged(server="files", state="starting"))
    assert troubles.words == ("MCP server 'files': It is late.",)


def test_a_call_that_was_not_answered_is_told_once_and_an_error_as_an_answer_is_not() -> None:
    troubles = ServerTroubles()
    for message in (LOST, LOST, "There is no such page."):
        troubles.hear(ended(message))
    assert troubles.words == (LOST,)
    for number in range(9):
        troubles.hear(ended(f"{LOST} {number}"))
    assert len(troubles.words) == 3
