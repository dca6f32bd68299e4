"""A house with real sessions for the tests of those who work with them; it has no engine."""

from collections.abc import AsyncGenerator

import pytest

from tests.service.errands import SCRIPT, TaskHouse, task_house_in


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def house(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[TaskHouse]:
    async with task_house_in(tmp_path_factory.mktemp("sessions"), SCRIPT) as house:
        yield house
