"""The built-in entry on a server that asks, where a strong cage holds: who writes asks nobody."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.model.inbox_events import ApprovalAsked
from airboss.model.task_runs import TaskRunView
from airboss.runtime.cage.ability import ability
from airboss.service.tasks import NewTaskRun
from tests.harness.opened_house import House, opened_house
from tests.pauses import pauses

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here"),
]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    (tmp_path / "work").mkdir()
    async with opened_house(tmp_path) as house:
        yield house


async def ended(house: House, run: str) -> TaskRunView:
    async with asyncio.timeout(60):
        for seconds in pauses():
            view = await house.services.tasks.show(run)
            if not view.is_open:
                return view
            await asyncio.sleep(seconds)
    raise AssertionError


async def test_who_writes_works_in_a_cage_and_who_reads_does_not(
    house: House, tmp_path: Path
) -> None:
    used = await house.services.entries.to_run()
    assert used is not None
    assert {used.policy_for(name) for name in ("implement", "verify", "explain")} == {"caged"}
    assert {used.policy_for(name) for name in ("ask", "sample-look")} == {"read-only"}
    for task, profile in (("explain", "default"), ("sample-look", None)):
        request = NewTaskRun(task, "", "me", cwd=str(tmp_path / "work"), skips_availability=True)
        run = await ended(house, (await house.services.tasks.start(request)).id)
        for session in run.opened:
            view = await house.services.sessions.show(session)
            assert view.cage_profile == profile
            page = await house.services.sessions.events(session, 0, 1000)
            assert not [one for one in page.items if isinstance(one.event, ApprovalAsked)]
        assert run.opened
