"""People say who works: a run is moved, a machine is drained, and a run says whom it waits for."""

import time

import pytest

from tests.machines.story import Fleet, Json
from tests.trials import whole_only

pytestmark = [pytest.mark.timeout(180), pytest.mark.timed]


def moves_of(fleet: Fleet, run: str) -> list[Json]:
    return [event for event in fleet.events(run) if event["kind"] == "run.moved"]


def test_a_run_at_work_is_moved_and_what_cannot_be_moved_is_refused(fleet: Fleet) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    worker.work()
    run = fleet.start()
    fleet.until_it_ticks()
    assert fleet.owner_of(run) == "build-1"
    unknown = fleet.asked("POST", f"/api/v1/runs/{run}/move", {"to": "build-9"})
    assert (unknown.status_code, "build-9" in unknown.text) == (404, True)
    here = fleet.asked("POST", f"/api/v1/runs/{run}/move", {"to": "build-1"})
    assert here.status_code == 409
    assert here.json()["detail"] == "The run is on that machine already."
    moved = server.portal.run("move", run, "--to", "build-2")
    assert moved.returncode == 0, moved.stderr
    ticks = fleet.ticks
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.owner_of(run) == "build-2"
    assert fleet.done == ["first", "again", "last"]
    assert fleet.ticks == ticks, "its agent had ended before"
    [told] = moves_of(fleet, run)
    assert (told["from"], told["to"], told["reason"]) == ("build-1", "build-2", "Moved by owner.")
    late = fleet.asked("POST", f"/api/v1/runs/{run}/move", {"to": "build-1"})
    assert late.status_code == 409
    assert "The run has ended (succeeded)." in late.json()["detail"]
    assert fleet.state_of("build-1") == "alive"
    again = fleet.start(job="short")
    assert fleet.until_run_is(again, "succeeded", "failed")["state"] == "succeeded"


def test_a_machine_that_drains_takes_nothing_new_lets_tasks_end_and_gives_its_runs_away(
    fleet: Fleet,
) -> None:
    server, worker = fleet.machine("build-1"), fleet.machine("build-2")
    server.serve()
    run = fleet.start()
    fleet.until_it_ticks()
    drained = server.portal.run("drain", "build-1")
    assert drained.returncode == 0, drained.stderr
    assert "build-1 takes nothing new." in drained.stdout
    alone = fleet.asked("POST", "/api/v1/runs", {"job": "short", "cwd": str(fleet.shared)})
    assert alone.status_code == 422
    worker.work()
    new = fleet.start(fleet.folder_of("new"), job="short")
    assert fleet.until_run_is(new, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.owner_of(new) == "build-2"
    assert fleet.owner_of(run) == "build-1", "its task is at work"
    refused = fleet.asked("POST", f"/api/v1/runs/{run}/move", {"to": "build-1"})
    assert "build-1 is draining" in refused.json()["detail"]
    task = fleet.view(run)["running"][0]["task_run"]
    fleet.post(f"/api/v1/task-runs/{task}/stop", {})
    fleet.until_run_is(run, "failed")
    undone = server.portal.run("drain", "build-1", "--undo")
    assert "build-1 takes work again." in undone.stdout
    assert fleet.state_of("build-1") == "alive"
    back = fleet.start(fleet.folder_of("back"), job="short")
    assert fleet.until_run_is(back, "succeeded", "failed")["state"] == "succeeded"


def test_a_server_that_is_told_to_stop_lets_its_task_end_first(fleet: Fleet) -> None:
    server, worker = fleet.machine("build-1", drain_seconds=60), fleet.machine("build-2")
    server.serve()
    worker.work()
    run = fleet.start(job="paced")
    fleet.until(lambda: fleet.kinds(run).count("run.work.started") == 1)
    fleet.until((fleet.shared / "paced.txt").exists)
    assert server.process is not None
    server.process.terminate()
    fleet.until(lambda: fleet.state_of("build-1") == "draining")
    listed = fleet.ask("GET", "/api/v1/runs")["items"]
    assert [one["id"] for one in listed] == [run], "it still serves pages"
    (fleet.shared / "go.txt").touch()
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    fleet.until(lambda: fleet.state_of("build-1") == "left")
    assert (fleet.shared / "paced.txt").read_text("utf-8").split() == ["begun", "ended"]
    assert fleet.done == ["last"]
    assert fleet.owner_of(run) == "build-2"


def test_a_run_in_a_shared_folder_waits_for_no_machine_by_name(fleet: Fleet) -> None:
    server = fleet.machine("build-1", more="max_tasks = 1\n")
    server.serve()
    busy = fleet.start(fleet.folder_of("busy"))
    run = fleet.start(fleet.folder_of("waits"), job="short")
    assert fleet.owner_of(run) is None
    assert fleet.get(f"/api/v1/runs/{run}")["held_for"] is None, "it is its turn soon"
    fleet.post("/api/v1/workers/build-1/drain", {})
    said = fleet.get(f"/api/v1/runs/{run}")["held_for"]
    assert said == f"a machine that works and shares the folder {fleet.shared}"
    fleet.ask("DELETE", "/api/v1/workers/build-1/drain")
    fleet.post(f"/api/v1/runs/{busy}/stop", {})
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"


@whole_only
def test_a_run_in_a_lost_machines_own_folder_says_whom_it_waits_for_until_it_is_moved(
    fleet: Fleet,
) -> None:
    door, lost = fleet.machine("door", more="work = false\n"), fleet.machine("build-1")
    own = lost.portal.work
    other = fleet.machine("build-2", more=f'roots = ["{own}"]\n')
    door.serve()
    lost.work()
    run = fleet.start(own)
    fleet.until(lambda: (own / "ticks.txt").exists())
    assert fleet.ask("GET", f"/api/v1/runs/{run}")["held_for"] is None
    lost.kill()
    fleet.until(lambda: fleet.state_of("build-1") == "lost")
    fleet.until(lambda: fleet.ask("GET", f"/api/v1/runs/{run}")["held_for"] == "build-1")
    other.work()
    time.sleep(2)
    assert fleet.owner_of(run) is None, "nobody says that its folder is the same one"
    fleet.post(f"/api/v1/runs/{run}/move", {"to": "build-2"})
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    [told] = moves_of(fleet, run)
    assert (told["from"], told["to"]) == ("build-1", "build-2")
