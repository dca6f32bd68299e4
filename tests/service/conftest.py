"""A house for tasks that many tests share, on a loop that lives as long as it does."""

from collections.abc import AsyncGenerator

import pytest

from tests.service.errands import SCRIPT, TaskHouse, task_house_in


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def tasks(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[TaskHouse]:
    """For all who leave it as it is, under the policy that is the default."""
    async with task_house_in(tmp_path_factory.mktemp("tasks"), SCRIPT) as house:
        yield house
