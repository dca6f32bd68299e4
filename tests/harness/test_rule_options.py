"""What “always allow” offers: rules from narrow to wide, with what else each would allow."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.permissions import PolicyRule
from airboss.harness.rule_options import rule_options
from airboss.harness.rules import holds
from airboss.model.inbox_events import AlwaysOption
from airboss.model.redaction import Redactor
from airboss.runtime.permission import PermissionRequest, permission_request


def asked(kind: str, **request: Any) -> PermissionRequest:
    return permission_request({"requestId": "r", "permissionRequest": {"kind": kind, **request}})


def shell(command: str) -> PermissionRequest:
    return asked("shell", fullCommandText=command)


def options(request: PermissionRequest, cwd: Path) -> dict[str, AlwaysOption]:
    found = rule_options(request, PolicyRule("ask", cwd), Redactor(("hush-hush-hush",)))
    return {one.id: one for one in found}


def test_a_command_offers_itself_its_program_and_the_session(tmp_path: Path) -> None:
    found = options(shell("git clean -fdx -e .venv"), tmp_path)
    assert list(found) == ["exact", "subcommand", "program", "session"]
    assert found["exact"].example == ""
    assert found["exact"].rule.command == "git clean -fdx -e .venv"
    assert found["subcommand"].rule.command == "git clean *"
    assert found["subcommand"].example == "git clean -fdx"
    assert found["program"].rule.command == "git *"
    assert found["program"].example == "git reset --hard HEAD~3"
    assert found["program"].rule.folder == str(tmp_path)
    assert found["session"].until == "session"
    assert [one.until for one in found.values()].count("session") == 1


@pytest.mark.parametrize(
    "command", ["git clean -n", "pytest -q tests", "rm a.txt", "npm run build"]
)
def test_every_option_allows_the_request_and_every_example_is_true(
    tmp_path: Path, command: str
) -> None:
    request = shell(command)
    for option in options(request, tmp_path).values():
        assert holds(option.rule, request, tmp_path), option
        if option.example:
            other = replace(request, command=option.example, raw={})
            assert holds(option.rule, other, tmp_path), option


def test_what_would_not_hold_is_not_offered(tmp_path: Path) -> None:
    assert list(options(shell("ls && rm x"), tmp_path)) == ["exact", "session"]
    assert options(shell("echo hush-hush-hush"), tmp_path) == {}


def test_a_change_offers_its_file_its_folder_and_all_below(tmp_path: Path) -> None:
    (tmp_path / "src/log").mkdir(parents=True)
    request = asked("write", fileName=f"{tmp_path}/src/log/a.py", diff="+1")
    found = options(request, tmp_path)
    assert list(found) == ["exact", "beside", "session", "folder"]
    assert found["beside"].rule.path == f"{tmp_path}/src/log/*"
    assert found["folder"].rule.path == f"{tmp_path}/*"
    outside = asked("write", fileName="/etc/hosts", diff="+1")
    assert list(options(outside, tmp_path)) == ["exact"]


def test_hosts_and_tools_have_options_of_their_own(tmp_path: Path) -> None:
    url = options(asked("url", url="https://api.x.example/a"), tmp_path)
    assert [(name, one.rule.host) for name, one in url.items()] == [
        ("exact", "api.x.example"),
        ("domain", "*.x.example"),
        ("session", "*"),
    ]
    caged = options(asked("host", url="https://api.x.example/"), tmp_path)
    assert [(name, one.rule.host, one.until) for name, one in caged.items()] == [
        ("folder", "api.x.example", None),
        ("session", "api.x.example", "session"),
        ("folder-domain", "*.x.example", None),
        ("exact", "api.x.example", None),
        ("domain", "*.x.example", None),
    ]
    in_folder = [name for name, one in caged.items() if one.rule.folder == str(tmp_path)]
    assert in_folder == ["folder", "folder-domain"]
    assert {one.rule.wish for one in caged.values()} == {"host"}
    tool = options(asked("mcp", serverName="tracker", toolName="get"), tmp_path)
    assert [(name, one.rule.tool, one.until) for name, one in tool.items()] == [
        ("exact", "tracker/get", None),
        ("session", "tracker/get", "session"),
        ("server", "tracker/*", None),
    ]
