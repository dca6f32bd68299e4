"""The hooks of a session that is to be opened: their order, who may have some, and their files."""

from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.hook_plan import HookPlan, digests_of
from airboss.harness.setup import Said, in_settings
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


def test_files_that_are_named_have_their_digests(tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_text("#!/bin/sh\n", "utf-8")
    script.chmod(0o755)
    hooks = keys(agentStop=[{"command": ["./check.sh", "-x"]}])
    [found] = HookPlan((Said(hooks, may_widen=True),)).find(tmp_path, str)
    assert found.command == (str(script), "-x")
    assert found.files == digests_of([str(script)])
    assert digests_of([str(tmp_path / "none")]) == {}
