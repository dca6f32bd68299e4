"""Who forbids a command means it in whatever way it is written."""

import pytest

from airboss.harness.spellings import Spellings


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "  git   push origin",
        "/usr/bin/git push",
        "cd x && git push",
        "FOO=1 git push",
        "2>/dev/null git push",
        "2> /dev/null git push",
        "git -C /srv push",
        "git --no-pager push",
        "sh -c 'git push'",
        "sudo git push",
        "xargs git push",
        "'git' push",
        "if true; then git push; fi",
        "git \\\npush",
        "{git,push}",
    ],
)
def test_another_spelling_of_what_is_forbidden_fits(command: str) -> None:
    assert Spellings.of_command(command).fit("git push*")


@pytest.mark.parametrize("command", ["git pull", "echo push", "git log", "mygit push"])
def test_another_command_does_not(command: str) -> None:
    assert not Spellings.of_command(command).fit("git push*")


def test_the_segments_that_the_runtime_named_count_too() -> None:
    assert not Spellings.of_command("odd").fit("rm *")
    assert Spellings.of_command("odd", ["rm -r x"]).fit("rm *")
