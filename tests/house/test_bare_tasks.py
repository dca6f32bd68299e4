"""Nothing runs in the background that nobody owns."""

from pathlib import Path

import pytest

from tests.house.bare_tasks import bare_tasks

SOURCES = Path(__file__).parents[2] / "src/airboss"
OWNER = "background.py"


def test_only_the_owner_of_background_work_begins_tasks() -> None:
    found = {
        path.relative_to(SOURCES).as_posix(): lines
        for path in SOURCES.rglob("*.py")
        if (lines := sorted(bare_tasks(path.read_text("utf-8"))))
    }
    assert found.pop(OWNER, None), "the owner has moved"
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "asyncio.create_task(work())",
        "self._aborted = asyncio.create_task(work())",
        "asyncio.ensure_future(work())",
        "from asyncio import create_task",
        "from asyncio import create_task as begin",
        "from asyncio.tasks import ensure_future",
        "loop.create_task(work())",
        "asyncio.get_running_loop().create_task(work(), context=Context())",
        "begin = loop.create_task\nbegin(work())",
        "getattr(loop, 'create_task')(work())",
        "asyncio.run_coroutine_threadsafe(work(), loop)",
        "asyncio.Task(work())",
        "group = asyncio.TaskGroup()\ngroup.create_task(work())",
        "async def a():\n async with asyncio.TaskGroup() as group: ...\n group.create_task(work())",
        "async def a():\n async with other() as group: group.create_task(work())",
        "async def a():\n async with TaskGroup() as group: ...\n"
        "async def b(group): group.create_task(work())",
        "async def a():\n async with TaskGroup() as group:\n"
        "  def b(group): group.create_task(work())",
    ],
)
def test_a_task_without_an_owner_is_found_however_it_is_begun(code: str) -> None:
    assert list(bare_tasks(code))


@pytest.mark.parametrize(
    "code",
    [
        "async def a():\n async with asyncio.TaskGroup() as group: group.create_task(work())",
        "async def a():\n async with other() as one, TaskGroup() as two: two.create_task(work())",
        "async def a():\n async with TaskGroup() as group:\n"
        "  async def begin(): group.create_task(work())",
        "background.start(work())",
        "tasks: set[asyncio.Task[None]] = set()",
    ],
)
def test_a_task_with_an_owner_is_none_of_them(code: str) -> None:
    assert not list(bare_tasks(code))
