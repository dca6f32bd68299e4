"""A log on a real database, for tests of a session's parts."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.log.log import EventLog
from tests.harness.opened_house import House, opened_house
from tests.log.conftest import log_in


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as log:
        yield log


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with opened_house(tmp_path) as house:
        yield house
