"""A command falls into the words that a shell would see."""

import subprocess

import pytest

from airboss.harness.command_words import Word, texts, words

SAME_AS_A_SHELL = [
    "ls -la 'a b' \"c d\"",
    r"echo a\ b \"c\" 'it'\''s'",
    "git commit -m 'one\ntwo'",
    "echo one\\\ntwo  three",
    r"printf %s $'a\tb\x41\101'",
    'echo "say \\"hi\\" \\\\ and \\n"',
    "echo '' \"\" end",
]


@pytest.mark.parametrize("command", SAME_AS_A_SHELL)
def test_words_are_those_of_a_real_shell(command: str) -> None:
    script = f"printf '%s\\0' {command}"
    said = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
    assert texts(command) == said.decode().split("\0")[:-1]


def test_it_is_told_where_a_shell_would_put_more_into_a_word() -> None:
    assert words("a $b \"$c\" '$d' \\$e `f`") == [
        Word("a"),
        Word("$b", expands=True),
        Word("$c", expands=True),
        Word("$d"),
        Word("$e"),
        Word("`f`", expands=True),
    ]


def test_it_is_told_where_names_of_files_may_come_in() -> None:
    assert words("*.py a[bc] '*' \"a\"?") == [
        Word("*.py", globs=True, begins_open=True),
        Word("a[bc]", globs=True),
        Word("*"),
        Word("a?", globs=True),
    ]


def test_an_open_quote_is_refused_or_read_as_well_as_it_can_be() -> None:
    with pytest.raises(ValueError, match="not closed"):
        words("echo 'a b")
    assert texts("echo 'a b") == ["echo", "a", "b"]
