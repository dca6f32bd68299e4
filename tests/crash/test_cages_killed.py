"""Jobs in cages whose server, outer process or runtime gets `kill -9`, at every stage: they come to
what they come to undisturbed, and nothing of a cage is left."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from airboss.runtime.cage.ability import ability
from tests.crash.chaos import Target, Trial, make_trial, run_trial
from tests.crash.chaos_cages import caged_runtimes, outer_processes
from tests.crash.chaos_page import rewritten
from tests.crash.chaos_tree import Tree
from tests.crash.marks import soon
from tests.portal import Portal
from tests.trials import sampled, trial, whole_only

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(180),
    pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here"),
]

STAGES = ("run.work.started", "tool.started", "task.mission.ended")
TARGETS: tuple[Target, ...] = ("outer", "server", "runtime", "both")
# The first two are the ones that only cages have, at work and while they open.
CASES = [
    ("tool.started", "outer"),
    ("run.work.started", "server"),
    *((stage, what) for stage in STAGES for what in TARGETS),
]


Begin: TypeAlias = Callable[..., Trial]


def make(folder: Path, options: tuple[str, ...], script: str) -> Portal:
    return Portal(folder, options, script)


@pytest.fixture
async def begin(tmp_path: Path) -> AsyncGenerator[Begin]:
    """A trial of one task of each of these kinds, in order."""
    begun: list[Trial] = []

    def begin(*kinds: str) -> Trial:
        begun.append(make_trial(tmp_path / "portal", Tree.of(*kinds, caged=True), make))
        return begun[-1]

    yield begin
    for one in begun:
        await one.watch.close()
        await asyncio.to_thread(one.portal.stop)


@trial
@pytest.mark.parametrize(("stage", "what"), sampled(2, dict.fromkeys(CASES)))
async def test_a_caged_job_that_was_cut_off_comes_to_the_same(
    begin: Begin, stage: str, what: Target
) -> None:
    tried = begin("plain", "asked")
    await tried.start()
    await tried.accept()
    assert await tried.watch.heard(stage, seconds=60)
    await asyncio.sleep(0.05)
    await tried.kill(what)
    assert await tried.conclude() == []


@whole_only
async def test_with_the_server_all_processes_of_its_cages_are_gone(begin: Begin) -> None:
    tried = begin("plain")
    await tried.start()
    await tried.accept()
    assert await tried.watch.heard("tool.started", seconds=60)
    pid = tried.portal.pid
    inside = [*outer_processes(pid), *caged_runtimes(pid)]
    assert len(inside) >= 2
    await asyncio.to_thread(tried.portal.kill)
    assert soon(lambda: not any(one.is_running() for one in inside), 3)
    await tried.start()
    assert await tried.conclude() == []


@whole_only
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_random_job_in_cages_comes_to_what_it_comes_to_undisturbed(
    tmp_path: Path, seed: int
) -> None:
    tried = await run_trial(tmp_path / "portal", seed, make, 3, caged=True)
    assert tried.findings == []


def test_each_part_of_the_page_is_written_by_itself() -> None:
    free = rewritten("", "free", "Free: 1.")
    both = rewritten(free, "caged", "Caged: 1.\n")
    assert both == "# What kills cost\n\nFree: 1.\n\n## In cages\n\nCaged: 1.\n"
    assert rewritten(both, "free", "Free: 2.") == both.replace("Free: 1", "Free: 2")
    assert rewritten(both, "caged", "Caged: 2.") == both.replace("Caged: 1", "Caged: 2")
