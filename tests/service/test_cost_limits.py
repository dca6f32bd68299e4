"""What Copilot's own models cost, on the real runtime and a stand-in of Copilot's service."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.model.events import TurnUsage
from airboss.model.limits import UsageLimits
from tests.runtime.copilot_service import Stage, on_stage
from tests.service.house import ME, house_in
from tests.service.test_limits import LimitHouse


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[LimitHouse]:
    async with on_stage(Stage()) as stage:
        for name in ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"):
            monkeypatch.setenv(name, stage.address)
        for name in ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(name, str(tmp_path / name))
        monkeypatch.setenv("COPILOT_GITHUB_TOKEN", "made-up-token")
        async with house_in(tmp_path, permissions="approve-all") as house:
            yield LimitHouse(house.services, house.work)


async def test_the_cost_is_what_the_runtime_says_and_a_limit_of_it_holds(house: LimitHouse) -> None:
    """The service gives all its answers the same id: they are calls of their own all the same."""
    limits = UsageLimits(cost=2)
    session = (await house.sessions.start("gpt-5-mini", str(house.work), ME, limits=limits)).id
    await house.say(session, "shell touch {cwd}/made")
    view = await house.until(session, "idle", turns=1)
    assert (view.usage.requests, view.usage.cost, view.usage.multiplier) == (2, 2, 1)
    await house.say(session, "say hello")
    item, asked = await house.item()
    assert (asked.limit, asked.allowed, asked.used, asked.before_turn) == ("cost", 2, 2, True)
    await house.go_on(item)
    view = await house.until(session, "idle", turns=2)
    assert view.usage.cost == 3
    told = [one for one in await house.story(session) if isinstance(one, TurnUsage)]
    assert len(told) == 3
