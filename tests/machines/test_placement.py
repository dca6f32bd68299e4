"""New runs are worked on by whoever has a free place, wherever they were accepted."""

import pytest

from tests.machines.story import Fleet
from tests.trials import whole_only

pytestmark = [pytest.mark.timeout(180), pytest.mark.timed]

ONE_PLACE = "max_tasks = 1\n"


def test_runs_of_one_server_spread_over_all_that_live_and_wait_when_all_are_full(
    fleet: Fleet,
) -> None:
    server, worker = (fleet.machine(name, more=ONE_PLACE) for name in ("build-1", "build-2"))
    server.serve()
    worker.work()
    runs = [fleet.start(fleet.folder_of(f"work-{number}")) for number in range(3)]
    for run in runs[:2]:
        fleet.until(lambda run=run: fleet.kinds(run).count("run.work.started") == 2)
    assert [fleet.owner_of(run) for run in runs] == ["build-1", "build-2", None]
    assert "run.moved" not in fleet.kinds(runs[1]), "nobody had it before"
    waiting = fleet.view(runs[2])
    assert (waiting["state"], waiting["waits_for"]) == ("waiting", "a worker to begin it")
    renamed = fleet.ask("PATCH", f"/api/v1/runs/{runs[2]}", {"title": "later"})
    assert renamed["short_title"] == "later"
    assert fleet.owner_of(runs[2]) is None, "a word about it takes it from nobody"
    fleet.post(f"/api/v1/runs/{runs[1]}/stop", {})
    fleet.until(lambda: fleet.owner_of(runs[2]) == "build-2")
    fleet.until(lambda: "run.work.started" in fleet.kinds(runs[2]))
    for run in runs:
        fleet.post(f"/api/v1/runs/{run}/stop", {})
    assert fleet.rows("SELECT run FROM work") == []


def test_a_task_by_itself_is_done_by_another_where_the_server_is_full(fleet: Fleet) -> None:
    server, worker = (fleet.machine(name, more=ONE_PLACE) for name in ("build-1", "build-2"))
    server.serve()
    worker.work()
    first = fleet.start(fleet.folder_of("busy"))
    fleet.until(lambda: fleet.kinds(first).count("run.work.started") == 2)
    asked = {"task": "first", "cwd": str(fleet.shared)}
    task = str(fleet.post("/api/v1/task-runs", asked)["id"])
    assert fleet.until_run_is(task, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.owner_of(task) == "build-2"
    assert fleet.done == ["first"]


def test_a_server_that_does_not_work_leaves_runs_tasks_and_chats_to_others(fleet: Fleet) -> None:
    server, worker = fleet.machine("door", more="work = false\n"), fleet.machine("build-1")
    server.serve()
    refused = fleet.asked("POST", "/api/v1/runs", {"job": "short", "cwd": str(fleet.shared)})
    assert refused.status_code == 422
    assert refused.json()["code"] == "no_worker_fits"
    assert "does not work itself. Start a worker" in refused.json()["detail"]
    worker.work()
    run = fleet.start(job="short")
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.owner_of(run) == "build-1"
    own = worker.portal.work
    elsewhere = fleet.start(own, job="short")
    assert fleet.until_run_is(elsewhere, "succeeded", "failed")["state"] == "succeeded"
    assert (own / "done.txt").read_text("utf-8").split() == ["first", "last"]
    nowhere = fleet.asked("POST", "/api/v1/runs", {"job": "short", "cwd": "/srv/nobody/has"})
    assert nowhere.status_code == 422
    assert "No machine that works has the folder /srv/nobody/has" in nowhere.json()["detail"]
    asked = {"model": "rehearsal", "cwd": str(own)}
    session = str(fleet.post("/api/v1/sessions", asked)["id"])
    assert fleet.owner_of(session) == "build-1"
    task = {"task": "first", "session": session}
    lent = str(fleet.post("/api/v1/task-runs", task)["id"])
    assert fleet.until_run_is(lent, "succeeded", "failed")["state"] == "succeeded"
    fleet.post(f"/api/v1/sessions/{session}/prompts", {"text": "chat"})
    fleet.until_run_is(session, "working")
    worker.kill()
    fleet.until_run_is(session, "interrupted")
    gone = fleet.asked("POST", f"/api/v1/sessions/{session}/resume", {})
    assert gone.status_code == 422
    worker.work()
    fleet.until(lambda: fleet.state_of("build-1") == "alive")
    resumed = fleet.post(f"/api/v1/sessions/{session}/resume", {})
    assert resumed["state"] != "interrupted"
    assert fleet.owner_of(session) == "build-1"
    assert fleet.rows("SELECT name FROM workers WHERE slots = 0") == [("door",)]


def test_a_run_goes_where_its_labels_are_and_is_refused_where_they_are_nowhere(
    fleet: Fleet,
) -> None:
    server = fleet.machine("build-1", more='labels = ["linux"]\n')
    worker = fleet.machine("build-2", more='labels = ["linux", "gpu"]\n')
    server.serve()
    asked = {"job": "picky", "cwd": str(fleet.shared)}
    refused = fleet.asked("POST", "/api/v1/runs", asked)
    assert refused.status_code == 422
    assert "has all of the labels gpu. There are: build-1 (linux)." in refused.json()["detail"]
    worker.work()
    run = fleet.start(job="picky")
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.owner_of(run) == "build-2"
    assert fleet.view(run)["labels"] == ["gpu"]
    named = fleet.post("/api/v1/runs", {**asked, "job": "short", "labels": ["linux"]})
    assert named["labels"] == ["linux"]
    assert fleet.until_run_is(named["id"], "succeeded", "failed")["state"] == "succeeded"
    assert fleet.owner_of(named["id"]) == "build-1", "it has the label itself"
    task = fleet.post(
        "/api/v1/task-runs", {"task": "first", "cwd": asked["cwd"], "labels": ["gpu"]}
    )
    assert fleet.until_run_is(task["id"], "succeeded", "failed")["state"] == "succeeded"
    assert fleet.owner_of(task["id"]) == "build-2"
    both = server.portal.run(
        *("run", "short", "--cwd", str(fleet.shared), "--label", "gpu", "--label", "mac")
    )
    assert both.returncode != 0
    assert "the labels gpu, mac. There are: build-1 (linux), build-2 (linux, gpu)." in both.stderr


@whole_only
def test_all_machines_together_work_on_so_many_tasks_and_a_lost_ones_place_is_free(
    fleet: Fleet,
) -> None:
    most = "max_tasks_all = 1\n"
    server = fleet.machine("door", more=f"{most}work = false\n")
    worker, other = (fleet.machine(name, more=most) for name in ("build-1", "build-2"))
    server.serve()
    worker.work()
    other.work()
    own = fleet.start(worker.portal.work, job="paced")
    fleet.until(lambda: (worker.portal.work / "paced.txt").exists())
    waiting = fleet.start(job="short")
    full = "a free place: 1 of 1 agents of jobs are at work on all machines"
    fleet.until(lambda: fleet.view(waiting)["waits_for"] == full)
    listed = fleet.get("/api/v1/workers")
    assert (listed["max_tasks_all"], listed["tasks_waiting"]) == (1, 1)
    said = server.portal.run("workers")
    assert "1 task waits for a slot: all machines together are full" in said.stderr
    worker.kill()
    assert fleet.until_run_is(waiting, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.view(own)["state"] == "running", "only its own machine has its folder"
