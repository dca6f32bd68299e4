"""A door to knock at."""

from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path

import pytest

from tests.http.door import Door, Open, opened


@pytest.fixture
def open_door(tmp_path: Path) -> Open:
    return partial(opened, tmp_path)


@pytest.fixture
async def door(open_door: Open) -> AsyncGenerator[Door]:
    async with open_door() as door:
        yield door
