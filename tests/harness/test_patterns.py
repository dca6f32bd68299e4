"""Patterns with `*` and `?`, the parts of a command, and hosts that are beyond doubt."""

import pytest

from airboss.harness.patterns import (
    around_wildcards,
    fits,
    fixed_part,
    host_of,
    is_assignment,
    literal,
    pieces,
    plain,
)


@pytest.mark.parametrize(
    ("pattern", "text", "fit"),
    [
        ("git *", "git push", True),
        ("git *", "git", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        (r"a\*c", "a*c", True),
        (r"a\*c", "abc", False),
        ("[ab]", "a", False),
        ("[ab]", "[ab]", True),
        ("a*", "a\nb", True),
        ("A", "a", False),
    ],
)
def test_a_pattern_fits_the_whole_text_letter_by_letter(pattern: str, text: str, fit: bool) -> None:
    assert fits(pattern, text) is fit


@pytest.mark.parametrize("text", ["a*b?c", r"back\slash", r"\*", "[x]", "plain"])
def test_the_literal_of_a_text_fits_that_and_can_be_read_back(text: str) -> None:
    assert fits(literal(text), text)
    assert not fits(literal(text), text + "x")
    assert plain(literal(text)) == text


def test_what_stands_around_wildcards() -> None:
    assert plain("a*") is None
    assert fixed_part(r"src/\*/*.py") == r"src/\*/"
    assert around_wildcards("src/*/x?.py") == ("src/", ".py")


def test_a_command_is_taken_apart_rather_too_often() -> None:
    assert pieces("a && b; c | d\ne $(f) `g`") == ("a", "b", "c", "d", "e $", "f", "g")
    assert pieces("\u00a0ls") == ("\u00a0ls",), "to a shell this is another program"
    assert is_assignment("A_1=b")
    assert not is_assignment("1A=b")


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://Example.COM./x", "example.com"),
        ("https://user@example.com:8080", "example.com"),
        ("http://[::1]/", "::1"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", None),
        ("http://0x7f.1/", None),
        ("https://straße.de", None),
        ("https://a b.de", None),
        ("ftp://example.com", None),
        ("https://example.com:x", None),
        ("https://" + "a" * 300, None),
    ],
)
def test_a_host_is_known_only_where_it_is_beyond_doubt(address: str, host: str | None) -> None:
    assert host_of(address) == host
