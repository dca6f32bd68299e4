"""A model at its rate limit, on the real runtime: what is decided, and what is told of it."""

import asyncio

import pytest

from airboss.runtime.auto_switch import SwitchOffer
from airboss.runtime.signals import ModelReplaced, Retrying, TurnFailed, TurnIdle
from tests.runtime.conftest import Flight, Listener
from tests.runtime.copilot_service import Stage

MODEL = "claude-sonnet-4.5"


class Decider:
    """Says yes or no when it is told to."""

    def __init__(self) -> None:
        self.offers: list[SwitchOffer] = []
        self.asked = asyncio.Event()
        self.word: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def decide(self, offer: SwitchOffer) -> bool:
        self.offers.append(offer)
        self.asked.set()
        return await self.word


@pytest.fixture
def stage_at_limit(stage: Stage) -> Stage:
    stage.busy = frozenset({MODEL})
    return stage


async def test_the_same_turn_goes_on_however_long_somebody_thinks(
    flight: Flight, listener: Listener, stage_at_limit: Stage
) -> None:
    decider = Decider()
    copilot = {"provider": None, "model": MODEL, "github_token": "made-up"}
    session = await flight.session(listener, **copilot, switch=decider.decide, quiet_limit=0.4)
    await session.send("say hello")
    async with asyncio.timeout(15):
        await decider.asked.wait()
    assert decider.offers == [SwitchOffer("rate_limited", 600)]
    await asyncio.sleep(1.5)  # the quiet is looked into more than once
    assert not listener.all(TurnFailed)
    assert not listener.all(TurnIdle)
    decider.word.set_result(True)
    await listener.until(TurnIdle)
    assert len(listener.all(Retrying)) == 1
    assert not listener.all(TurnFailed)
    assert not listener.all(ModelReplaced)
    assert [asked["model"] for asked in stage_at_limit.requests] == [MODEL, "gpt-5-mini"]
    assert "say hello" in str(stage_at_limit.requests[-1]["messages"]), "with its history"
    await session.close()


async def test_an_abort_ends_the_turn_while_it_is_asked_and_a_failed_decision_is_a_no(
    flight: Flight, listener: Listener, stage_at_limit: Stage
) -> None:
    copilot = {"provider": None, "model": MODEL, "github_token": "made-up"}
    decider = Decider()
    session = await flight.session(listener, **copilot, switch=decider.decide)
    await session.send("say hello")
    async with asyncio.timeout(15):
        await decider.asked.wait()
    await session.abort()
    assert listener.all(TurnIdle) == [TurnIdle(aborted=True)]
    assert not listener.all(TurnFailed)
    await session.close()

    other, failing = Listener(), Decider()
    session = await flight.session(other, **copilot, switch=failing.decide)
    failing.word.set_exception(ValueError("nobody is there"))
    await session.send("say hello")
    await other.until(TurnIdle)
    assert [said.status for said in other.all(TurnFailed)] == [429]
    await session.close()
