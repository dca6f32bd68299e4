"""Machines over v1, against a real server with a data folder of its own: it is the only one."""

from pathlib import Path

from tests.contract.guest import Guest
from tests.portal import Portal


async def test_a_server_with_a_data_folder_of_its_own_is_the_only_machine(tmp_path: Path) -> None:
    portal = Portal(tmp_path, ("--max-tasks", "5"))
    with portal.serving():
        async with Guest.of(portal) as guest:
            listed = (await guest.http.get("/api/v1/workers")).json()
            metrics = (await guest.http.get("/metrics")).text
    assert "airboss_log_append_seconds_total" in metrics
    assert "airboss_workers" not in metrics
    assert (listed["is_shared"], listed["lease_ms"], listed["waiting"]) == (False, None, [])
    (here,) = listed["items"]
    assert here["id"] == "here"
    assert here["name"] == here["host"] != ""
    assert (here["state"], here["is_here"], here["has_pages"]) == ("alive", True, True)
    assert (here["slots"], here["slots_used"], here["runs"]) == (5, 0, [])
    assert (here["beat_age_ms"], here["clock_offset_ms"]) == (0, 0)
