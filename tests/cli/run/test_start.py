"""Runs of jobs from the command line, on a real server."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import running
from tests.cli.stage import stage_in, started, told_of
from tests.cli.terminal import Terminal
from tests.e2e.visit import asked
from tests.portal import Portal


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with stage_in(tmp_path_factory.mktemp("stage")) as portal:
        yield portal


@pytest.fixture
def own_stage(tmp_path: Path) -> Iterator[Portal]:
    with stage_in(tmp_path) as portal:
        yield portal


def lines_of(text: str) -> list[str]:
    """Without what differs from time to time."""
    without = re.sub(r"(run|tsk|ses)_[0-9a-z]{26}", r"\1", text)
    without = re.sub(r"(\d+:)+\d\d", "0:00", without)
    return re.sub(r" \(\d+ requests?, [^)]*\)", " (usage)", without).splitlines()


def wait_for_work(portal: Portal, run: str, task: str) -> str:
    """The task run, once an agent works on it."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for work in told_of(portal, run)["works"]:
            if work["task"] == task and told_of(portal, work["task_run"])["missions"]:
                return str(work["task_run"])
    raise AssertionError(told_of(portal, run))


def test_without_a_terminal_there_is_a_line_for_each_change(stage: Portal) -> None:
    done = stage.run("run", "two")
    assert (done.returncode, done.stderr) == (0, "")
    prompt = "[OPERATION] Sends the prompt."
    assert lines_of(done.stdout) == [
        f"0:00 Run run of the job two in {stage.work} was started by owner.",
        "0:00 first started (tsk).",
        "0:00 first: [SESSION STARTED] Driving session ses on rehearsal.",
        f"0:00 first: {prompt}",
        "0:00 first: [TASK SUCCEEDED] The prompt was done.",
        "0:00 first succeeded after 0:00 (usage).",
        "0:00 second started (tsk).",
        "0:00 second: [SESSION STARTED] Driving session ses on rehearsal.",
        f"0:00 second: {prompt}",
        "0:00 second: [TASK SUCCEEDED] The prompt was done.",
        "0:00 second succeeded after 0:00 (usage).",
        "0:00 The run succeeded: All that had to succeed did. (usage)",
    ]


def test_a_run_that_failed_ends_with_1_and_its_reason_cannot_drive_the_terminal(
    stage: Portal,
) -> None:
    done = stage.run("run", "broken")
    assert done.returncode == 1
    lines = lines_of(done.stdout)
    assert "0:00 break failed after 0:00 (usage)." in lines
    assert any("it is in ⟨U+001B⟩[31mtwo" in line for line in lines)
    assert not any("second" in line for line in lines)
    assert lines[-1].startswith("0:00 The run failed: A task failed.")


def test_json_has_every_event_of_the_run(stage: Portal) -> None:
    done = stage.run("run", "two", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({record["run"] for record in records}) == 1
    kinds = [record["event"]["kind"] for record in records]
    work = ["run.work.started", "run.work.stopped"]
    assert kinds == ["run.accepted", *work, *work, "run.ended"]
    run = records[0]["run"]
    later = stage.run("watch", run, "--json", "--after", str(records[3]["seq"]))
    assert later.returncode == 0
    assert [json.loads(line) for line in later.stdout.splitlines()] == records[4:]
    behind = stage.run("watch", run, "--json", "--after", str(records[-1]["seq"]))
    assert (behind.returncode, behind.stdout) == (0, "")


def test_a_detached_run_goes_on_and_can_be_watched(stage: Portal) -> None:
    run = started(stage, "napping")
    assert re.fullmatch(r"run_\w{26}", run)
    done = stage.run("watch", run)
    assert done.returncode == 0
    lines = lines_of(done.stdout)
    assert "0:00 nap: [OPERATION] Sends the prompt." in lines
    assert lines[-1].startswith("0:00 The run succeeded:")
    told = stage.run("run", "two", "--detach", "--json")
    assert json.loads(told.stdout)["job"] == "two"


def test_the_input_is_a_text_a_file_or_what_comes_in(stage: Portal) -> None:
    (stage.work / "wish.txt").write_text("from a file", encoding="utf-8")
    for given, said, told in (
        ("in words", None, "in words"),
        ("@wish.txt", None, "from a file"),
        ("-", "by the pipe", "by the pipe"),
    ):
        run = stage.run("run", "input", "--detach", "--input", given, said=said).stdout.strip()
        assert told_of(stage, run)["user_input"] == told


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "nothing"], "There is no job nothing. Jobs: two, broken, "),
        (["run", "input"], "needs input"),
        (["run", "two", "--input", "x"], "takes no input"),
        (["run", "input", "--input", "@nowhere"], "Could not read"),
        (["run", "two", "--cwd", "/"], "outside the folders where agents may work"),
        (["show", "run_nobody"], "There is no run run_nobody."),
        (["show", "tsk_nobody"], "There is no task run tsk_nobody."),
        (["show", "ses_nobody"], "There is no session ses_nobody."),
        (["watch", "run_nobody"], "There is no run run_nobody."),
        (["stop", "run_nobody"], "There is no run run_nobody."),
        (["stop", "ses_nobody"], "but not a session"),
        (["retry", "run_nobody"], "There is no run run_nobody."),
        (["again", "run_nobody"], "There is no run run_nobody."),
        (["delete", "run_nobody", "--yes"], "There is no run run_nobody."),
    ],
)
def test_what_is_refused_ends_with_2(stage: Portal, words: list[str], text: str) -> None:
    done = stage.run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert text in done.stderr


def test_a_terminal_shows_the_tree_in_place(stage: Portal) -> None:
    with Terminal(stage, "run", "napping") as terminal:
        terminal.see("Press Ctrl-C to stop it.")
        terminal.see("napping · running")
        terminal.see("├ ✓ first")
        terminal.see("· second")
        terminal.see("[OPERATION] Sends the prompt.")
        terminal.see("\x1b[4A")  # back up, over the four lines
        terminal.see("succeeded")
        terminal.see("3 done")
        terminal.see("├ ✓ nap")
        terminal.see("└ ✓ second")
        assert terminal.leave() == 0


def test_a_loop_shows_its_round_and_show_has_all_of_them(own_stage: Portal) -> None:
    with Terminal(own_stage, "run", "rounds") as terminal:
        terminal.see("loop, round 1")
        terminal.see("succeeded")
        terminal.see("loop, round 2")
        terminal.see("◆ enough (repeats if false)  true")
        assert terminal.leave() == 0
    run = json.loads(own_stage.run("runs", "--json").stdout)["items"][0]["id"]
    shown = lines_of(own_stage.run("show", run).stdout)
    tree = [re.sub(r" · \d+ requests?.*", "", line) for line in shown[shown.index("└ loop") :]]
    assert tree == [
        "└ loop",
        "  ├ round 1",
        "  │ ├ ✓ first  succeeded · 0:00 · tsk",
        "  │ └ ◆ enough (repeats if false)  false · 0:00 · tsk",
        "  └ round 2",
        "    ├ ✓ first  succeeded · 0:00 · tsk",
        "    └ ◆ enough (repeats if false)  true · 0:00 · tsk",
    ]
    # Another entry by now: what was done is listed, without a tree.
    entry = own_stage.work / "airboss.yaml"
    entry.write_text(entry.read_text("utf-8").replace("first thing", "very first"), "utf-8")
    time.sleep(0.6)
    flat = "\n".join(lines_of(own_stage.run("show", run).stdout))
    assert "├ ✓ first, round 1  succeeded" in flat
    assert "└ ◆ enough, round 2  true" in flat
    done = own_stage.run("run", "rounds")
    assert "enough, round 1 answered true after" in done.stdout


def test_ctrl_c_stops_the_run_and_ends_with_3(stage: Portal) -> None:
    with Terminal(stage, "run", "slow") as terminal:
        terminal.see("sleep  0:0")
        terminal.see("[OPERATION]")
        terminal.press_ctrl_c()
        terminal.see("Stopping the run")
        terminal.see("canceled")
        terminal.see("Stopped by owner.")
        terminal.see("■ sleep")
        assert terminal.leave() == 3
    with running(stage, "run", "slow") as run:
        run.wait_for("sleep: [OPERATION]")
        run.process.send_signal(signal.SIGTERM)
        assert run.end() == 3
        assert "The run was canceled: Stopped by owner." in run.told()
        assert "Stopping the run" in run.told(beside=True)


def test_a_second_ctrl_c_leaves_at_once(own_stage: Portal) -> None:
    with running(own_stage, "run", "slow") as run:
        run.wait_for("sleep: [OPERATION]")
        os.kill(own_stage.pid, signal.SIGSTOP)
        try:
            run.interrupt()
            run.wait_for("Stopping the run", beside=True)
            run.interrupt()
            assert run.end(5) == 3
        finally:
            os.kill(own_stage.pid, signal.SIGCONT)
        assert "Watch it with: airboss watch run_" in run.told(beside=True)


def test_who_only_watches_leaves_the_run_at_work(stage: Portal) -> None:
    run = started(stage, "slow")
    with running(stage, "watch", run) as watching:
        watching.wait_for("sleep: [OPERATION]")
        watching.interrupt()
        assert watching.end() == 3
    assert told_of(stage, run)["state"] == "running"
    assert stage.run("delete", run, "--yes").returncode == 2
    stopped = stage.run("stop", run)
    assert (stopped.returncode, stopped.stderr) == (0, "The run was canceled: Stopped by owner.\n")
    assert stage.run("stop", run).returncode == 0
    assert stage.run("watch", run).returncode == 3


def test_a_task_of_a_run_is_stopped_by_its_own_id(stage: Portal) -> None:
    run = started(stage, "slow")
    task = wait_for_work(stage, run, "sleep")
    assert stage.run("stop", task).returncode == 0
    assert stage.run("watch", run).returncode == 1


@pytest.mark.parametrize("drawn", [False, True])
def test_a_restart_of_the_server_is_survived(own_stage: Portal, drawn: bool) -> None:
    if drawn:
        with Terminal(own_stage, "run", "napping") as terminal:
            terminal.see("nap  0:0")
            own_stage.kill()
            terminal.see("Connection lost")
            own_stage.start()
            terminal.see("Reconnected; nothing was missed.")
            terminal.see("succeeded")
            terminal.see("restarts: 1")
            assert terminal.leave() == 0
        return
    with running(own_stage, "run", "napping") as run:
        run.wait_for("nap: [OPERATION]")
        own_stage.kill()
        run.wait_for("Connection lost", beside=True)
        own_stage.start()
        assert run.end(40) == 0
        lines = lines_of(run.told())
    assert "0:00 Resumed after a restart of the server." in lines
    assert lines.count("0:00 first started (tsk).") == 1
    assert lines[-1].startswith("0:00 The run succeeded:")


def test_a_server_that_stays_away_is_given_up(own_stage: Portal) -> None:
    with running(own_stage, "run", "slow", "--wait", "1") as run:
        run.wait_for("sleep: [OPERATION]")
        own_stage.kill()
        assert run.end() == 4
        assert re.search(r"later with: airboss watch run_\w+ --after", run.told(beside=True))


def test_runs_are_listed_by_state_and_job(stage: Portal) -> None:
    stage.run("run", "broken")
    stage.run("run", "two")
    told = json.loads(stage.run("runs", "--json", "--state", "failed", "--job", "broken").stdout)
    assert {(item["state"], item["job"]) for item in told["items"]} == {("failed", "broken")}
    one = stage.run("runs", "--limit", "1").stdout.splitlines()
    assert len(one) == 1
    assert one[0].split("\t")[1:5] == ["two", "succeeded", "2", "0"]
    empty = stage.run("runs", "--job", "nothing")
    assert (empty.returncode, empty.stdout) == (0, "")
    assert "airboss run JOB" in empty.stderr


def test_show_takes_the_id_of_anything(stage: Portal) -> None:
    run = told_of(stage, started(stage, "two"))["id"]
    stage.run("watch", run)
    shown = stage.run("show", run).stdout
    task = told_of(stage, run)["works"][0]["task_run"]
    assert f"Run          {run}\nJob          two\nState        succeeded after 0:0" in shown
    assert re.search(rf"├ ✓ first  succeeded · 0:0\d · {task} · 1 request, ", shown)
    assert stage.run("show", task).stdout.startswith(f"Task run     {task}\nTask         first\n")
    session = told_of(stage, task)["attempts"][0]["session"]
    assert stage.run("show", session).stdout.startswith(f"Session      {session}\n")


def test_a_retry_does_the_failed_part_again(stage: Portal) -> None:
    assert stage.run("run", "flaky").returncode == 1
    run = json.loads(stage.run("runs", "--job", "flaky", "--json").stdout)["items"][0]["id"]
    done = stage.run("retry", run)
    assert (done.returncode, done.stderr) == (0, "")
    lines = lines_of(done.stdout)
    assert lines[0] == "0:00 Retried by owner, attempt 2."
    assert "0:00 mend started (tsk)." in lines
    assert not any("first" in line for line in lines)
    shown = stage.run("show", run).stdout
    assert re.search(r"└ ✓ mend  succeeded · 0:0\d · tsk_\w+ · before tsk_\w+ · ", shown)
    refused = stage.run("retry", run)
    assert refused.returncode == 2
    assert "only a run that failed or was stopped" in refused.stderr


def test_again_is_a_new_run(stage: Portal) -> None:
    run = started(stage, "two")
    stage.run("watch", run)
    done = stage.run("again", run, "--json")
    assert done.returncode == 0
    other = json.loads(done.stdout.splitlines()[0])["run"]
    assert other != run
    assert f"Run          {other} (repeats {run})" in stage.run("show", other).stdout
    assert stage.run("again", run, "--detach").stdout.startswith("run_")


def test_deleting_is_for_good_and_wants_a_yes(stage: Portal) -> None:
    run = started(stage, "two")
    stage.run("watch", run)
    refused = stage.run("delete", run)
    assert refused.returncode == 2
    assert "Pass --yes" in refused.stderr
    with Terminal(stage, "delete", run) as terminal:
        terminal.see("permanently deleted. Delete it? [y/N] ")
        terminal.type("\n")
        terminal.see("Nothing was deleted.")
        assert terminal.leave() == 3
    with Terminal(stage, "delete", run) as terminal:
        terminal.see("permanently deleted. Delete it? [y/N] ")
        terminal.type("y\n")
        terminal.see("Deleted the run")
        assert terminal.leave() == 0
    assert stage.run("show", run).returncode == 2
    other = started(stage, "two")
    stage.run("watch", other)
    assert stage.run("delete", other, "--yes").returncode == 0


def test_a_session_is_deleted_too(stage: Portal) -> None:
    session = str(asked(stage, "POST", "/api/v1/sessions", {"model": "rehearsal"}).json()["id"])
    refused = stage.run("delete", session, "--yes")
    assert refused.returncode == 2
    assert "The session is open. Close it first." in refused.stderr
    asked(stage, "POST", f"/api/v1/sessions/{session}/close")
    assert "Pass --yes" in stage.run("delete", session).stderr
    with Terminal(stage, "delete", session) as terminal:
        terminal.see(f"{session} on rehearsal, started")
        terminal.type("y\n")
        terminal.see(f"Deleted the session {session}.")
        assert terminal.leave() == 0
    assert stage.run("delete", session, "--yes").returncode == 2
    assert "There is no task run tsk_x." in stage.run("delete", "tsk_x", "--yes").stderr
