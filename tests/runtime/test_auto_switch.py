"""A model at its rate limit, on the real runtime: what is decided, and what is told of it."""

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from airboss.background import Background
from airboss.runtime.auto_switch import AutoSwitch, SwitchOffer, Told
from airboss.runtime.signals import ModelReplaced, Retrying, TurnFailed, TurnIdle
from tests.runtime.conftest import Flight, Listener
from tests.runtime.copilot_service import Stage

if TYPE_CHECKING:
    from copilot.rpc import SessionRpc

Answer = TypeVar("Answer")

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


@pytest.mark.parametrize("completed_first", [True, False])
async def test_the_turn_goes_on_also_if_its_end_comes_before_the_word_that_the_answer_was_heard(
    *, completed_first: bool
) -> None:
    sent: list[str] = []
    told: list[Told] = []
    decider = Decider()
    decider.word.set_result(True)

    async def send(text: str) -> None:
        sent.append(text)

    async def heard(_: object) -> None:
        pass

    async def say(ask: "Callable[[SessionRpc], Coroutine[Any, Any, Answer]]") -> Answer:
        ui = SimpleNamespace(handle_pending_auto_mode_switch=heard)
        return await ask(cast("SessionRpc", SimpleNamespace(ui=ui)))

    beside = Background("test")
    switch = AutoSwitch(decider.decide, say, send, told.append, beside)
    failed = TurnFailed("rate_limit", "at its limit")
    told += switch.hear(
        {"type": "session.error", "data": {"eligibleForAutoSwitch": True}}, [failed]
    )
    told += switch.hear({"type": "auto_mode_switch.requested", "data": {"requestId": "1"}}, [])
    await beside.wait(5)
    completed = {"type": "auto_mode_switch.completed", "data": {"response": "yes"}}
    idle = {"type": "session.idle"}
    for raw in (completed, idle) if completed_first else (idle, completed):
        told += switch.hear(raw, [TurnIdle()] if raw is idle else [])
    await beside.wait(5)
    assert [type(one) for one in told] == [Retrying]
    assert len(sent) == 1
