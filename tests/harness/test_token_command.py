"""A command that prints the token of an account, and what it may not print."""

import sys

import pytest

from airboss.harness.token_command import NoToken, run_token_command


async def test_it_sees_no_variable_of_ours() -> None:
    program = "import os; print(os.environ['OTHER'] + os.environ.get('AIRBOSS_TOKEN', '-none'))"
    environ = {"OTHER": "token", "AIRBOSS_TOKEN": "secret"}
    token = await run_token_command((sys.executable, "-c", program), environ)
    assert (token.text, token.is_renewed) == ("token-none", False)
    assert "token-none" not in repr(token)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import sys; print('token-x'); sys.exit(3)", "ended with code 3"),
        ("print('two words')", "did not print a token and nothing else"),
        ("print('{')", "JSON that cannot be read"),
        ("print('{\"a\":' * 10000)", "JSON that cannot be read"),
        ("print('{}')", "JSON without accessToken"),
        ("pass", "did not print a token"),
    ],
)
async def test_a_command_without_a_token_is_told_without_its_words(
    program: str, words: str
) -> None:
    with pytest.raises(NoToken, match=words) as refused:
        await run_token_command((sys.executable, "-c", program), {})
    assert "token-x" not in str(refused.value)


async def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(NoToken, match="/nowhere/at-all could not be run"):
        await run_token_command(("/nowhere/at-all",), {})
