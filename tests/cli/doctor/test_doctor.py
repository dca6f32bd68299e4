"""The doctor: each check with its finding, its remedy and its time."""

import json
import os
import sys
from typing import Any

import pytest

from tests.cli.terminal import Terminal
from tests.portal import Portal

LOCAL = [
    "python",
    "data-folder",
    "disk",
    "settings",
    "token-file",
    "runtime",
    "node",
    "git",
    "sign-in",
    "provider-keys",
    "agents-user",
    "memory",
    "server",
    "mcp-servers",
    "cage",
]


def examined(portal: Portal, **environ: str) -> dict[str, dict[str, Any]]:
    done = portal.run("doctor", "--json", **environ)
    checks = json.loads(done.stdout)["checks"]
    failed = any(check["state"] == "fail" for check in checks)
    assert done.returncode == int(failed), done.stderr
    for check in checks:
        assert set(check) == {"id", "state", "summary", "detail", "remedy", "ms"}
        assert check["summary"]
        assert check["state"] == "ok" or check["remedy"]
    return {check["id"]: check for check in checks}


def test_without_a_server_the_machine_is_examined(nowhere: Portal) -> None:
    found = examined(nowhere)
    assert list(found) == LOCAL
    assert found["python"]["state"] == "ok"
    assert found["server"]["summary"] == "No server is running on this data folder."
    assert not nowhere.data.exists()


def test_with_a_server_its_own_checks_come_behind(portal: Portal) -> None:
    found = examined(portal)
    assert list(found)[: len(LOCAL)] == LOCAL
    assert found["server.answers"]["state"] == "ok"
    assert found["server.runtime"]["state"] == "ok"
    assert found["runtime"]["state"] == "ok"


def test_a_server_that_refuses_us_is_a_finding(portal: Portal) -> None:
    found = examined(portal, AIRBOSS_TOKEN="not-the-token-of-anybody")
    assert found["server.answers"]["state"] == "fail"


def test_sign_in_is_told_by_name_and_never_by_value(nowhere: Portal) -> None:
    secret = "ghp_this-is-not-shown"
    done = nowhere.run("doctor", "--json", GH_TOKEN=secret, GITHUB_TOKEN=secret)
    assert secret not in done.stdout + done.stderr
    found = examined(nowhere, GH_TOKEN=secret, GITHUB_TOKEN=secret)["sign-in"]
    assert found["summary"] == "GH_TOKEN is set and used. GITHUB_TOKEN is ignored."


def test_a_runtime_that_is_not_there_fails_with_the_command_to_run(nowhere: Portal) -> None:
    empty = str(nowhere.folder)
    places = {"AIRBOSS_CACHE": empty, "COPILOT_CLI_EXTRACT_DIR": empty, "COPILOT_CLI_PATH": ""}
    found = examined(nowhere, **places)["runtime"]
    assert (found["state"], found["remedy"]) == ("fail", "Run: airboss setup")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such bits")
def test_what_others_can_read_is_found(nowhere: Portal) -> None:
    nowhere.data.mkdir()
    nowhere.data.chmod(0o755)
    token = nowhere.data / "token"
    token.write_text("the-token-of-this-folder", encoding="utf-8")
    token.chmod(0o644)
    found = examined(nowhere)
    assert found["data-folder"]["remedy"] == f"chmod 700 {nowhere.data}"
    assert found["token-file"]["state"] == "fail"


def test_settings_are_read_and_keys_are_looked_for(nowhere: Portal) -> None:
    nowhere.data.mkdir(mode=0o700)
    settings = nowhere.data / "settings.toml"
    settings.write_text(
        '[[providers]]\nname = "own"\nbase_url = "http://127.0.0.1:1"\n'
        'key_variable = "OWN_KEY"\nmodels = ["m"]\n',
        encoding="utf-8",
    )
    assert examined(nowhere)["provider-keys"]["summary"] == "Not set here: OWN_KEY (for own)."
    found = examined(nowhere, OWN_KEY="x")["provider-keys"]
    assert found["state"] == "ok"
    assert found["detail"] == "Reached over http, which others on the way could read: own."
    settings.write_text("port = 'many'", encoding="utf-8")
    found = examined(nowhere)["settings"]
    assert found["state"] == "fail"
    assert "port" in found["summary"]


def test_programs_and_addresses_of_mcp_servers_are_looked_for(nowhere: Portal) -> None:
    nowhere.data.mkdir(mode=0o700)
    (nowhere.data / "settings.toml").write_text(
        '[session.mcp_servers]\nfiles = {command = ["no-such-program"]}\n'
        'shell = {command = ["sh"]}\nweb = {url = "http://127.0.0.1:1/mcp"}\n'
        'wiki = {url = "https://wiki.example.com", token_variable = "WIKI"}\n',
        encoding="utf-8",
    )
    found = examined(nowhere)["mcp-servers"]
    assert (found["state"], found["summary"]) == (
        "warn",
        "Not there: files: the program no-such-program was not found; "
        "web: 127.0.0.1:1 does not answer; wiki: the variable WIKI is not set here.",
    )


def test_a_pipe_gets_a_line_a_check_and_a_person_the_count(portal: Portal) -> None:
    lines = portal.run("doctor").stdout.splitlines()
    assert [line.split("\t")[1] for line in lines][: len(LOCAL)] == LOCAL
    with Terminal(portal, "doctor") as terminal:
        assert terminal.leave() == 0
        assert "✓" in terminal.seen
        assert f"{len(lines)} checks: 0 failed" in terminal.seen


def test_a_home_that_nobody_may_enter_is_no_stack_trace(nowhere: Portal) -> None:
    found = examined(nowhere, AIRBOSS_DATA=os.devnull)
    assert found["data-folder"]["state"] == "fail"


def test_a_repair_makes_our_own_files_private_again_and_no_others(portal: Portal) -> None:
    token, other = portal.data / "token", portal.data / "somebody-elses"
    other.write_text("", "utf-8")
    for path, mode in ((portal.data, 0o755), (token, 0o644), (other, 0o644)):
        path.chmod(mode)
    said = portal.run("doctor", "--repair").stdout
    assert said.count("Repaired: ") == 2
    modes = [oct(path.stat().st_mode & 0o777) for path in (portal.data, token, other)]
    assert modes == ["0o700", "0o600", "0o644"]
    assert "Repaired" not in portal.run("doctor", "--repair").stdout
    other.unlink()
