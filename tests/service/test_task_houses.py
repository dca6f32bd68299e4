"""Tasks in a house of their own: its runtime is killed, it stops, it has other bounds or no disk.

A process has one engine at a time, so that no house which others share is open beside these.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from airboss.errors import RuntimeUnavailable
from airboss.log import flusher as flusher_module
from airboss.model.events import PermissionDecided, TurnStarted
from airboss.model.task_events import MissionSent, TaskError, TaskSessionStarted
from tests.houses import on_a_file
from tests.log.test_trouble import (
    fill,
    small_disk,  # noqa: F401  # pyright: ignore[reportUnusedImport]  # a fixture
)
from tests.service.errands import (
    DOCUMENT,
    SCRIPT,
    TaskHouse,
    asks,
    criteria,
    task,
    task_house_in,
)
from tests.service.house import ME
from tests.service.repo import trusted
from tests.trials import sampled

SEVERAL: dict[str, Any] = {"runConditionInSameSession": False}


@pytest.fixture
async def own(tmp_path: Path) -> AsyncGenerator[TaskHouse]:
    """A house whose runtime may be killed, and that may be stopped."""
    async with task_house_in(tmp_path, SCRIPT) as house:
        yield house


async def test_a_server_that_stops_takes_no_more_tasks_and_leaves_those_it_has(
    own: TaskHouse,
) -> None:
    await own.install({"it": task("Take your time.")})
    begun: list[str] = []

    async def begin() -> None:
        with contextlib.suppress(RuntimeUnavailable):
            begun.append((await own.begin()).id)

    async with asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(begin())
            await asyncio.sleep(0.001)
        await own.services.runs.close()
    with pytest.raises(RuntimeUnavailable, match="The server is stopping"):
        await own.begin()
    page = await own.tasks.page((), None, 100)
    assert {view.state for view in page.items} <= {"running"}, "the next server goes on"
    assert {*begun} <= {view.id for view in page.items}


@pytest.mark.parametrize("queued", sampled(1, [False, True]))
async def test_a_persons_session_that_crashes_fails_the_task_and_forgets_its_prompt(
    own: TaskHouse, queued: bool
) -> None:
    session = await own.lend()
    await own.sessions.prompt(session, "Say something.", ME)
    await own.until(session, "idle", turns=1)
    await asyncio.sleep(1)  # so long the runtime takes to have it on disk
    if queued:
        await own.sessions.prompt(session, "Take your time.", ME)
    await own.install({"it": task("Take your time.", criteria=criteria(DOCUMENT, retries=3))})
    run = (await own.begin(session=session)).id
    if queued:
        await own.hears(run, MissionSent)
        mine = await own.sessions.prompt(session, "Say more.", ME)
    else:
        await own.under_way(run)
        mine = await own.sessions.prompt(session, "Say more.", ME)
    own.kill_runtime()
    story = await own.ended(run, 4)
    assert story.view.state == "failed"
    reason = story.view.reason or ""
    assert reason.startswith("The borrowed session crashed: The agent runtime")
    assert story.said[-2].startswith(f"[SESSION CRASHED] Borrowed session {session}: The agent")
    await own.sessions.resume(session, ME)
    await own.until(session, "idle", turns=3)
    begun = [turn.prompt for turn in await own.story_of(session, TurnStarted)]
    assert begun[-1] == mine.prompt, "the person's request is worked on, the task's is not"
    assert (story.attempts[0].prompt in begun) is not queued


async def test_what_a_task_may_is_not_what_the_server_may(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, SCRIPT, permissions="approve-all") as house:
        touched = house.work / "touched.txt"
        narrow = await house.perform(task("Touch the file."), permissions="deny-all")
        assert [view.policy for view in narrow.sessions] == ["deny-all"]
        assert not touched.exists()
        narrow = await house.perform(task("Look around.", permissions="deny-all"))
        [decided] = await house.story_of(narrow.sessions[0].id, PermissionDecided)
        assert not decided.allowed, "not even to read"
        several = criteria(condition=asks("Touch the file. Is it so?"), **SEVERAL)
        both = await house.perform(
            task("Touch the file.", permissions="read-only", criteria=several)
        )
        assert [view.policy for view in both.sessions] == ["read-only", "read-only"]
        assert not touched.exists()
        borrowed = await house.lend()
        story = await house.perform(
            task("Touch the file.", permissions="deny-all"), session=borrowed
        )
        assert story.view.policy == "approve-all", "a person's session keeps what it has"
        assert touched.exists()
        touched.unlink()
        wide = await house.perform(task("Touch the file."))
        assert wide.view.policy == "approve-all"
        assert touched.exists()


async def test_a_file_that_a_person_trusts_may_widen(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, SCRIPT) as house:
        wide = task("Touch the file.")
        await house.install({"it": wide}, permissions="approve-all")
        await trusted(house.services.entries, str(tmp_path / "entry.json"))
        story = await house.perform(wide, permissions="approve-all")
        assert story.view.policy == "approve-all"
        assert (house.work / "touched.txt").exists()
        other = await house.perform(task("Touch it again."), permissions="approve-all")
        assert other.view.policy == "read-only", "the file has changed"


async def test_a_task_that_finds_no_room_for_a_session_fails_and_says_so(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, SCRIPT, max_sessions=1) as house:
        taken = await house.lend()
        story = await house.perform(task("Do it.", criteria=criteria(retries=2)))
        assert story.view.state == "failed"
        assert (story.view.reason or "").startswith("The limit of 1 open sessions is reached")
        assert story.only(TaskSessionStarted) == []
        await house.sessions.close(taken, ME)
        again = await house.perform(task("Do it.", criteria=criteria(**SEVERAL)))
        assert again.view.state == "succeeded", "one at a time is enough for several models"


@on_a_file
async def test_a_full_disk_ends_the_task_and_nothing_stays_behind(
    small_disk: Path,  # noqa: F811 - the fixture of this name
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flusher_module, "RETRY_SECONDS", 0.05)
    async with task_house_in(small_disk, SCRIPT) as house:
        await house.install({"it": task("Take a moment.", criteria=criteria(DOCUMENT, retries=1))})
        run = (await house.begin()).id
        await house.under_way(run)
        filler = fill(small_disk)
        # The runtime may find its own files full first. Then the task asks for another session, and
        # only that is refused: freed in between, the disk lets it work on.
        await until_it_stays(lambda: house.sessions.open_count() == (0, 0))
        filler.unlink()
        async with asyncio.timeout(10):
            while {view.state for view in await house.opened_by(run)} != {"closed"}:  # noqa: ASYNC110 - no event says it
                await asyncio.sleep(0.05)
        story = await house.ended(run)
        assert story.view.state == "crashed"
        assert [error.name for error in story.only(TaskError)] == ["StoreUnavailable"]
        await house.install({"it": task("Do it.")})
        assert (await house.ended((await house.begin()).id)).view.state == "succeeded"


async def until_it_stays(holds: Callable[[], bool], seconds: float = 2) -> None:
    """There is no event for this."""
    async with asyncio.timeout(30):
        since = monotonic()
        while monotonic() - since < seconds:
            await asyncio.sleep(0.02)
            if not holds():
                since = monotonic()
