"""DBOS as the house uses it: a workflow is started once, and is open until it ends."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.ledger import EngineLedger
from airboss.engine.local_file import LocalFile
from airboss.engine.workflows import Workflows


class Bodies:
    """A workflow that says when it begins, and waits to be let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.go = asyncio.Event()

    async def run(self, name: str) -> str:
        self.begun.append(name)
        await self.go.wait()
        return f"{name} is done"


async def launched(ledger: EngineLedger, bodies: Bodies) -> Workflows:
    flows = await asyncio.to_thread(Workflows, ledger.home, {"run": bodies.run})
    await asyncio.to_thread(flows.launch, asyncio.get_running_loop())
    return flows


@pytest.fixture
def ledger(tmp_path: Path) -> EngineLedger:
    return EngineLedger(LocalFile(tmp_path / "engine.sqlite"))


@pytest.fixture
async def bodies() -> AsyncGenerator[Bodies]:
    bodies = Bodies()
    yield bodies
    bodies.go.set()


async def until_ended(ledger: EngineLedger, name: str) -> None:
    async with asyncio.timeout(20):
        while await asyncio.to_thread(ledger.has_open, name):  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)


async def test_a_workflow_is_started_once_and_is_open_until_it_ends(
    ledger: EngineLedger, bodies: Bodies
) -> None:
    flows = await launched(ledger, bodies)
    try:
        for _ in range(2):
            await flows.start("run", "run_1", "first")
        assert await asyncio.to_thread(ledger.has_open, "run_1")
        bodies.go.set()
        await until_ended(ledger, "run_1")
        assert bodies.begun == ["first"]
    finally:
        await flows.close()


async def test_what_is_cancelled_is_not_open_any_more(ledger: EngineLedger, bodies: Bodies) -> None:
    flows = await launched(ledger, bodies)
    try:
        await flows.start("run", "run_1", "first")
        await flows.cancel("run_1")
        assert not await asyncio.to_thread(ledger.has_open, "run_1")
    finally:
        await flows.close()
