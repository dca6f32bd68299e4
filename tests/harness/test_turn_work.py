"""The requests of a session become turns, one after another, on the real runtime."""

import asyncio
from pathlib import Path

import pytest

from airboss.engine.slots import Slots
from airboss.harness.turn import Failure, TurnReport
from airboss.model.ids import TaskRunId
from airboss.model.inbox_events import ItemSettled
from airboss.model.limits import UsageLimits
from tests.engine.crew import place_in
from tests.harness.opened_house import House


async def test_what_comes_behind_the_end_of_a_turn_begins_no_other(
    house: House, tmp_path: Path
) -> None:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    receipt = await sessions.prompt(view.id, "hello", "me")
    await house.until_idle(view.id, receipt.seq)
    late = {"messageId": "m-late", "content": "One more thing."}
    house.agents[0].hear({"type": "assistant.message", "data": late})
    second = await sessions.prompt(view.id, "hello", "me")
    await house.until_idle(view.id, second.seq)
    view = await sessions.show(view.id)
    assert (view.state, view.turns) == ("idle", 2)


async def test_a_fault_of_ours_ends_one_turn_and_the_next_request_works(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")

    async def stumble(_: str, _more: object, **_modes: object) -> str:
        raise LookupError("Out of the blue.")

    with monkeypatch.context() as patch:
        patch.setattr(house.agents[0], "send", stumble)
        asked = await sessions.ask(view.id, "hello", "me", TaskRunId("tsk_1"))
        report = await asked.report()
    fault = Failure("LookupError", "A bug in Airboss: Out of the blue.")
    assert report == TurnReport("failed", fault)
    again = await sessions.ask(view.id, "hello", "me", TaskRunId("tsk_1"))
    assert (await again.report()).outcome == "done"


async def test_a_task_that_is_stopped_while_it_waits_for_a_place_behind_a_limit_has_no_fault(
    house: House, tmp_path: Path
) -> None:
    sessions, slots, task = house.services.sessions, Slots(1), TaskRunId("tsk_1")
    limits = UsageLimits(turns=0)
    view = await sessions.start("rehearsal", str(tmp_path), "me", limits=limits)
    log = sessions.log
    with (place := place_in(log, slots, "1")), (other := place_in(log, slots, "2")):
        asked = await sessions.ask(view.id, "hello", "me", task, pause=place)
        async with asyncio.timeout(20):
            while not (view := await sessions.show(view.id)).items:  # noqa: ASYNC110 - the view is read
                await asyncio.sleep(0.02)
        await other.end()
        await sessions.settle(
            view.id, ItemSettled(item=view.items[0].id, outcome="go-on", who="me")
        )
        async with asyncio.timeout(20):
            while not (place.waits_for or "").startswith("a free place"):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        place.call_away()
        report = await asyncio.wait_for(asked.report(), 20)
    assert (report.outcome, report.error) == ("aborted", None)
