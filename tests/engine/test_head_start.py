"""A new run of one task works at once: its workflow is stored a moment later, or by the next."""

import asyncio
from typing import Any

import pytest

from airboss.engine.durable import Engine
from airboss.engine.homes import EngineHome
from airboss.engine.workflows import Workflows
from airboss.entry.build import ref
from airboss.errors import StoreUnavailable
from tests.engine.homes import MakeEngine, rows_of
from tests.engine.workshop import Workshop, repeated, until

RUN = "run_1"
WORKING = ("0", "put 4")


@pytest.fixture
def shop(shop: Workshop) -> Workshop:
    shop.works[RUN], shop.slow_seconds = ref("slow"), 0.3
    return shop


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Fault injection: no workflow is stored before this is set."""
    store, may = Workflows.start, asyncio.Event()

    async def start(flows: Workflows, *given: Any) -> None:
        await may.wait()
        await store(flows, *given)

    monkeypatch.setattr(Workflows, "start", start)
    return may


def begun(engine: Engine) -> "asyncio.Task[None]":
    start = engine.start(RUN, is_lone=True, is_new=True)
    return asyncio.get_running_loop().create_task(start)


def statuses(home: EngineHome) -> list[str]:
    return [status for (status,) in rows_of(home, "SELECT status FROM workflow_status")]


async def test_a_new_run_of_one_task_works_before_its_workflow_is_stored(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome, stored: asyncio.Event
) -> None:
    engine = make_engine()
    starting = begun(engine)
    await until(shop, WORKING)
    assert not await engine.known(RUN)
    stored.set()
    await starting
    assert await engine.known(RUN)
    await asyncio.wait_for(shop.end_of(RUN).wait(), 30)
    await engine.close()
    assert repeated(shop.diary, RUN) == []
    assert [what for _, what, _ in shop.diary.read(RUN)].count("begin") == 1


async def test_one_that_has_ended_before_its_workflow_is_stored_does_nothing_twice(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome, stored: asyncio.Event
) -> None:
    engine = make_engine()
    starting = begun(engine)
    await asyncio.wait_for(shop.end_of(RUN).wait(), 30)
    before = shop.diary.read(RUN)
    stored.set()
    await starting
    async with asyncio.timeout(30):
        while statuses(engine_home) != ["SUCCESS"]:  # noqa: ASYNC110 - a row has no event
            await asyncio.sleep(0.01)
    assert shop.diary.read(RUN) == before


async def test_one_that_is_stopped_before_its_workflow_is_stored_is_gone(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome, stored: asyncio.Event
) -> None:
    shop.slow_seconds = 60.0
    engine = make_engine()
    starting = begun(engine)
    await until(shop, WORKING)
    stopping = asyncio.get_running_loop().create_task(engine.stop(RUN))
    stored.set()
    await starting
    await stopping
    assert (WORKING[0], f"{WORKING[1]} cut", "") in shop.diary.read(RUN)
    await engine.close()
    assert statuses(engine_home) == ["CANCELLED"]


async def test_one_that_is_cut_off_before_its_workflow_is_stored_is_begun_anew_by_the_next(
    make_engine: MakeEngine, shop: Workshop, stored: asyncio.Event
) -> None:
    engine = make_engine()
    starting = begun(engine)
    await until(shop, WORKING)
    await engine.close()
    assert starting.done()
    stored.set()
    after = make_engine()
    assert not await after.known(RUN)
    await after.start(RUN, is_lone=True)
    await asyncio.wait_for(shop.end_of(RUN).wait(), 30)
    assert repeated(shop.diary, RUN) == []


async def test_one_whose_workflow_cannot_be_stored_works_no_more(
    make_engine: MakeEngine, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(flows: Workflows, *given: Any) -> None:
        await until(shop, WORKING)
        raise StoreUnavailable("The disk is full.")

    shop.slow_seconds = 60.0
    monkeypatch.setattr(Workflows, "start", refuse)
    with pytest.raises(StoreUnavailable):
        await begun(make_engine())
    assert (WORKING[0], f"{WORKING[1]} cut", "") in shop.diary.read(RUN)
