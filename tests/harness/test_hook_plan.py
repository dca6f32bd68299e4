"""The hooks of a session that is to be opened: their order, who may have some, and their files."""

from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.hook_plan import HookPlan, digests_of
from airboss.harness.setup import Said, in_settings
from airboss.model.redaction import Redactor
from airboss.session_keys import SessionSettings


def keys(**hooks: Any) -> SessionSettings:
    return SessionSettings.model_validate({"hooks": hooks})


def test_those_of_the_settings_come_first_and_only_of_those_who_may_widen(tmp_path: Path) -> None:
    hook = [{"command": ["cat"]}]
    plan = HookPlan(
        (
            in_settings(keys(pre_tool_use=hook)),
            Said(keys(preToolUse=hook), "entry.", may_widen=True, must_be_trusted=True),
            Said(keys(preToolUse=hook)),
        )
    )
    found = plan.find(tmp_path, str)
    assert [hook.place for hook in found] == [
        "settings: session.hooks.preToolUse[0]",
        "entry.hooks.preToolUse[0]",
    ]
    assert [hook.needs_trust for hook in found] == [False, True]


def test_a_relative_path_means_nothing_in_settings() -> None:
    plan = HookPlan((in_settings(keys(agentStop=[{"command": ["./check.sh"]}])),))
    with pytest.raises(Invalid, match=r"^settings: session\.hooks\.agentStop\[0\]\.command\[0\]: "):
        plan.check()
    HookPlan((in_settings(keys(agentStop=[{"command": ["~/check.sh"]}])),)).check()


def test_a_tool_is_named_only_where_the_hook_is_about_one() -> None:
    said = Said(keys(agentStop=[{"command": ["cat"], "tool": "bash"}]))
    with pytest.raises(Invalid, match=r"^hooks\.agentStop\[0\]\.tool: Is for hooks about tools"):
        HookPlan((said,)).check()


def test_a_hook_that_is_there_in_two_spellings_is_refused_and_none_is_left_out() -> None:
    hooks = {"preToolUse": [{"command": ["cat"]}], "pre_tool_use": [{"command": ["false"]}]}
    with pytest.raises(ValueError, match="preToolUse is there twice, in two spellings"):
        keys(**hooks)


def test_the_server_of_a_tool_is_one_of_the_session_where_it_is_known_which_it_has() -> None:
    said = keys(preToolUse=[{"command": ["cat"], "tool": "wiki/find"}])
    lost = r'^hooks\.preToolUse\[0\]\.tool: There is no MCP server "wiki"'
    with pytest.raises(Invalid, match=lost):
        HookPlan((Said(said),)).check()
    HookPlan((in_settings(said), Said(said, "entry."))).check()
    wiki = SessionSettings.model_validate({"mcpServers": {"wiki": {"command": ["serve"]}}})
    HookPlan((in_settings(wiki), Said(said))).check()


def test_files_that_are_named_have_their_digests(tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_text("#!/bin/sh\n", "utf-8")
    script.chmod(0o755)
    hooks = keys(agentStop=[{"command": ["./check.sh", "-x"]}])
    [found] = HookPlan((Said(hooks, may_widen=True),)).find(tmp_path, str)
    assert found.command == (str(script), "-x")
    assert found.files == digests_of([str(script)])
    assert digests_of([str(tmp_path / "none")]) == {}


def test_a_secret_in_a_command_is_refused_and_not_left_out_in_silence(tmp_path: Path) -> None:
    hooks = keys(agentStop=[{"command": ["cat", "ghp_0123456789abcdefghij0123"]}])
    with pytest.raises(Invalid, match=r"agentStop\[0\]\.command\[1\]: It has a secret in it"):
        HookPlan((Said(hooks, may_widen=True),)).find(tmp_path, Redactor().text)


def test_a_file_that_the_parser_gives_up_on_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text("x = " + "-" * 50_000 + "1\n", "utf-8")
    hooks = keys(agentStop=[{"python": "hooks.py:f"}])
    with pytest.raises(Invalid, match=r"agentStop\[0\]\.python: .*(nested too deeply|not Python)"):
        HookPlan((Said(hooks, may_widen=True),)).find(tmp_path, str)
