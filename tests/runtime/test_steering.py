"""A request in the middle of a turn, a question beside it, and an end of it at once: on the real
runtime."""

import asyncio
import json
import time
from typing import Any

import pytest

from airboss.errors import RuntimeUnavailable
from airboss.model.events import MessageDelta, MessageEnded, ToolDelta, ToolEnded, ToolStarted
from airboss.runtime.signals import RequestRead, TurnFailed, TurnIdle, UsageSeen
from tests.runtime.conftest import Flight, Listener, running, soon
from tests.trials import sampled

pytestmark = pytest.mark.anyio

STUBBORN = {
    "plain": "sleep 4715.1",
    "deaf": "trap '' TERM INT HUP; sh -c 'trap \"\" TERM INT HUP; sleep 4715.2; true'; true",
    "detached": "setsid nohup sh -c 'trap \"\" TERM; sleep 4715.3; true' >/dev/null 2>&1 & "
    "sleep 4715.4",
}


def said(flight: Flight) -> list[list[tuple[str, str]]]:
    """Role and text of every message, of every request that the model got."""
    return [[_told(message) for message in asked["messages"]] for asked in flight.stage.requests]


def _told(message: dict[str, Any]) -> tuple[str, str]:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else json.dumps(content)
    return message["role"], text.rpartition("</current_datetime>")[2].strip()


async def test_what_steers_is_read_during_a_command_which_goes_on(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener, quiet_limit=0.3)
    await session.send("shell sleep 2; echo late")
    await listener.until(ToolStarted)
    await session.steer("tag", "say on course")
    assert await listener.until(RequestRead) == RequestRead("tag")
    await listener.until(MessageEnded)
    assert listener.all(MessageEnded)[0].text == "on course "
    assert listener.all(TurnIdle) == []
    await listener.until(TurnIdle)
    assert listener.all(TurnFailed) == [], "a silent command behind a steered turn is no quiet turn"
    read = [ended for ended in listener.all(ToolEnded) if "late" in ended.text]
    assert len(read) == 1, "the agent was told of the command's end"
    assert ("user", "say on course") in said(flight)[-1]
    await session.close()


async def test_what_steers_and_was_taken_back_is_never_read(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("say warm")
    await listener.until(TurnIdle)
    listener.told.clear()
    await session.send("wait one moment")
    await listener.until(MessageDelta)
    await session.steer("one", "say one")
    await session.steer("two", "say two")
    await session.take_back("one", "say one")
    await session.abort()
    await session.take_back("two", "say two")
    await session.send("say last")
    await asyncio.sleep(0.5)
    assert listener.all(RequestRead) == []
    asked = [text for role, text in said(flight)[-1] if role == "user"]
    assert asked == ["say warm", "wait one moment", "say last"]
    await session.close()


async def test_what_steers_too_late_begins_a_turn_and_is_told(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("say warm")
    await listener.until(TurnIdle)
    listener.told.clear()
    await session.steer("tag", "say late")
    await listener.until(TurnIdle)
    kinds = [type(told).__name__ for told in listener.told]
    # In which order depends on whether the runtime's answer was faster than its event.
    assert {*kinds[:2]} == {"RequestRead", "TurnBegan"}
    assert listener.all(MessageEnded)[0].text == "late "
    await session.close()


async def test_what_steers_is_told_also_when_its_turn_is_over_before_the_answer_comes(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await flight.session(listener)
    sdk = session._opened  # pyright: ignore[reportPrivateUsage]
    at_once = sdk.send

    async def slow(text: str, **options: Any) -> str:
        name = await at_once(text, **options)
        await listener.until(TurnIdle)
        return name

    monkeypatch.setattr(sdk, "send", slow)
    await session.steer("tag", "say late")
    assert listener.told[-2:] == [TurnIdle(), RequestRead("tag", past=True)]
    await session.close()


@pytest.mark.timed
@pytest.mark.parametrize("is_steered", [False, True], ids=["", "steered"])
@pytest.mark.parametrize("how", sampled(1, STUBBORN))
async def test_abort_during_a_command_is_idle_within_a_second_and_nothing_runs_on(
    flight: Flight, listener: Listener, how: str, is_steered: bool
) -> None:
    session = await flight.session(listener)
    await session.send(f"shell {STUBBORN[how]}")
    assert await soon(lambda: running("sleep 4715"))
    if is_steered:
        await session.steer("tag", "say on course")
        await listener.until(MessageEnded)
    began = time.monotonic()
    await session.abort()
    assert time.monotonic() - began < 1
    assert running("sleep 4715") == []
    # One that was steered may have ended by itself a moment before, with its command beside it.
    ends = [TurnIdle(aborted=True), *([TurnIdle()] if is_steered else [])]
    assert listener.told[-1] in ends
    assert len(listener.all(ToolStarted)) == len(listener.all(ToolEnded))
    listener.told.clear()
    await asyncio.sleep(0.5)
    assert listener.told == [], "what died did not wake the agent"
    await session.send("say still here")
    await listener.until(TurnIdle)
    assert listener.all(MessageEnded)[0].text == "still here "
    await session.close()


async def test_a_question_beside_a_command_is_answered_from_the_history_and_leaves_no_trace(
    flight: Flight, listener: Listener
) -> None:
    """BTW-4, BTW-5: from the history, without tools, while a turn runs."""
    session = await flight.session(listener)
    await session.send("say the sky is green")
    await listener.until(TurnIdle)
    listener.told.clear()
    await session.send("shell echo first; sleep 1.5")
    await listener.until(ToolDelta)
    assert (await session.aside("say green", 10)).strip() == "green"
    asked = flight.stage.requests[-1]
    assert not asked.get("tools")
    history = said(flight)[-1]
    assert ("assistant", "the sky is green") in history
    assert history[-1] == ("user", "say green")
    assert listener.all(TurnIdle) == [], "the turn goes on"
    await listener.until(TurnIdle)
    assert len(listener.all(UsageSeen)) == 2, "the turn's own two calls"
    assert ("user", "say green") not in said(flight)[-1]
    await session.close()


async def test_a_question_that_nobody_answers_has_an_end(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    with pytest.raises(RuntimeUnavailable, match=r"did not answer within 0\.5 s"):
        await session.aside("wait for it", 0.5)
    with pytest.raises(RuntimeUnavailable, match="The service said no"):
        await session.aside("fail 400", 10)
    await session.send("say still here")
    await listener.until(TurnIdle)
    assert listener.all(MessageEnded)[0].text == "still here "
    await session.close()
