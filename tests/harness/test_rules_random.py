"""An allowing rule never matches more than its words, whatever they and the request are [PERM]."""

import os
import re
import shlex
from pathlib import Path
from urllib.parse import urlsplit

from hypothesis import assume, given
from hypothesis import strategies as st

from airboss.harness.command_words import words
from airboss.harness.patterns import fits, host_of, literal, plain
from airboss.harness.rules import holds, suggest
from airboss.harness.spellings import Spellings
from airboss.model.rules import Rule
from airboss.runtime.permission import PermissionRequest, permission_request

CWD = Path("/nowhere/work")
# Few letters, so that patterns and texts meet; many that mean something to a shell.
texts = st.text("ab *?\\[]!-.$;&|`()<>\n'\"/", max_size=12)
commands = st.text("ab ;&|`$(){}<>\n'\"*?\\", max_size=16)
paths = st.lists(st.sampled_from(["a", "b", "..", ".", "*", "?", "\\", "", "c d"]), max_size=6)
addresses = st.text("ab.:/@\\#?%[]* \t", max_size=16)


def fits_slowly(pattern: str, text: str) -> bool:
    """The same by the book, letter by letter."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(fits_slowly(pattern[1:], text[cut:]) for cut in range(len(text) + 1))
    if pattern[:2] in ("\\*", "\\?", "\\\\"):
        return text[:1] == pattern[1] and fits_slowly(pattern[2:], text[1:])
    if pattern[0] == "?":
        return bool(text) and fits_slowly(pattern[1:], text[1:])
    return text[:1] == pattern[0] and fits_slowly(pattern[1:], text[1:])


@given(texts, texts)
def test_a_pattern_is_read_by_the_book(pattern: str, text: str) -> None:
    assert fits(pattern, text) == fits_slowly(pattern, text)


@given(texts, texts)
def test_a_literal_fits_its_own_text_only(one: str, other: str) -> None:
    assert fits(literal(one), other) == (one == other)
    assert plain(literal(one)) == one


@given(st.text("ab \t\n'\"\\-=*é", max_size=16))
def test_the_words_of_a_command_are_those_of_a_shell(command: str) -> None:
    assume("\\\n" not in command)  # shlex does not know lines that go on
    try:
        known = shlex.split(command)
    except ValueError:
        known = None
    try:
        assert [word.text for word in words(command)] == known
    except ValueError:
        assert known is None


@given(texts, st.lists(st.sampled_from(["a", "b", "ab", "*", "?", "-", "a.b"]), max_size=6))
def test_what_a_program_runs_is_found_from_each_of_its_words_on(
    pattern: str, given: list[str]
) -> None:
    found = Spellings.of([" ".join(["sh", *given])])
    parts = [" ".join(["sh", *given]), *(" ".join(given[at:]) for at in range(len(given)))]
    assert found.fit(pattern) == any(fits_slowly(pattern, said) for said in (*parts, *given))


@given(commands, commands)
def test_a_suggested_command_is_this_one_only(one: str, other: str) -> None:
    rule = suggest(_shell(one), CWD)
    if rule is None:
        assert not one
    else:
        assert holds(rule, _shell(one), CWD)
        assert holds(rule, _shell(other), CWD) == (one == other)


@given(st.sampled_from(["a*", "a b*", "?", "*a"]), commands)
def test_an_allowed_command_has_no_part_that_begins_otherwise(pattern: str, command: str) -> None:
    if holds(Rule(verdict="allow", wish="shell", command=pattern), _shell(command), CWD):
        parts = [part.strip() for part in re.split(r"\|\||&&|[;&|\n]|\$\(|[`(){}]", command)]
        begun = [part for part in parts if part.strip("$\"' ")]
        assert begun
        assert all(fits_slowly(pattern, part) for part in begun)
        assert ">" not in command


@given(paths, st.booleans())
def test_an_allowed_path_lies_below_the_folder_of_the_rule(parts: list[str], full: bool) -> None:
    path = "/".join([str(CWD), *parts] if full else parts)
    said = permission_request({"permissionRequest": {"kind": "read", "path": path}})
    if holds(Rule(verdict="allow", wish="read", path="a/*"), said, CWD):
        assert os.path.normpath(CWD / path).startswith(f"{CWD}/a/")
    rule = suggest(said, CWD)
    assert rule is not None
    assert plain(rule.path or "") == os.path.normpath(CWD / path).replace("//", "/")


@given(st.sampled_from(["a.b", "*.a.b"]), addresses)
def test_an_allowed_host_is_the_one_that_the_address_names(host: str, rest: str) -> None:
    address = f"https://{rest}"
    said = permission_request({"permissionRequest": {"kind": "url", "url": address}})
    if holds(Rule(verdict="allow", wish="url", host=host), said, CWD):
        called = re.split(r"[/\\?#]", rest)[0].rpartition("@")[2].partition(":")[0].rstrip(".")
        assert called == "a.b" if host == "a.b" else called.endswith(".a.b")
        assert called == (urlsplit(address).hostname or "").rstrip(".") == host_of(address)


def _shell(command: str) -> PermissionRequest:
    return permission_request({"permissionRequest": {"kind": "shell", "fullCommandText": command}})
