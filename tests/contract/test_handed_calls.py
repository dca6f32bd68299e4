"""The real runtime reaches its models without any network: it hands its calls over by its wire."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.model.events import MessageEnded
from tests.contract.handed import KEY, HandedFlight, handed_flight, provider
from tests.runtime.conftest import Listener
from tests.runtime.copilot_service import Stage, on_stage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def handed(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[HandedFlight]:
    async with on_stage(Stage()) as stage, handed_flight(stage, tmp_path) as flight:
        yield flight


async def test_a_turn_streams_and_the_key_is_added_outside(handed: HandedFlight) -> None:
    listener = Listener()
    lent = await handed.lend()
    session = await handed.session(listener, provider=provider(lent))
    await session.send("say hello world")
    await listener.until_over()
    print(listener.told)
    assert handed.stage.tokens == [f"Bearer {KEY}"]
