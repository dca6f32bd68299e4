"""A cage ends with us, also where the kernel did not tell it."""

import asyncio
import os
from pathlib import Path

import psutil
import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage import walls
from airboss.runtime.cage.life import Caged, CageLife
from airboss.runtime.cage.lifeline import Lifeline
from airboss.runtime.cage.plan import CagePlan
from tests.runtime.conftest import soon

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("strong")]


async def test_what_outlived_its_outer_process_ends_when_the_cage_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = walls.strong_walls

    def deaf(layout: walls.CageLayout) -> list[str]:
        return [word for word in made(layout) if word != "--die-with-parent"]

    def no_group(*_: object) -> None: ...

    # As if the outer process had been killed before the first one inside asked to be told.
    monkeypatch.setattr("airboss.runtime.cage.life.strong_walls", deaf)
    monkeypatch.setattr("airboss.runtime.cage.life.make_group", no_group)
    (tmp_path / "work").mkdir()
    plan = CagePlan("strong", "default", CageProfile(), tmp_path / "work", "k")
    life = CageLife(plan, tmp_path / "data")
    outer = await life.open(Caged(("sleep", "600")))
    environ = {"PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec(*outer, env=environ, start_new_session=True)
    handover = life.handover
    assert handover is not None
    inside = psutil.Process(await asyncio.wait_for(handover.pid, 30))
    process.kill()
    await process.wait()
    assert inside.is_running()
    await life.close()
    assert await soon(lambda: not inside.is_running())


@pytest.mark.parametrize("which", ["gone", "orphan"])
def test_a_warden_that_would_outlive_us_is_not_let_go_on(which: str) -> None:
    gone = psutil.Popen(["true"])
    gone.wait()
    with pytest.raises(CageUnavailable, match="ended the outer process of the cage"):
        Lifeline(gone.pid if which == "gone" else 1, has_first=False)
