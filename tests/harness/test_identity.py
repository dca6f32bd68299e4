"""Who we are to Copilot."""

import pytest

from airboss.harness.identity import Identity, find_identity

ORDER = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")


@pytest.mark.parametrize("first", range(3))
def test_the_most_specific_variable_wins(first: int) -> None:
    environ = {name: f"token of {name}" for name in ORDER[first:]}
    assert find_identity(environ) == Identity(ORDER[first], f"token of {ORDER[first]}")


def test_an_empty_variable_counts_as_none_and_a_line_break_is_no_part_of_a_token() -> None:
    environ = {"COPILOT_GITHUB_TOKEN": " ", "GH_TOKEN": "", "GITHUB_TOKEN": " gho_x\n"}
    assert find_identity(environ) == Identity("GITHUB_TOKEN", "gho_x")


def test_without_a_token_the_cli_signs_in() -> None:
    assert find_identity({"PATH": "/bin"}) == Identity("cli", None)


def test_a_token_is_not_in_what_is_printed() -> None:
    assert repr(find_identity({"GH_TOKEN": "gho_x"})) == "Identity(how='GH_TOKEN')"
