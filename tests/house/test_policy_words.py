"""What documents and the rehearsal's greeting say of permissions is what the policies decide."""

import re
from pathlib import Path

import pytest

from airboss.harness.permissions import MustAsk, PolicyRule
from airboss.runtime.permission import PermissionRequest
from airboss.runtime.rehearsal import builtin_script
from airboss.settings import POLICIES, Policy, Settings

DOCS = Path(__file__).parents[2] / "docs"
DEFAULT = Settings.model_fields["permissions"].default
ROW = re.compile(r"^ *\| `([\w-]+)`(, the default)? \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def verdict(policy: Policy, kind: str, cwd: Path) -> str:
    request = PermissionRequest("req", None, kind, None, (str(cwd / "file"),), None, None, "", {})
    is_caged = policy == "caged"  # else it is never that
    answer = PolicyRule(policy, cwd, is_caged=is_caged).decide(request).answer
    if isinstance(answer, MustAsk):
        return "asked"
    return "allowed" if answer.allowed else "refused"


def word(cell: str) -> str:
    """What a page says, as one of the three."""
    found = re.search(r"\b(allowed|refused|asked|approval)\b", cell)
    assert found, cell
    return found[1].replace("approval", "asked")


@pytest.mark.parametrize("page", ["built-in-entry.md", "permissions.md"])
def test_a_page_says_of_every_policy_what_it_decides(page: str, tmp_path: Path) -> None:
    rows = {row[0]: row[1:] for row in ROW.findall((DOCS / page).read_text("utf-8"))}
    assert [name for name, row in rows.items() if row[0]] == [DEFAULT]
    for policy in POLICIES:
        _, reading, writing = rows[policy]
        assert word(reading) == verdict(policy, "read", tmp_path), policy
        for kind in ("write", "shell"):
            assert word(writing) == verdict(policy, kind, tmp_path), policy


def test_the_greeting_of_the_rehearsal_says_what_happens_by_default(tmp_path: Path) -> None:
    greeting = next(
        step.say
        for rule in builtin_script().rules
        for step in rule.steps
        if step.say and step.say.startswith("Hello!")
    )
    (line,) = [line for line in greeting.splitlines() if "`write a note`" in line]
    assert "by default" in line
    assert word(line) == verdict(DEFAULT, "write", tmp_path)
