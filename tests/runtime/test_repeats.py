"""What the runtime says twice is heard once."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from airboss.model.events import MessageDelta, MessageEnded, MessageStarted
from airboss.runtime.rehearsal.script import RehearsalModel, Script, ScriptedRule
from airboss.runtime.rehearsal.server import RehearsalServer
from airboss.runtime.repeats import without_repeats
from airboss.runtime.signals import TurnIdle
from tests.runtime.conftest import Flight, Listener
from tests.trials import whole_only

pytestmark = pytest.mark.anyio


def event(number: int, ms: int, kind: str = "assistant.message_delta") -> dict[str, Any]:
    time = f"2026-01-01T00:00:{ms // 1000:02d}.{ms % 1000:03d}Z"
    return {"id": f"id-{number}", "timestamp": time, "type": kind}


def heard(*said: Mapping[str, Any]) -> Iterator[Any]:
    kept: list[Mapping[str, Any]] = []
    hear = without_repeats(kept.append)
    for one in said:
        hear(one)
    return (one.get("id") for one in kept)


def test_what_is_said_again_later_or_in_the_same_millisecond_is_heard_once() -> None:
    first, second, third, fourth = (event(number, number) for number in range(4))
    late = event(9, 0)  # older, but never heard before
    beside = event(8, 3)  # of the same millisecond
    said = [first, second, third, second, fourth, beside, first, late, fourth, beside, third]
    assert list(heard(*said)) == ["id-0", "id-1", "id-2", "id-3", "id-8", "id-9"]


def test_a_repetition_may_come_behind_the_end_of_the_step() -> None:
    start = event(5, 5, "assistant.turn_start")
    assert list(heard(event(1, 1), start, event(6, 6), event(1, 1))) == ["id-1", "id-5", "id-6"]


def test_what_has_no_id_is_heard_each_time() -> None:
    assert list(heard({"type": "odd"}, {"type": "odd"}, {"id": 1, "timestamp": ""})) == [
        None,
        None,
        1,
    ]


@whole_only
async def test_a_flood_of_single_letters_is_one_message_with_each_of_them_once(
    flight: Flight, listener: Listener
) -> None:
    text = "".join(f"{number:05d} " for number in range(1_000))
    rule = ScriptedRule.model_validate({"when": "drip", "steps": [{"say": text}]})
    script = Script(chunk_chars=1, models=(RehearsalModel(id="letters"),), rules=(rule,))
    async with RehearsalServer(script) as server:
        provider = {"type": "openai", "base_url": server.base_url, "api_key": server.api_key}
        session = await flight.session(listener, provider=provider, model="letters")
        await session.send("drip")
        assert isinstance(await listener.until_over(60), TurnIdle)
        await session.close()
    assert len(listener.all(MessageStarted)) == 1
    assert "".join(said.text for said in listener.all(MessageDelta)) == text
    assert [said.text for said in listener.all(MessageEnded)] == [text]
