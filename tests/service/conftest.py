"""A house for tasks that many tests share, on a loop that lives as long as it does."""

from collections.abc import AsyncGenerator
from typing import Final

import pytest

from tests.houses import parametrize_houses
from tests.service.errands import SCRIPT, TaskHouse, task_house_in

# Of these, `make test` has both databases.
_ON_BOTH: Final = frozenset({"test_retention"})


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_houses(metafunc, _ON_BOTH)


@pytest.fixture(scope="module", autouse=True)
def houses(houses_on: None) -> None:
    """Before all else that a test takes."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def tasks(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str, houses: None
) -> AsyncGenerator[TaskHouse]:
    """For all who leave it as it is, under the policy that is the default."""
    async with task_house_in(tmp_path_factory.mktemp("tasks"), SCRIPT) as house:
        yield house
