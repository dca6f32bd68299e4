"""A house with real sessions for the tests of those who work with them, and a workshop with engines
for the tests of what they do: those have no sessions."""

import gc
from collections.abc import AsyncGenerator, Generator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from airboss.engine.durable import Engine
from airboss.engine.homes import EngineHome
from airboss.engine.local_file import FILE, LocalFile
from airboss.engine.shared_schema import SharedSchema
from tests.databases import POSTGRES, SQLITE
from tests.engine.homes import MakeEngine, migrated_engine
from tests.engine.workshop import Diary, Workshop
from tests.houses import LEAVES_CONNECTION, parametrize_houses
from tests.postgres import Postgres
from tests.service.errands import SCRIPT, TaskHouse, task_house_in
from tests.trials import whole_only

# Of these, `make test` has both databases.
_ON_BOTH: Final = frozenset[str]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_houses(metafunc, _ON_BOTH)


@pytest.fixture(scope="module", autouse=True)
def houses(houses_on: None) -> None:
    """Before all else that a test takes."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def house(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str, houses: None
) -> AsyncGenerator[TaskHouse]:
    async with task_house_in(tmp_path_factory.mktemp("sessions"), SCRIPT) as house:
        yield house


@pytest.fixture(
    params=[SQLITE, pytest.param(POSTGRES, marks=(whole_only, LEAVES_CONNECTION))],
)
def engine_home(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[EngineHome]:
    """Where an engine keeps how far runs have got."""
    if request.param == SQLITE:
        yield LocalFile(tmp_path / FILE)
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    name = migrated_engine(postgres)
    yield SharedSchema(postgres.url(name), "wrk_1", "own_1")
    gc.collect()  # what DBOS leaves is not complained of in another test
    postgres.drop(name)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncGenerator[Workshop]:
    with closing(Diary(tmp_path / "diary.sqlite")) as diary:
        yield Workshop(diary, {})


@pytest.fixture
async def make_engine(engine_home: EngineHome, shop: Workshop) -> AsyncGenerator[MakeEngine]:
    """One after the other, on the same database; all are closed at the end."""
    made: list[Engine] = []

    def make() -> Engine:
        made.append(Engine(engine_home, shop))
        return made[-1]

    yield make
    for engine in made:
        await engine.close()
