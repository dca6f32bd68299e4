"""Tools of our own on the real runtime."""

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from airboss.model.events import ToolEnded, ToolError, ToolResult, ToolStarted
from airboss.runtime.permission import PermissionAnswer
from airboss.runtime.signals import TurnIdle
from airboss.runtime.tools import (
    OutsideCall,
    ToolImage,
    ToolOffer,
    ToolPictures,
    ToolRefusal,
    ToolSaid,
)
from tests.contract.test_v1_images import png
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio


def weigh(given: Mapping[str, Any]) -> str | ToolRefusal:
    if given.get("what") == "a fault":
        raise LookupError("No such thing.")
    return f"{given['what']}: 3 kg" if "what" in given else ToolRefusal("What is to be weighed?")


SCALES = ToolOffer("weigh", "Weigh something.", {"type": "object", "properties": {}}, weigh)


@pytest.fixture
def listener() -> Listener:
    """It says no to everything."""
    return Listener(answer=PermissionAnswer(allowed=False, reason="No."))


async def called(flight: Flight, listener: Listener, arguments: str) -> ToolEnded:
    session = await flight.session(listener, tools=(SCALES,))
    await session.send(f"call weigh {arguments}")
    await listener.until(TurnIdle)
    await session.close()
    assert [start.name for start in listener.all(ToolStarted)] == ["weigh"]
    assert listener.permissions == [], "nobody is asked for permission"
    [ended] = listener.all(ToolEnded)
    return ended


async def test_a_tool_of_ours_is_called_without_asking_anybody(
    flight: Flight, listener: Listener
) -> None:
    ended = await called(flight, listener, '{"what": "an apple"}')
    assert (ended.result, ended.error) == (ToolResult(content="an apple: 3 kg"), None)


async def test_a_refusal_is_a_failed_call_in_our_words(flight: Flight, listener: Listener) -> None:
    ended = await called(flight, listener, "{}")
    assert ended.result is None
    assert ended.error == ToolError(message="What is to be weighed?", code="failure")


async def test_a_handler_that_breaks_is_a_failed_call(flight: Flight, listener: Listener) -> None:
    assert (await called(flight, listener, '{"what": "a fault"}')).error is not None


async def test_pictures_of_a_tool_that_is_answered_from_outside_reach_the_model(
    flight: Flight, listener: Listener
) -> None:
    data = base64.b64encode(png()).decode()

    async def answer(_: OutsideCall) -> ToolSaid:
        return ToolPictures("a dot", (ToolImage("image/png", data),))

    camera = ToolOffer("look", "Look.", {"type": "object", "properties": {}}, None)
    session = await flight.session(listener, tools=(camera,), answer=answer)
    await session.send("call look {}")
    await listener.until(TurnIdle)
    [ended] = listener.all(ToolEnded)
    assert (ended.text, ended.error) == ("a dot", None)
    asked = str(flight.stage.requests[-1]["messages"])
    assert "a dot" in asked
    assert f"data:image/png;base64,{data}" in asked
    await session.close()


async def test_a_resumed_session_has_the_tools_that_it_is_given_anew(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("say hi")
    await listener.until(TurnIdle)
    await session.close()
    for tools, failed in (((SCALES,), False), ((), True)):
        again = Listener()
        resumed = await flight.session(again, id=session.id, resume=True, tools=tools)
        await resumed.send('call weigh {"what": "an apple"}')
        await again.until(TurnIdle)
        await resumed.close()
        assert [ended.error is not None for ended in again.all(ToolEnded)] == [failed]
