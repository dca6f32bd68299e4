"""What a session that somebody asks for comes to, before anything is written down."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airboss.provider_settings import Provider, ProviderModel
from airboss.service.session_plan import planned_session
from tests.service.house import house_in

pytestmark = pytest.mark.anyio


async def test_of_a_session_that_names_no_files_the_disk_is_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for its folder, and once for all that is said about it: each change of threads takes
    longer than to find that there is nothing."""
    provider = Provider(
        name="house", base_url="http://127.0.0.1:9/v1", models=(ProviderModel(id="one"),)
    )
    threads, change = list[str](), asyncio.to_thread

    async def counted(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
        threads.append(work.__qualname__)
        return await change(work, *given, **named)

    async with house_in(tmp_path, providers=(provider,)) as house:
        sessions, work = house.sessions, str(house.work)
        monkeypatch.setattr(asyncio, "to_thread", counted)
        plan = await planned_session(sessions, "house/one", work, (), is_of_task=True)
        monkeypatch.undo()
    assert plan.folder == house.work.resolve()
    assert (plan.setup.directories, plan.setup.skills, plan.setup.hooks) == ((), (), ())
    assert len(threads) == 2
