"""A server that counts as lost and has not heard so yet: it writes nothing, and ends."""

import contextlib
from pathlib import Path

import httpx2
import pytest

from airboss.machines.heart import LOST
from tests.machines.story import Fleet

pytestmark = [pytest.mark.timeout(120), pytest.mark.timed]


def test_a_server_that_counts_as_lost_ends_at_its_next_write_and_writes_nothing(
    tmp_path: Path, shared_url: str
) -> None:
    # It beats so seldom that it does not hear it from its beat.
    fleet = Fleet(tmp_path, shared_url, lease=300)
    server = fleet.machine("build-1")
    server.serve()
    try:
        fleet.ask("PATCH", "/api/v1/settings/max_tasks", {"value": 3})
        lost = "UPDATE workers SET state = 'lost' RETURNING id"
        [(worker,)] = fleet.rows(lost)
        with contextlib.suppress(httpx2.TransportError):  # it is gone before it answers
            refused = fleet.asked("PATCH", "/api/v1/settings/max_tasks", {"value": 4})
            assert refused.status_code == 503
        assert server.process is not None
        assert server.process.wait(60) == LOST
        assert fleet.rows("SELECT value FROM settings WHERE name = 'max_tasks'") == [("3",)]
        assert f"the worker {worker} counts as lost" in server.portal.log
    finally:
        fleet.end()
