"""The hooks of the examples, run as in a session, say what their README says."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.hook_effects import no_of
from airboss.harness.hook_plan import HookPlan
from airboss.harness.setup import in_settings
from airboss.model.setup import HookSetup
from airboss.runtime.hook_process import HookAnswer, HookPrograms
from airboss.session_keys import SessionSettings

FOLDER = Path(__file__).parents[2] / "examples" / "hooks"
SETTINGS = (FOLDER / "README.md").read_text("utf-8").partition("```toml\n")[2].partition("```")[0]


def hooks(cwd: Path) -> dict[str, HookSetup]:
    """As the README has them in settings, by the last part of their names."""
    text = SETTINGS.replace("~/hooks", str(FOLDER))
    keys = SessionSettings.model_validate(tomllib.loads(text)["session"])
    plan = HookPlan((in_settings(keys),))
    plan.check()
    found = plan.find(cwd, lambda word: word)
    return {(one.python or one.command[0]).split("/")[-1].split(":")[-1]: one for one in found}


async def said(hook: HookSetup, cwd: Path, **given: Any) -> HookAnswer:
    answer = await HookPrograms(dict(os.environ), cwd).ask(hook, given)
    assert answer.error is None, answer
    return answer


def refusal(answer: HookAnswer) -> str | None:
    return answer.no or no_of(answer.output)


@pytest.mark.parametrize(
    ("command", "is_refused"),
    [("git push", True), ("git -C x push origin", True), ("git status", False), ("ls", False)],
)
async def test_nobody_pushes(tmp_path: Path, command: str, is_refused: bool) -> None:
    hook = hooks(tmp_path)["no-push.sh"]
    answer = await said(hook, tmp_path, toolName="bash", toolArgs={"command": command})
    assert bool(refusal(answer)) == is_refused


async def test_some_folders_are_kept_and_failures_noted(tmp_path: Path) -> None:
    known = hooks(tmp_path)
    keep = known["keep_folders"]
    refused = await said(keep, tmp_path, toolName="edit", toolArgs={"path": "/x/vendor/a.py"})
    assert "vendor/" in str(refusal(refused))
    fine = await said(keep, tmp_path, toolName="edit", toolArgs={"path": "/x/src/vendors.py"})
    assert refusal(fine) is None
    await said(known["note_failures"], tmp_path, error="boom", airboss={"session": "ses_1"})
    assert '"session": "ses_1"' in (tmp_path / "failures.jsonl").read_text("utf-8")


async def test_the_agent_stops_when_the_tests_pass(tmp_path: Path) -> None:
    hook = hooks(tmp_path)["tests_first"]
    assert refusal(await said(hook, tmp_path)) is None
    makefile = tmp_path / "Makefile"
    makefile.write_text("test:\n\t@echo one failed; false\n", "utf-8")
    assert "one failed" in str(refusal(await said(hook, tmp_path)))
    assert refusal(await said(hook, tmp_path, stopHookActive=True)) is None
    makefile.write_text("test:\n\t@true\n", "utf-8")
    assert refusal(await said(hook, tmp_path)) is None
