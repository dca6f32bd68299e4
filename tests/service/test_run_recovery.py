"""Runs that an earlier server left open go on, as soon as the disk lets them."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from airboss.engine.local_file import FILE
from airboss.errors import Conflict, StoreUnavailable
from tests.houses import on_a_file
from tests.service.errands import SCRIPT, task, task_house_in
from tests.service.house import ME


def spoil(folder: Path) -> Callable[[], object]:
    """The engine's file is none; answers what puts the right one back."""
    [file] = folder.rglob(FILE)
    kept = file.rename(file.with_name("kept"))
    file.write_bytes(b"This is not a database." * 100)
    return lambda: kept.replace(file)


@on_a_file
async def test_they_go_on_when_the_engines_file_can_be_used_again(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, SCRIPT) as house:
        await house.install({"it": task("Take a moment.")})
        runs = [(await house.begin()).id for _ in range(3)]
        for run in runs:
            await house.under_way(run)
    mend = spoil(tmp_path)
    async with task_house_in(tmp_path, SCRIPT) as house:
        stopped, *others = runs
        with contextlib.suppress(StoreUnavailable, Conflict):
            await house.tasks.stop(stopped, ME)
        await asyncio.sleep(1)
        assert all([(await house.tasks.show(run)).is_open for run in others])
        mend()
        for run in others:
            assert (await house.ended(run)).view.state == "succeeded"
        assert not (await house.tasks.show(stopped)).is_open
        assert not house.services.runs.is_busy
