"""The context of a session, how it is measured and made shorter: on the real runtime."""

import asyncio
from typing import Any

import pytest

from airboss.errors import RuntimeUnavailable
from airboss.model.context_events import CompactionEnded, CompactionStarted, ContextMeasured
from airboss.model.redaction import Redactor
from airboss.runtime.signals import TurnIdle, UsageSeen
from airboss.runtime.translate import Translator
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio


async def talked(flight: Flight, listener: Listener, *texts: str) -> Any:
    session = await flight.session(listener)
    for text in texts:
        listener.told.clear()
        await session.send(text)
        await listener.until(TurnIdle)
    return session


async def test_how_full_the_context_is_is_told_when_it_has_changed_by_a_hundredth(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    for text in ("say one", "say two", "say three"):
        await session.send(text)
        await listener.until(TurnIdle)
        listener.told.remove(TurnIdle())
    [measured] = listener.all(ContextMeasured)
    assert measured.limit == 128_000
    assert measured.tokens > 1_000, "the system's words and the tools are in it too"
    await session.send("say " + "word " * 3_000)
    await listener.until(TurnIdle)
    assert len(listener.all(ContextMeasured)) == 2
    await session.close()


async def test_the_history_is_replaced_by_a_summary_and_that_is_told(
    flight: Flight, listener: Listener
) -> None:
    session = await talked(flight, listener, "say one", "say two", "say three")
    done = await session.compact("keep the names", 30)
    assert done is not None
    [started], [ended] = listener.all(CompactionStarted), listener.all(CompactionEnded)
    assert started.trigger == ended.trigger == "manual"
    assert (ended.before, ended.after, ended.removed) == (done.before, done.after, done.removed)
    assert done.removed > 0
    asked = flight.stage.requests[-1]["messages"][-1]["content"]
    assert "keep the names" in asked
    assert listener.all(UsageSeen)[-1] == UsageSeen("stand-in", 10, 5, 0.0, sub_agent=False)
    listener.told.clear()
    await session.send("say four")
    await listener.until(TurnIdle)
    messages = flight.stage.requests[-1]["messages"]
    assert [each["role"] for each in messages] == ["system", "user", "user"]
    assert "Hello there" in messages[1]["content"], "the summary"
    await session.close()


async def test_where_there_is_nothing_to_compact_nothing_is_done(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    assert await session.compact(None, 30) is None
    [ended] = listener.all(CompactionEnded)
    assert (ended.removed, ended.error) == (0, None)
    assert flight.stage.requests == []
    await session.close()


async def test_a_compaction_that_takes_too_long_is_stopped_and_the_history_stays(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await talked(flight, listener, "say one", "say two")
    complete = type(flight.stage)._complete  # pyright: ignore[reportPrivateUsage]

    async def slow(stage: Any, asked: Any, send: Any) -> None:
        if "write the summary" in str(asked["messages"][-1]["content"]):
            await asyncio.sleep(20)
        await complete(stage, asked, send)

    monkeypatch.setattr(type(flight.stage), "_complete", slow)
    with pytest.raises(RuntimeUnavailable, match="within 1 s"):
        await session.compact(None, 1)
    ended = await listener.until(CompactionEnded)
    assert (ended.removed, ended.error is not None) == (0, True)
    listener.told.clear()
    await session.send("say three")
    await listener.until(TurnIdle)
    assert "say one" in str(flight.stage.requests[-1]["messages"])
    await session.close()


def test_a_sub_agents_context_is_its_own() -> None:
    translator = Translator(Redactor())
    data = {"currentTokens": 5, "tokenLimit": 10}
    assert translator.hear({"type": "session.usage_info", "agentId": "a", "data": data}) == []
    [measured] = translator.hear({"type": "session.usage_info", "data": data})
    assert measured == ContextMeasured(tokens=5, limit=10)
