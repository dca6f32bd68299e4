"""Runs whose agents ask: whoever looks at one is told what waits and what to type."""

import json
import re
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.inboxes import http
from tests.cli.running import running
from tests.cli.stage import started, told_of
from tests.cli.terminal import Terminal
from tests.contract.asking import asking_portal_in
from tests.portal import Portal

ENTRY = """\
models: {driving: rehearsal}
promptVariables: {}
tasks:
  greet: {model: {category: driving}, prompt: [Say hello.], requireUserInput: false}
  touch: {model: {category: driving}, prompt: [Please touch it.], requireUserInput: false}
  name: {model: {category: driving}, prompt: [Ask what name.], requireUserInput: false}
jobs:
  touching: {work: {kind: Seq, works: [{kind: Ref, taskId: greet}, {kind: Ref, taskId: touch}]}}
  both: {work: {kind: Par, works: [{kind: Ref, taskId: touch}, {kind: Ref, taskId: name}]}}
grid: []
"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder: Path = tmp_path_factory.mktemp("stage")
    portal = asking_portal_in(folder)
    portal.work.mkdir()
    (portal.work / "airboss.yaml").write_text(ENTRY, encoding="utf-8")
    portal.start()
    yield portal
    portal.stop()


def items_of(portal: Portal, run: str) -> dict[str, str]:
    """What the run asks: the id of each by its kind."""
    told = json.loads(portal.run("inbox", "--run", run, "--json").stdout)
    return {item["asked"]["kind"]: item["id"] for item in told["items"]}


def run_of(text: str) -> str:
    found = re.search(r"run_[0-9a-z]{26}", text)
    assert found, text
    return found[0]


def test_a_run_says_what_waits_and_how_to_decide_it(stage: Portal) -> None:
    with running(stage, "run", "touching") as command:
        command.wait_for("touch is waiting for your approval: Run touch")
        command.wait_for("Decide with: airboss approve itm_")
        run = run_of(command.told())
        item = items_of(stage, run)["approval.asked"]
        assert f"Decide with: airboss approve {item}\n" in command.told()
        shown = stage.run("show", run).stdout
        assert "State        waiting for you after" in shown
        (line,) = [line for line in shown.splitlines() if item in line]
        assert "! touch  waiting for you" in line
        assert f"airboss approve {item}" in line
        rows = [line.split("\t") for line in stage.run("runs").stdout.splitlines()]
        assert rows[0][:3] == [run, "touching", "waiting for you"]
        listed = stage.run("runs", "--state", "waiting-for-person").stdout
        assert listed.startswith(run)
        inbox = stage.run("inbox").stdout
        assert f"{run} (touching)" in inbox
        assert stage.run("approve", item).returncode == 0
        assert command.end() == 0
        assert "touch continues." in command.told()
    assert told_of(stage, run)["state"] == "succeeded"


def test_the_tree_in_a_terminal_says_what_to_type(stage: Portal) -> None:
    with Terminal(stage, "run", "both", COLUMNS="200") as terminal:
        terminal.see("Run run_")
        terminal.see("waiting for you")
        run = str(json.loads(stage.run("runs", "--json").stdout)["items"][0]["id"])
        items = items_of(stage, run)
        terminal.see(f"airboss approve {items['approval.asked']}")
        terminal.see(f"airboss answer {items['question.asked']}")
        assert stage.run("deny", items["approval.asked"]).returncode == 0
        assert stage.run("answer", items["question.asked"], "Ada").returncode == 0
        terminal.see("succeeded")
        assert terminal.leave() == 0


def test_stopping_a_run_withdraws_what_it_asked(stage: Portal) -> None:
    """APR-4."""
    run = started(stage, "touching")
    with running(stage, "watch", run) as watching:
        watching.wait_for("Decide with: airboss approve itm_")
        assert stage.run("stop", run).returncode == 0
        assert watching.end() == 3
    assert items_of(stage, run) == {}


def test_a_task_alone_says_what_waits_too(stage: Portal) -> None:
    with running(stage, "task", "run", "name") as command:
        command.wait_for("Waiting for you: What name? Decide with: airboss answer", beside=True)
        (item,) = re.findall(r"itm_[0-9a-z]{26}", command.told(beside=True))
        assert stage.run("answer", item, "Ada").returncode == 0
        assert command.end() == 0
        assert command.told() == "Thanks.\n"


@pytest.mark.alone
def test_that_something_waits_is_told_at_once(stage: Portal) -> None:
    """Nobody looks for it now and then: what waits comes by the feed."""
    took: list[float] = []
    for _ in range(5):
        with running(stage, "task", "run", "name") as command, http(stage) as client:
            item = ""
            while not item:
                found = client.get("/api/v1/inbox").json()["items"]
                item = found[0]["id"] if found else ""
            began = time.monotonic()
            command.wait_for(f"airboss answer {item}", beside=True)
            took.append(time.monotonic() - began)
            assert stage.run("answer", item, "Ada").returncode == 0
            assert command.end() == 0
    assert statistics.median(took) < 0.2, took
