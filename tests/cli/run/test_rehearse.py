"""`airboss rehearse`: a job for nothing, on a server that leaves nothing behind."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from airboss.cli.run.rehearse import _wait  # pyright: ignore[reportPrivateUsage]
from airboss.cli.trouble import Trouble
from airboss.runtime.rehearsal.stage import Stage
from tests.cli.running import running
from tests.cli.stage import ENTRY, SCRIPT
from tests.cli.terminal import Terminal
from tests.portal import Portal

OTHER_MODELS = ENTRY.replace("{driving: rehearsal}", "{driving: gpt-5.2, spare: claude}").replace(
    "grid: []",
    "grid: []\ndrivingSessionRetries:\n"
    "  [{modelId: gpt-5.2, retries: 1}, {modelId: mini, retries: 2}]\n",
)


@pytest.fixture
def project(tmp_path: Path, quick_python: dict[str, str]) -> Portal:
    """A folder with an entry and a script; no server runs."""
    own = {"TMPDIR": str(tmp_path / "tmp"), "GH_TOKEN": "none", **quick_python}
    portal = Portal(tmp_path, extra_environ=own)
    portal.work.mkdir()
    (tmp_path / "tmp").mkdir()
    (portal.work / "airboss.yaml").write_text(OTHER_MODELS, encoding="utf-8")
    (portal.work / "play.yaml").write_text(SCRIPT, encoding="utf-8")
    return portal


def is_clean(portal: Portal) -> bool:
    """Neither a folder nor a server is left."""
    folder = portal.folder / "tmp"
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return not list(folder.iterdir()) and str(folder) not in told.stdout


def test_the_project_s_job_is_played_on_any_model(project: Portal) -> None:
    done = project.run("rehearse", "rounds", "--script", "play.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "This is free." in done.stderr
    assert "Driving session" in done.stdout
    assert re.search(r"on (gpt-5\.2|mini)\.", done.stdout)
    assert "enough, round 2 answered true" in done.stdout
    assert not project.data.exists()
    assert is_clean(project)


def test_without_a_script_the_happy_path_is_played(project: Portal) -> None:
    done = project.run("rehearse", "broken", "--json")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert records[-1]["event"]["outcome"] == "succeeded"


def test_a_failure_and_what_is_refused_have_their_codes(project: Portal) -> None:
    done = project.run("rehearse", "broken", "--script", "play.yaml")
    assert done.returncode == 1
    done = project.run("rehearse", "nothing")
    assert done.returncode == 2
    assert "There is no job nothing." in done.stderr
    assert is_clean(project)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--script", "nowhere.yaml"], "nowhere.yaml"),
        (["--script", "airboss.yaml"], "airboss.yaml:1:1"),
        (["--entry", "play.yaml"], "airboss check"),
        (["--entry", "entry.py"], "only after a person has trusted it"),
        (["--cwd", "nowhere"], "does not exist."),
    ],
)
def test_what_cannot_be_played_is_said_before_a_server_starts(
    project: Portal, words: list[str], text: str
) -> None:
    (project.work / "entry.py").write_text("entry = 1\n", encoding="utf-8")
    done = project.run("rehearse", "two", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_the_agent_runtime_is_the_one_of_the_settings(project: Portal) -> None:
    project.data.mkdir()
    settings = project.data / "settings.toml"
    settings.write_text('copilot_cli = "/nowhere/copilot"\n', encoding="utf-8")
    done = project.run("rehearse", "two")
    assert done.returncode == 1
    assert "There is no agent runtime at /nowhere/copilot" in done.stdout
    assert is_clean(project)


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    with log.open("wb") as said:
        words = [sys.executable, "-c", "print('one'); print('error: no room')"]
        process = subprocess.Popen(words, stdout=said)
    with process, pytest.raises(Trouble, match="did not start: no room"):
        _wait(process, Stage(tmp_path))


def test_a_python_entry_that_is_trusted_for_once(project: Portal) -> None:
    (project.work / "airboss.yaml").unlink()
    text = f"import yaml\nentry = yaml.safe_load({OTHER_MODELS!r})\n"
    (project.work / "airboss.py").write_text(text, encoding="utf-8")
    assert project.run("rehearse", "two").returncode == 2
    done = project.run("rehearse", "two", "--trust")
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_the_run_and_the_server(project: Portal) -> None:
    with Terminal(project, "rehearse", "slow", "--script", "play.yaml") as terminal:
        terminal.see("sleep  0:0")
        terminal.press_ctrl_c()
        terminal.see("canceled")
        assert terminal.leave() == 3
    assert is_clean(project)


def test_an_end_in_order_ends_the_server_too(project: Portal) -> None:
    with running(project, "rehearse", "slow", "--script", "play.yaml") as rehearsal:
        rehearsal.wait_for("This is free.", beside=True)
        rehearsal.process.send_signal(signal.SIGHUP)
        assert rehearsal.end() == 3
    assert is_clean(project)


def test_a_kill_ends_the_server_too(project: Portal) -> None:
    with running(project, "rehearse", "slow", "--script", "play.yaml") as rehearsal:
        rehearsal.wait_for("This is free.", beside=True)
        assert not is_clean(project)
        rehearsal.process.kill()
        assert rehearsal.end() == -signal.SIGKILL
    until = time.monotonic() + 20
    while not is_clean(project) and time.monotonic() < until:
        time.sleep(0.1)
    assert is_clean(project)
