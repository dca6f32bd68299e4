"""A database that several machines share, with our tables in it."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.databases import with_tables
from tests.machines.story import Fleet
from tests.postgres import Postgres


@pytest.fixture
def shared_name(postgres: Postgres) -> Generator[str]:
    name = with_tables(postgres)
    yield name
    postgres.drop(name)


@pytest.fixture
def shared_url(postgres: Postgres, shared_name: str) -> str:
    return postgres.url(shared_name)


@pytest.fixture
def fleet(tmp_path: Path, shared_url: str) -> Generator[Fleet]:
    fleet = Fleet(tmp_path, shared_url)
    yield fleet
    fleet.end()
