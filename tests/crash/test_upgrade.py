"""A data folder of an earlier version, with runs in the middle: today's server finishes them."""

import time
from pathlib import Path

import pytest

from tests.fixtures.open_runs.finished import finishes_the_runs
from tests.fixtures.open_runs.make import portal_in, restore

pytestmark = pytest.mark.anyio


async def test_the_runs_of_the_first_version_are_finished(tmp_path: Path) -> None:
    restore(tmp_path)
    portal = portal_in(tmp_path)
    began = time.time() * 1000
    portal.start()
    try:
        await finishes_the_runs(portal, began)
    finally:
        portal.stop()
