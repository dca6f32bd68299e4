"""The database of a real server is gone for some seconds in the midst of a run: people are told,
the agent works on, and the run comes to its end as an undisturbed one."""

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from tests.machines.story import Fleet
from tests.nursery import Streams
from tests.postgres import Postgres

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def fleet(tmp_path: Path, shared_url: str) -> Generator[Fleet]:
    fleet = Fleet(tmp_path, shared_url, lease=60)
    yield fleet
    fleet.end()


def ask(fleet: Fleet, method: str, path: str, body: Any = None) -> tuple[httpx2.Response, float]:
    portal, began = fleet.machines[0].portal, time.monotonic()
    headers = {"Authorization": f"Bearer {portal.token}"}
    answer = httpx2.request(method, f"{portal.url}{path}", json=body, headers=headers, timeout=60)
    return answer, time.monotonic() - began


def let_the_task_end(fleet: Fleet) -> None:
    """Its command would go on for ever."""
    looping = str(fleet.shared / "ticks.txt")
    for process in psutil.process_iter(["cmdline"]):
        if any(looping in word and "while" in word for word in process.info["cmdline"] or ()):
            process.kill()


def test_a_run_goes_on_and_people_are_refused_in_words(fleet: Fleet, postgres: Postgres) -> None:
    server = fleet.machine("build-1")
    server.serve()
    run = fleet.start()
    fleet.until_it_ticks()
    before = fleet.events(run)
    with postgres.away("immediate"):
        refused, took = ask(fleet, "GET", "/api/v1/runs")
        assert (refused.status_code, refused.json()["code"]) == (503, "store_away")
        assert refused.json()["retryable"] is True
        assert 4 < took < 15
        body = {"job": "story", "cwd": str(fleet.shared)}
        refused, took = ask(fleet, "POST", "/api/v1/runs", body)
        assert (refused.status_code, refused.json()["code"]) == (503, "store_away")
        assert 4 < took < 15
        assert "postgresql://" not in refused.text
        ticks = fleet.ticks
        fleet.until(lambda: fleet.ticks > ticks)
    answer, _ = ask(fleet, "GET", "/api/v1/runs")
    assert [one["id"] for one in answer.json()["items"]] == [run], "the refused one is not there"
    assert fleet.events(run) == before, "nothing of it was noticed"
    let_the_task_end(fleet)
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.done == ["first", "last"], "nothing was done again"
    assert {"run.error", "run.moved", "run.resumed"}.isdisjoint(fleet.kinds(run))


def test_a_server_stops_when_it_is_told_to_while_its_database_is_away(
    fleet: Fleet, postgres: Postgres
) -> None:
    """While it works, and while it waits for the database at its start."""
    server = fleet.machine("build-1")
    server.serve()
    fleet.start()
    fleet.until_it_ticks()
    with postgres.away("immediate"):
        began = time.monotonic()
        server.portal.process.terminate()
        assert server.portal.process.wait(60) == 0, server.portal.log
        assert time.monotonic() - began < 40
        let_the_task_end(fleet)
        log = server.portal.folder / "waiting.log"
        log.touch()
        streams = Streams(out=str(log), wrong=str(log))
        waiting = server.portal.begin("serve", "--port", "0", streams=streams)
        fleet.until(lambda: "Waiting for the database" in log.read_text("utf-8"))
        waiting.terminate()
        assert waiting.wait(30) == 0, log.read_text("utf-8")
