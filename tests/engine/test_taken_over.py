"""A run that another worker has taken over: what still works on it here ends, and its workflow,
which is that one's now, stays as it is."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.durable import Engine
from airboss.engine.local_file import FILE, LocalFile
from airboss.entry.build import par, ref
from airboss.errors import OwnedElsewhere
from tests.engine.workshop import Workshop

pytestmark = pytest.mark.anyio


@pytest.fixture
def shop(shop: Workshop) -> Workshop:
    shop.works["run_1"] = par(ref("slow"), ref("broken"))
    return shop


@pytest.fixture
async def engine(tmp_path: Path, shop: Workshop) -> AsyncGenerator[Engine]:
    engine = Engine(LocalFile(tmp_path / FILE), shop)
    yield engine
    await engine.close()


async def elsewhere(*_: object) -> None:
    raise OwnedElsewhere("Another server works on it.")


async def until_cut(shop: Workshop) -> None:
    async with asyncio.timeout(20):
        while True:
            if any(what.endswith("cut") for _, what, _ in shop.diary.read("run_1")):
                return
            await asyncio.sleep(0.02)


async def test_what_finds_out_at_its_own_work_ends_and_stops_nothing(
    engine: Engine, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shop, "end_task", elsewhere)
    await engine.start("run_1")
    await until_cut(shop)
    assert await engine.is_open("run_1")
    assert "crash" not in [what for _, what, _ in shop.diary.read("run_1")]


async def test_a_crash_that_is_another_ones_to_tell_stops_nothing(
    engine: Engine, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.breaks = frozenset(["broken"])
    monkeypatch.setattr(shop, "crash_run", elsewhere)
    await engine.start("run_1")
    await until_cut(shop)
    await asyncio.sleep(0.2)
    assert await engine.is_open("run_1")
