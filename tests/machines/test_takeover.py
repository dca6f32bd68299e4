"""Real processes on one real PostgreSQL: a server is killed or stopped, and its run goes on
elsewhere as if nothing had been."""

import os
import signal
import time

import psycopg
import pytest

from tests.crash.marks import left_of
from tests.cut_line import cut_line_to
from tests.machines.story import Fleet
from tests.postgres import Postgres
from tests.trials import whole_only

pytestmark = [pytest.mark.timeout(180), pytest.mark.timed]


def test_a_run_whose_server_is_killed_ends_with_the_worker_as_an_undisturbed_one(
    fleet: Fleet,
) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    worker.work()
    run = fleet.start()
    fleet.until_it_ticks()
    server.portal.kill()
    killed = time.monotonic()
    view = fleet.until_run_is(run, "succeeded", "failed")
    took = time.monotonic() - killed
    assert view["state"] == "succeeded"
    assert fleet.done == ["first", "again", "last"]
    assert left_of(server.portal) == []
    moved = [event for event in fleet.events(run) if event["kind"] == "run.moved"]
    assert [(one["from"], one["to"]) for one in moved] == [("build-1", "build-2")]
    assert fleet.state_of("build-1") == "lost"
    seqs = [event["seq"] for event in fleet.events(run)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert took < 60


def test_a_run_that_ended_a_moment_before_its_server_was_lost_is_open_nowhere(
    fleet: Fleet,
) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    worker.work()
    run = fleet.start(job="short")
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    fleet.until(lambda: flow_of(fleet, run) == "SUCCESS")
    server.portal.kill()
    # As it is found where the server was killed before its engine had noted the end.
    with psycopg.connect(fleet.url) as connection:
        connection.execute("UPDATE dbos.workflow_status SET status = 'PENDING'")
    fleet.until(lambda: flow_of(fleet, run) == "CANCELLED")
    assert fleet.view(run)["state"] == "succeeded"
    assert fleet.done == ["first", "last"]


def flow_of(fleet: Fleet, run: str) -> str:
    asked = "SELECT status FROM dbos.workflow_status WHERE workflow_uuid = %s"
    return fleet.rows(asked, run)[0][0]


@whole_only
def test_a_server_that_is_stopped_like_a_paused_machine_does_no_harm_when_it_wakes(
    fleet: Fleet,
) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    worker.work()
    run = fleet.start()
    fleet.until_it_ticks()
    os.kill(server.portal.pid, signal.SIGSTOP)
    try:
        view = fleet.until_run_is(run, "succeeded", "failed")
        assert view["state"] == "succeeded"
        assert fleet.done == ["first", "again", "last"], "its agent had ended before"
        before = {stream: fleet.events(stream) for stream in streams_of(fleet)}
        ticks = fleet.ticks
    finally:
        os.kill(server.portal.pid, signal.SIGCONT)
    assert server.portal.process.wait(30) == 70, server.portal.log
    time.sleep(0.5)
    assert {stream: fleet.events(stream) for stream in before} == before
    assert fleet.ticks == ticks
    assert left_of(server.portal) == []


def streams_of(fleet: Fleet) -> list[str]:
    found = fleet.rows("SELECT stream FROM streams WHERE stream NOT IN ('audit', 'inbox')")
    return [stream for (stream,) in found]


@whole_only
def test_a_server_that_comes_back_on_its_data_folder_goes_on_with_its_own_runs(
    fleet: Fleet,
) -> None:
    server = fleet.machine("build-1")
    server.serve()
    run = fleet.start()
    fleet.until_it_ticks()
    server.portal.kill()
    server.serve()
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.done == ["first", "again", "last"]
    assert fleet.kinds(run).count("run.moved") == 1


def test_a_server_that_is_told_to_stop_leaves_its_runs_to_others(fleet: Fleet) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    worker.work()
    run = fleet.start()
    fleet.until_it_ticks()
    server.portal.stop()
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.state_of("build-1") == "left"
    assert fleet.done == ["first", "again", "last"]
    moved = [event for event in fleet.events(run) if event["kind"] == "run.moved"]
    assert [one["reason"] for one in moved] == ["build-1 was stopped."]
    shown = worker.portal.run("workers", "--json")
    assert shown.returncode == 0, shown.stderr
    assert '"left"' in shown.stdout
    assert '"alive"' in shown.stdout


@whole_only
def test_a_server_that_is_cut_off_ends_its_agents_and_itself_before_its_run_goes_on(
    fleet: Fleet, postgres: Postgres, shared_name: str
) -> None:
    with cut_line_to(postgres.port) as line:
        server = fleet.machine("build-1", url=postgres.url(shared_name, port=line.port))
        worker = fleet.machine("build-2")
        server.serve()
        worker.work()
        run = fleet.start()
        fleet.until_it_ticks()
        line.swallow()
        assert server.portal.process.wait(60) == 70, server.portal.log
        fleet.until(lambda: left_of(server.portal) == [])
        ticks = fleet.ticks
        assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
        assert fleet.done == ["first", "again", "last"]
        assert fleet.ticks == ticks
        assert "its last beat is" in server.portal.log
        assert fleet.kinds(run).count("run.moved") == 1


@whole_only
def test_a_run_in_a_folder_of_its_own_machine_waits_for_that_machine(fleet: Fleet) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    worker.work()
    own = server.portal.work
    run = fleet.start(own)
    fleet.until(lambda: (own / "ticks.txt").exists())
    server.portal.kill()
    fleet.until(lambda: fleet.state_of("build-1") == "lost")
    time.sleep(2.5)
    assert "run.moved" not in fleet.kinds(run)
    server.serve()
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    moved = [event for event in fleet.events(run) if event["kind"] == "run.moved"]
    assert [one["to"] for one in moved] == ["build-1"]


@whole_only
def test_a_chat_of_a_lost_server_is_interrupted(fleet: Fleet) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    worker.work()
    asked = {"model": "rehearsal", "cwd": str(fleet.shared)}
    session = str(fleet.post("/api/v1/sessions", asked)["id"])
    fleet.post(f"/api/v1/sessions/{session}/prompts", {"text": "chat"})
    fleet.until(lambda: "turn.started" in fleet.kinds(session))
    server.portal.kill()
    assert fleet.until_run_is(session, "interrupted")["state"] == "interrupted"
    owner = fleet.rows("SELECT owner FROM streams WHERE stream = %s", session)
    assert owner == [(None,)], "whoever is asked to resume it has it"
