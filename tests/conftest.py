"""What every test may ask for."""

from collections.abc import Generator

import pytest

from tests.nursery import close_the_nursery


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def commands_end() -> Generator[None]:
    """No command outlives the tests."""
    yield
    close_the_nursery()
