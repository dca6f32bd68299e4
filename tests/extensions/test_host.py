"""Extensions of a session on the real runtime: their tools, and what is told of them."""

from airboss.model.events import ToolEnded, ToolStarted
from airboss.model.extension_events import ExtensionStarted
from tests.extensions.hosted import GOOD, Hosted, results_in, tools_in


async def test_a_tool_of_an_extension_is_offered_called_and_told_as_its_own(hosted: Hosted) -> None:
    await hosted.add("helper", GOOD)
    session = await hosted.open()
    request = await hosted.ask(session, 'call good {"word": "day"}')
    assert "good" in tools_in(request)
    assert results_in(request)[-1] == "good day"
    [started] = await hosted.said(session, ExtensionStarted)
    assert (started.name, started.scope, started.tools) == ("helper", "project", ("good",))
    [call] = await hosted.said(session, ToolStarted)
    [end] = await hosted.said(session, ToolEnded)
    assert call.extension == end.extension == "helper"
