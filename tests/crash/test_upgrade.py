"""A data folder of an earlier version, with runs in the middle: today's server finishes them."""

import time
from pathlib import Path

import pytest

from tests.contract.guest import kinds
from tests.contract.job_guest import JobGuest
from tests.fixtures.open_runs.make import OUTCOMES, portal_in, restore

pytestmark = pytest.mark.anyio


async def test_the_runs_of_the_first_version_are_finished(tmp_path: Path) -> None:
    restore(tmp_path)
    portal = portal_in(tmp_path)
    began = time.time() * 1000
    portal.start()
    try:
        async with JobGuest.of(portal) as guest:
            listed = (await guest.http.get("/api/v1/runs")).json()["items"]
            views = {view["job"]: await guest.over(view["id"]) for view in listed}
            assert {name: view["state"] for name, view in views.items()} == OUTCOMES
            for name, view in views.items():
                paths = [work["path"] for work in view["works"]]
                assert len(paths) == len(set(paths)), f"{name}: nothing was begun twice"
                told = await guest.run_events(view["id"])
                assert kinds(told).count("run.ended") == 1
                assert view["restarts"] == (name not in ("done", "stopped"))
                for work in view["works"]:
                    shown = await guest.task_run(work["task_run"])
                    mine = await guest.sessions_of(work["task_run"])
                    made = {one["id"] for one in mine if one["created_at"] > began}
                    assert made <= set(shown["opened"]), f"{name}: its own rules are gone on with"
            assert await guest.open_sessions() == []
    finally:
        portal.stop()
