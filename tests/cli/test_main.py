"""The command itself: it starts fast, and how it ends means something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.portal import Portal, command

HEAVY = ("copilot", "fastapi", "starlette", "sqlalchemy", "uvicorn", "pydantic", "rich")
LIST_MODULES = """
import sys
from airboss.cli.main import main
try:
    main()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def modules_of(portal: Portal, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LIST_MODULES, *words],
        env=portal.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["chat", "--help"],
        ["sessions"],
        ["status"],
        ["entry"],
        ["trust", "--list"],
        ["rules"],
        ["settings"],
        ["watch", "ses_x"],
        ["watch", "run_x"],
        ["run", "job"],
        ["runs"],
        ["show", "run_x"],
        ["export", "ses_x"],
        ["chat", "hi"],
    ],
    ids=" ".join,
)
def test_a_client_loads_nothing_of_the_server(nowhere: Portal, words: list[str]) -> None:
    assert modules_of(nowhere, *words).isdisjoint(HEAVY)


def test_a_cage_is_looked_at_without_the_runtime_or_the_server(nowhere: Portal) -> None:
    light = set(HEAVY) - {"pydantic"} | {"dbos"}
    assert modules_of(nowhere, "cage").isdisjoint(light)


def test_a_server_loads_neither_a_client_nor_what_the_first_task_needs(nowhere: Portal) -> None:
    loaded = modules_of(nowhere, "serve", "--host", "192.0.2.1")  # refused, once all is loaded
    assert "airboss.server" in loaded
    late = {"httpx2", "copilot", "yaml", "dbos", "airboss.engine.durable", "airboss.entry.document"}
    assert loaded.isdisjoint(late)


@pytest.mark.parametrize(
    "words",
    [
        ["sessions"],
        ["models"],
        ["status"],
        ["entry"],
        ["tasks"],
        ["trust", "airboss.yaml"],
        ["rules"],
        ["settings"],
        ["rules", "remove", "rul_x"],
        ["stop"],
        ["stop", "run_x"],
        ["link"],
        ["watch", "ses_x"],
        ["watch", "run_x"],
        ["run", "job"],
        ["run", "job", "--detach"],
        ["runs"],
        ["show", "run_x"],
        ["retry", "run_x"],
        ["again", "run_x"],
        ["delete", "run_x", "--yes"],
        ["export", "ses_x"],
        ["chat", "hi"],
    ],
    ids=" ".join,
)
def test_without_a_server_every_command_says_how_to_start_one(
    nowhere: Portal, words: list[str]
) -> None:
    done = nowhere.run(*words)
    text = "error: No server is running on this data folder. Start one with: airboss serve\n"
    assert (done.returncode, done.stdout, done.stderr) == (4, "", text)
    assert not nowhere.data.exists()


def test_a_server_that_does_not_answer_is_named(nowhere: Portal) -> None:
    done = nowhere.run("status", AIRBOSS_URL="http://127.0.0.1:1")
    assert done.returncode == 4
    assert done.stderr.startswith("error: Could not connect to the server at http://127.0.0.1:1")
    assert "Errno" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["watch"],
        ["run"],
        ["show"],
        ["rehearse"],
        ["rules", "add"],
        ["rules", "add", "perhaps"],
        ["rules", "--json", "remove", "rul_x"],
        ["sessions", "--limit", "0"],
        ["sessions", "--state", "asleep"],
        ["runs", "--state", "asleep"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_a_refusal(nowhere: Portal, words: list[str]) -> None:
    done = nowhere.run(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_wrong_token_says_what_to_do(portal: Portal) -> None:
    done = portal.run("status", AIRBOSS_TOKEN="not-the-token-of-anybody")
    assert done.returncode == 2
    assert "The token in AIRBOSS_TOKEN is not valid" in done.stderr
    assert "airboss token add NAME" in done.stderr


def test_help_and_version_need_nothing(nowhere: Portal) -> None:
    assert nowhere.run("--version").stdout.startswith("airboss ")
    told = nowhere.run("-h").stdout
    for name in ("serve", "setup", "doctor", "chat", "watch", "run", "rehearse", "token"):
        assert f"\n  {name} " in told


def test_a_reader_that_leaves_is_no_trouble(portal: Portal) -> None:
    session = portal.new_session()
    watching = subprocess.Popen(
        command("watch", "--json", session),
        env=portal.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        watching.stdout.read(1)
        watching.stdout.close()
        portal.run("chat", "--session", session, "hello")
        assert (watching.wait(20), watching.stderr.read()) == (141, b"")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--settings", "nowhere.toml"], "The settings file nowhere.toml does not exist."),
        (["--port", "99999"], "port"),
        (["--host", "0.0.0.0"], "0.0.0.0"),  # noqa: S104 - refused is what is tested
        (["--rehearsal", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_server_that_cannot_start_says_why_in_one_line(
    nowhere: Portal, options: list[str], text: str
) -> None:
    done = nowhere.run("serve", "--port", "0", *options)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_come_from_the_data_folder_and_options_win(tmp_path: Path) -> None:
    portal = Portal(tmp_path, ("--permissions", "deny-all"))
    portal.data.mkdir()
    settings = 'permissions = "approve-all"\nquiet_seconds = 30.0\nhosts = ["airboss.test"]\n'
    (portal.data / "settings.toml").write_text(settings, encoding="utf-8")
    portal.start()
    told = json.loads(portal.run("status", "--json").stdout)
    portal.stop()
    assert told["policy"] == "deny-all"


def test_setup_without_npm_says_what_to_install(nowhere: Portal) -> None:
    empty = nowhere.folder / "cache"
    done = nowhere.run("setup", AIRBOSS_CACHE=str(empty), PATH=os.devnull)
    assert done.returncode == 1
    assert "npm was not found" in done.stderr
    assert "Traceback" not in done.stderr
