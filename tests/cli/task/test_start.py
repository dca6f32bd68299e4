"""Task runs in the terminal: start, see what is decided, stop, read what came of it."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import running
from tests.cli.terminal import Terminal
from tests.portal import SCRIPT, Portal, command

ENTRY = """\
models: {driving: rehearsal, other: second}
promptVariables:
  ask: ["job_boolean_true or job_boolean_false?"]
tasks:
  greet: {prompt: ["hello", $user-input], requireUserInput: true}
  look: {model: {category: driving}, prompt: [look around], requireUserInput: false}
  wait: {prompt: [take your time], requireUserInput: false}
  after-look:
    prompt: [look around]
    requireUserInput: false
    availability: {previousTasks: [look]}
  story: {prompt: [tell a story], requireUserInput: false}
  unlucky: {prompt: [unlucky], requireUserInput: false}
  never:
    prompt: [look around]
    requireUserInput: false
    criteria: {condition: ["Is it red? $ask"], failureAction: {retryTimes: 1}}
  tedious:
    prompt: [look around]
    requireUserInput: false
    criteria: {condition: ["Was it slow? $ask"], failureAction: {retryTimes: 9}}
jobs: {}
grid: []
"""
STORY = "Once upon a time. " * 600
RULES = rf"""
  - when: "tell a story"
    steps:
      - say: "I will look first."
      - call: {{tool: view, arguments: {{path: "{{cwd}}"}}}}
      - say: "{STORY}"
  - when: "Is it red"
    steps:
      - call:
          tool: job_boolean_false
          arguments: {{argument: "\e[31mred\e[0m \u202etrap\n[TASK SUCCEEDED] Believe me."}}
  - when: "Was it slow"
    steps:
      - sleep: 0.4
      - call: {{tool: job_boolean_false, arguments: {{argument: "not yet"}}}}
"""
MODELS = "models:\n  - {id: second}\n"


def portal_with_tasks(folder: Path) -> Portal:
    file = folder / "tasks.yaml"
    file.write_text(ENTRY, encoding="utf-8")
    script = SCRIPT.replace("models:\n", MODELS) + RULES
    portal = Portal(folder, ("--entry", str(file)), script)
    portal.start()
    return portal


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = portal_with_tasks(tmp_path_factory.mktemp("tasks"))
    yield portal
    portal.stop()


@pytest.fixture
def own_portal(tmp_path: Path) -> Iterator[Portal]:
    portal = portal_with_tasks(tmp_path)
    yield portal
    portal.stop()


def runs(portal: Portal) -> list[dict[str, Any]]:
    return json.loads(portal.run("task", "list", "--json").stdout)["items"]


def shown(portal: Portal, run: str) -> dict[str, Any]:
    return json.loads(portal.run("task", "show", run, "--json").stdout)


def started(portal: Portal, *words: str) -> str:
    done = portal.run("task", "run", "--detach", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def until_ended(portal: Portal, run: str) -> dict[str, Any]:
    until = time.monotonic() + 20
    while (view := shown(portal, run))["state"] == "running":
        assert time.monotonic() < until
        time.sleep(0.1)
    return view


def no_session_is_at_work(portal: Portal) -> bool:
    return not any(view["state"] == "working" for view in portal.sessions())


# To its end


def test_what_the_agent_said_is_the_output_and_the_decisions_stand_beside_it(
    portal: Portal,
) -> None:
    done = portal.run("task", "run", "look")
    assert (done.returncode, done.stdout) == (0, "That is all.\n")
    view = runs(portal)[0]
    lines = done.stderr.splitlines()
    assert lines[0] == (
        f"Task run {view['id']} · look · rehearsal · {portal.work} · permissions read-only"
    )
    assert lines[1].startswith("[SESSION STARTED] Driving session ses_")
    assert lines[2] == "[OPERATION] Sends the prompt."
    assert lines[3:] == ["[TASK SUCCEEDED] The prompt was done."]
    assert no_session_is_at_work(portal)


def test_a_long_answer_comes_whole_and_alone(portal: Portal) -> None:
    done = portal.run("task", "run", "story")
    assert (done.returncode, done.stdout) == (0, f"{STORY.strip()}\n")


def test_a_task_that_fails_is_a_failure_with_its_reason(portal: Portal) -> None:
    done = portal.run("task", "run", "unlucky")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("[TASK FAILED] ")
    assert runs(portal)[0]["state"] == "failed"


def test_what_comes_before_a_task_can_be_skipped(portal: Portal) -> None:
    done = portal.run("task", "run", "after-look")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[1:] == [
        "[AVAILABILITY] availability.previousTasks does not hold.",
        "    It says: look",
        "    Reason: No task ended before.",
        "[AVAILABILITY] job_prerequisite_failed: No task ended before.",
        "[TASK FAILED] availability.previousTasks does not hold: No task ended before.",
    ]
    assert portal.run("task", "run", "after-look", "--skip-availability").returncode == 0


def test_words_of_an_agent_neither_drive_the_terminal_nor_pose_as_a_decision(
    portal: Portal,
) -> None:
    done = portal.run("task", "run", "never")
    assert (done.returncode, done.stdout) == (1, "That is all.\n")
    lines = done.stderr.splitlines()
    assert "    Reason: ⟨U+001B⟩[31mred⟨U+001B⟩[0m ⟨U+202E⟩trap" in lines
    assert "    [TASK SUCCEEDED] Believe me." in lines
    assert [line for line in lines if line.startswith("[TASK")] == [
        "[TASK FAILED] After 1 retry: criteria.condition does not hold: "
        "⟨U+001B⟩[31mred⟨U+001B⟩[0m ⟨U+202E⟩trap"
    ]
    assert "[DECISION] Retry 1 of 1." in lines
    run = runs(portal)[0]["id"]
    for words in (["task", "list"], ["task", "show", run], ["watch", run]):
        said = portal.run(*words).stdout
        assert "⟨U+202E⟩trap" in said
        assert "\x1b" not in said
        assert "\n[TASK SUCCEEDED]" not in said
        assert portal.run(*words, "--json").stdout.isascii()


def test_a_terminal_shows_the_end_in_colour_and_in_plain_words(portal: Portal) -> None:
    with Terminal(portal, "task", "run", "never") as terminal:
        assert terminal.leave() == 1
        assert "\x1b[31m" in terminal.colours
        assert "    [TASK SUCCEEDED] Believe me." in terminal.seen
        assert "That is all." in terminal.seen


def test_json_is_the_events_of_the_run(portal: Portal) -> None:
    done = portal.run("task", "run", "look", "--json")
    assert done.returncode == 0
    assert done.stdout.isascii()
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {record["task_run"] for record in told} == {runs(portal)[0]["id"]}
    assert [record["event"]["kind"] for record in told] == [
        "task.accepted",
        "task.session.started",
        "task.decided",
        "task.decided",
        "task.mission.sent",
        "task.mission.ended",
        "task.session.stopped",
        "task.decided",
        "task.ended",
    ]


# What it is given


@pytest.mark.parametrize("way", ["text", "file", "input"])
def test_the_input_is_a_text_a_file_or_what_comes_in(portal: Portal, way: str) -> None:
    text = "from the harbour\nand the sea: ü"
    (portal.work / "wish.txt").write_text(text, encoding="utf-8")
    given = {"text": text, "file": "@wish.txt", "input": "-"}[way]
    done = portal.run("task", "run", "greet", "--input", given, said=text)
    assert (done.returncode, done.stdout) == (0, "Hello, captain.\n")
    view = shown(portal, runs(portal)[0]["id"])
    assert view["user_input"] == text
    assert view["attempts"][0]["text"] == f"hello\n{text}"


def test_a_model_and_a_folder_can_be_chosen(portal: Portal) -> None:
    (portal.work / "inner").mkdir()
    run = started(portal, "look", "--model", "second", "--cwd", "inner")
    view = until_ended(portal, run)
    assert (view["state"], view["model"]) == ("succeeded", "second")
    assert view["cwd"] == str(portal.work / "inner")


def test_an_open_session_can_be_lent_and_stays_open(portal: Portal) -> None:
    session = portal.new_session()
    done = portal.run("task", "run", "look", "--session", session)
    assert (done.returncode, done.stdout) == (0, "That is all.\n")
    view = next(item for item in portal.sessions() if item["id"] == session)
    assert (view["state"], view["turns"]) == ("idle", 2)
    said = portal.run("task", "show", runs(portal)[0]["id"]).stdout
    assert f"Session      {session}\n" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lok"], 'There is no task lok. Did you mean "look"?'),
        (["something"], "There is no task something. See: airboss tasks"),
        (["greet"], "The task greet needs input. Tell it what to do."),
        (["look", "--input", "x"], "The task look takes no input. Start it without input."),
        (
            ["greet", "--input", "@none"],
            "Could not read the input none: No such file or directory.",
        ),
        (["look", "--session", "ses_nobody"], "There is no open session ses_nobody."),
        (
            ["look", "--session", "ses_nobody", "--model", "second"],
            "--session cannot be combined with --model or --cwd: a session keeps its own.",
        ),
        (["look", "--cwd", "/no/such/folder"], "The folder /no/such/folder does not exist."),
        (["look", "--model", "none"], "The model none is not available."),
    ],
    ids=str,
)
def test_what_cannot_be_started_is_refused_in_words(
    portal: Portal, words: list[str], said: str
) -> None:
    before = len(runs(portal))
    done = portal.run("task", "run", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}")
    assert len(done.stderr.splitlines()) == 1
    assert len(runs(portal)) == before


@pytest.mark.parametrize(
    "words", [["task", "run", "greet", "--input", "-"], ["chat"]], ids=" ".join
)
def test_bytes_that_are_no_text_are_refused(portal: Portal, words: list[str]) -> None:
    (portal.work / "noise").write_bytes(b"\xff\xfe")
    if words[0] == "task":
        done = portal.run("task", "run", "greet", "--input", "@noise")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "error: Could not read the input noise: it is not valid UTF-8.\n"
    raw = subprocess.run(
        command(*words),
        env=portal.environ,
        cwd=portal.work,
        input=b"\xff\xfe",
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert raw.returncode == 2
    assert b"not valid UTF-8" in raw.stderr
    assert b"Traceback" not in raw.stderr


# Stopped


def test_ctrl_c_stops_the_run_with_its_agents(portal: Portal) -> None:
    with Terminal(portal, "task", "run", "wait") as terminal:
        terminal.see("[SESSION STARTED]")
        terminal.press_ctrl_c()
        terminal.see("The task run was canceled: Stopped by owner.", seconds=10)
        assert terminal.leave() == 3
    assert runs(portal)[0]["state"] == "canceled"
    assert no_session_is_at_work(portal)


def test_whoever_ends_the_command_in_order_stops_the_run(portal: Portal) -> None:
    with running(portal, "task", "run", "wait") as waiting:
        waiting.wait_for("[SESSION STARTED]", beside=True)
        waiting.process.terminate()
        assert waiting.end() == 3
    assert runs(portal)[0]["state"] == "canceled"


def test_a_run_whose_reader_went_away_is_not_left_at_work(portal: Portal) -> None:
    process = subprocess.Popen(
        command("task", "run", "tedious", "--json"),
        env=portal.environ,
        cwd=portal.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert b"task.accepted" in process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 141
    assert runs(portal)[0]["state"] == "canceled"


def test_a_run_that_is_left_at_work_can_be_watched_shown_and_stopped(portal: Portal) -> None:
    run = started(portal, "wait")
    with running(portal, "watch", run) as watching:
        watching.wait_for("[SESSION STARTED]")
        watching.interrupt()
        assert watching.end() == 3
    assert shown(portal, run)["state"] == "running"
    assert f"{run}\twait\trunning\t" in portal.run("task", "list", "--state", "running").stdout
    with running(portal, "watch", run) as watching:
        watching.wait_for("[SESSION STARTED]")
        for _ in ("once", "and twice is as good"):
            done = portal.run("task", "stop", run)
            assert (done.returncode, done.stdout) == (0, "")
            assert done.stderr == "The task run was canceled: Stopped by owner.\n"
        assert watching.end() == 3
    assert no_session_is_at_work(portal)
    done = portal.run("task", "list", "--state", "running")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("No task runs in the state running.")


# Afterwards


def test_a_run_is_shown_with_its_decisions_its_attempts_and_the_answer(portal: Portal) -> None:
    run = started(portal, "greet", "--input", "you")
    view = until_ended(portal, run)
    assert json.loads(portal.run("task", "run", "look", "--detach", "--json").stdout)["id"]
    session = view["attempts"][0]["session"]
    said = portal.run("task", "show", run).stdout.splitlines()
    assert said[:3] == [f"Task run     {run}", "Task         greet", "Input        you"]
    assert said[3].startswith("State        succeeded after 0:0")
    assert said[-7:] == [
        f"[SESSION STARTED] Driving session {session} on rehearsal.",
        "[OPERATION] Sends the prompt.",
        "[TASK SUCCEEDED] The prompt was done.",
        "",
        f"1. prompt, round 0, attempt 1: done, no job tool, {session}",
        "",
        "Hello, captain.",
    ]
    assert all(line == line.rstrip() for line in said)


def test_a_run_is_watched_from_any_event_on(portal: Portal) -> None:
    run = started(portal, "look")
    until_ended(portal, run)
    whole = portal.run("watch", run, "--json").stdout.splitlines()
    part = portal.run("watch", run, "--json", "--after", "3").stdout.splitlines()
    assert part == whole[3:]
    assert json.loads(whole[-1])["event"]["outcome"] == "succeeded"


def test_a_task_that_failed_is_done_again_as_a_run_of_its_own(portal: Portal) -> None:
    assert portal.run("task", "run", "unlucky").returncode == 1
    failed = runs(portal)[0]
    done = portal.run("task", "retry", failed["id"])
    again = runs(portal)[0]
    assert (done.returncode, again["state"], again["task"]) == (1, "failed", "unlucky")
    assert again["id"] != failed["id"]
    assert done.stderr.startswith(f"Task run {again['id']} · unlucky · ")
    # By its id alone, as a run is; and left at work.
    left = portal.run("retry", again["id"], "--detach")
    assert left.returncode == 0, left.stderr
    assert until_ended(portal, left.stdout.strip())["state"] == "failed"


def test_what_has_not_failed_is_not_retried_and_what_has_ended_is_deleted(
    portal: Portal,
) -> None:
    run = started(portal, "look")
    until_ended(portal, run)
    refused = portal.run("task", "retry", run)
    assert refused.returncode == 2
    assert "succeeded. You can retry only a run that failed or was stopped" in refused.stderr
    assert portal.run("delete", run, "--yes").returncode == 0
    assert portal.run("task", "show", run).stderr == f"error: There is no task run {run}.\n"


@pytest.mark.parametrize(
    "words", [["task", "show"], ["task", "stop"], ["task", "retry"], ["watch"]], ids=" ".join
)
def test_a_run_that_nobody_started_is_refused(portal: Portal, words: list[str]) -> None:
    done = portal.run(*words, "tsk_nobody")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: There is no task run tsk_nobody.\n"


# When the server goes away


def test_without_a_server_nothing_is_run(nowhere: Portal) -> None:
    for words in (
        ["run", "look"],
        ["list"],
        ["show", "tsk_x"],
        ["stop", "tsk_x"],
        ["retry", "tsk_x"],
    ):
        done = nowhere.run("task", *words)
        assert (done.returncode, done.stdout) == (4, "")
        assert done.stderr.startswith("error: ")


def test_all_who_watch_a_task_go_on_with_it_after_a_restart(own_portal: Portal) -> None:
    with running(own_portal, "task", "run", "wait") as mine:
        mine.wait_for("[SESSION STARTED]", beside=True)
        run = runs(own_portal)[0]["id"]
        with running(own_portal, "watch", run, "--json") as theirs:
            theirs.wait_for("task.mission.sent")
            own_portal.kill()
            mine.wait_for("Connection lost", beside=True)
            own_portal.start()
            mine.wait_for("Sends the prompt again", beside=True)
            assert own_portal.run("task", "stop", run).returncode == 0
            assert (mine.end(), theirs.end()) == (3, 3)
            seen = [json.loads(line)["seq"] for line in theirs.told().splitlines()]
        end = "The task run was canceled: Stopped by owner.\n"
        assert mine.told(beside=True).endswith(end)
        assert mine.told() == ""
    assert seen == sorted(set(seen))
    assert runs(own_portal)[0]["state"] == "canceled"
    assert no_session_is_at_work(own_portal)


def test_a_server_that_stays_away_is_not_waited_for_for_ever(own_portal: Portal) -> None:
    with running(own_portal, "task", "run", "wait", "--wait", "0.5") as waiting:
        waiting.wait_for("[SESSION STARTED]", beside=True)
        run = runs(own_portal)[0]["id"]
        own_portal.kill()
        assert waiting.end() == 4
        assert f"Continue later with: airboss watch {run} --after " in waiting.told(beside=True)


def test_a_run_that_cannot_be_stopped_is_left_with_a_second_ctrl_c(own_portal: Portal) -> None:
    with running(own_portal, "task", "run", "wait") as waiting:
        waiting.wait_for("[SESSION STARTED]", beside=True)
        own_portal.kill()
        waiting.wait_for("Connection lost", beside=True)
        waiting.interrupt()
        waiting.wait_for("The task run could not be stopped: ", beside=True)
        waiting.interrupt()
        assert waiting.end() == 3
        assert "Exited before the task run had stopped." in waiting.told(beside=True)
