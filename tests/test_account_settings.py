"""What is said of an account of Copilot, and what is refused of it in words."""

from pathlib import Path

import pytest

from airboss.account_settings import Account
from airboss.errors import SettingsInvalid
from airboss.settings import load_settings, shown_settings

HEAD = 'port = 1\n\n[[accounts]]\nname = "good"\ntoken_variable = "GOOD"\n\n'
ONE_OF = "Give it exactly one of token_variable, token_command, token_kept and cli = true."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_a_token_comes_from_one_of_four_places(file: Path) -> None:
    file.write_text(
        """
        [[accounts]]
        name = "work"
        token_variable = "WORK"
        [[accounts]]
        name = "team"
        token_command = "gh auth token"
        [[accounts]]
        name = "spare"
        token_kept = "spare-token"
        [[accounts]]
        name = "mine"
        cli = true
        """,
        "utf-8",
    )
    settings = load_settings(file, {})
    assert settings.accounts == (
        Account(name="work", token_variable="WORK"),
        Account(name="team", token_command=("gh", "auth", "token")),
        Account(name="spare", token_kept="spare-token"),
        Account(name="mine", cli=True),
    )
    assert [one.source for one in settings.accounts] == ["variable", "command", "kept", "cli"]
    assert shown_settings(settings)["accounts"] == ["work", "team", "spare", "mine"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('name = "p"', f"accounts.1 (in the table at line 7): {ONE_OF}"),
        ('name = "p"\ncli = true\ntoken_kept = "p"', ONE_OF),
        ('name = "p"\ncli = false', ONE_OF),
        ('name = "CLI"\ncli = true', "accounts.1.name (in the table at line 7): The name CLI"),
        (
            'name = "../p"\ncli = true',
            "accounts.1.name (in the table at line 7): Should have letters",
        ),
        ('name = "p"\ntoken_variable = "$P"', "accounts.1.token_variable"),
        ('name = "p"\ntoken_kept = "../p"', "accounts.1.token_kept"),
        ('name = "p"\ntoken_command = []', "accounts.1.token_command"),
        ('name = "p"\ntoken = "gho_secret"\ncli = true', "accounts.1.token"),
        ('name = "good"\ncli = true', "accounts: the name 'good' is used twice."),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(file: Path, table: str, words: str) -> None:
    file.write_text(f"{HEAD}[[accounts]]\n{table}\n", "utf-8")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(file, {})
    assert words in str(refused.value)


def test_a_token_that_stands_in_the_file_by_mistake_is_not_repeated(file: Path) -> None:
    file.write_text(f'{HEAD}[[accounts]]\nname = "p"\ntoken_variable = "ghp_x/y=="\n', "utf-8")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(file, {})
    assert "ghp_x" not in str(refused.value)
