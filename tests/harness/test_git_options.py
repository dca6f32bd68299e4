"""What a wildcard in a rule for git may stand for."""

import pytest

from airboss.harness.git_options import git_is_harmless, without_options
from airboss.harness.program_options import Argument


def harmless(rule: str, rest: str) -> bool:
    """Of a rule that spells out the first words, with a wildcard for the rest."""
    spelled = [Argument(text, is_free=False) for text in rule.split()]
    return git_is_harmless([*spelled, *(Argument(text, is_free=True) for text in rest.split())])


@pytest.mark.parametrize(
    ("rule", "rest"),
    [
        ("", "status"),
        ("", "log --oneline -5"),
        ("commit", "-m words"),
        ("push", "origin main"),
        ("config", "--get user.name"),
        ("remote", "show origin"),
        ("--no-pager", "diff"),
    ],
)
def test_ordinary_work_is_harmless(rule: str, rest: str) -> None:
    assert harmless(rule, rest)


@pytest.mark.parametrize(
    ("rule", "rest"),
    [
        ("", "-c core.pager=x log"),
        ("", "my-alias"),
        ("", "difftool"),
        ("config", "alias.x !sh"),
        ("push", "ext::sh"),
        ("push", "/srv/repository"),
        ("fetch", "--upload-pack=x origin"),
        ("grep", "-Osh x"),
        ("rebase", "--exec sh"),
        ("mv", "x .git/hooks/pre-commit"),
    ],
)
def test_what_runs_programs_or_leads_elsewhere_is_not(rule: str, rest: str) -> None:
    assert not harmless(rule, rest)


def test_options_in_front_of_the_command_are_passed_over() -> None:
    assert list(without_options(["-C", "/srv", "--no-pager", "push", "-f"])) == ["push", "-f"]
