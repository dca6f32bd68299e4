"""What is looked for in an agent's words takes time as their length, never as its square.

Four times the text may take eight times as long, which leaves room for a noisy machine: what grows
with the square takes sixteen times as long.
"""

import gc
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from airboss.entry.prompts import variables_in
from airboss.harness.call_fingerprint import outcome_hash, signature
from airboss.harness.command_words import texts
from airboss.harness.file_names import file_names
from airboss.harness.guesses import guessed_hosts, guessed_paths, has_unknown_path
from airboss.harness.patterns import (
    LONGEST_COMMAND,
    fits,
    host_of,
)
from airboss.harness.rules import first, holds, suggest
from airboss.harness.spellings import Spellings
from airboss.harness.wildcards import are_harmless
from airboss.model.ids import RuleId
from airboss.model.redaction import Redactor
from airboss.model.rules import KeptRule, Rule
from airboss.net.host_names import host_name
from airboss.runtime.hooks import ToolOutcome
from airboss.runtime.permission import PermissionRequest, permission_request
from tests.trials import share, trial

CWD = Path("/nowhere/work")
SHORT: Final = 6 * 1024
# Below this a clock says more about the machine than about the work.
FLOOR: Final = 0.008
# A beginning, what is repeated, and an end.
SHAPES: Final = {
    "words": ("sh ", "a ", ""),
    "other words": ("sudo ", "git pull ", "x"),
    "numbered": ("", "w%d ", ""),
    "quoted words": ("bash -c ", "'a b' ", ""),
    "one word": ("sh ", "a", ""),
    "one long quote": ("bash -c '", "git pull; ", "'"),
    "an open quote": ('sh "', "a ", ""),
    "backslashes": ("sh ", "\\", ""),
    "escaped quotes": ('sh "', '\\"', '"'),
    "separators": ("sh ", ";", ""),
    "commands": ("", "a%d;", ""),
    "commands in commands": ("sh ", "$(", ""),
    "runners": ("", "env sh ", "git pull"),
    "keywords": ("", "if ", "x"),
    "assignments": ("", "A%d=b ", "x"),
    "lines of a file": ("cat <<EOF\n", "sudo git pull %d\n", "EOF"),
    "stars": ("", "*", "x"),
    "dots": ("curl ", "a.", "b"),
    "addresses": ("curl ", "https://", "x"),
    "schemes": ("curl ", "a+", "b"),
    "logins": ("curl https://", "a@", "b"),
    "folders": ("cat ", "a/", ""),
    "folders above": ("cat ", "../", ""),
    "options": ("git ", "-c --x=y ", ""),
    "spaces": ("sh ", " ", "x"),
    "other letters": ("sh ", "ß\u0301é😀", ""),
    "tags": ("", "<shellId: ", ""),
    "saved": ("", "copilot-tool-output-", ""),
    "lists": ("", "[", ""),
    "numbers": ("[", "9", "]"),
    "fields": ('{"a": "', '\\"id', '"}'),
    "dashes": ("", "-", ""),
    "keys that begin": ("", "-----BEGIN ", ""),
    "keys": ("", "-----BEGIN PRIVATE KEY-----\n", ""),
    "a long key": ("-----BEGIN PRIVATE KEY-----\n", "TUlJRXZRSUJBREFOQmdr\n", ""),
    "keys with heads": ("", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n", ""),
    "tokens that begin": ("", "ghp_", ""),
    "tokens": ("", f" sk-{'a' * 19}", ""),
    "names of files": ("cat ", f"./ghp_{'a1B' * 8} ", ""),
    "programs": ("", f"ghp_{'a1B' * 8}%d;", ""),
    "long folders": ("cat ", "/aaaaaaaa", f"/ghp_{'a1B' * 8}"),
    "names of keys": ("", "aws_secret_access_key = ", ""),
    "slack": ("", "https://hooks.slack.com/services/T", ""),
    "variables": ("", "$a-", ""),
    "sed": ("sed s/", "[a/", "x/e"),
}
# Fragments from which random texts are made.
FRAGMENTS: Final = (
    *("a", " ", "sh ", "'", '"', "\\", "$(", ")", "`", ";", "&&", "|", "\n", "<<E\n", "{", "}"),
    *("*", "?", "[", "]", "-c", "--x=", "://", "@", ".", "/", "..", "é", "😀", "git push"),
    *("env ", "A=b ", "ghp_", "sk-", "-----BEGIN ", "PRIVATE KEY-----", "AKIA", "<shellId: "),
    *(":", ",", "\0", "0x7f."),
)
PATTERNS: Final = ("git push*", "*git*push*x*y", "g?t pu* z", "rm *", "*a*a*a*b", "a*a*a*a*a*c")


def of_length(shape: tuple[str, str, str], length: int) -> str:
    """Repeated four times n times, so that quotes are closed in each of them or in none."""
    start, again, end = shape
    times = length // len(again) // 4 * 4
    if "%d" in again:
        return start + "".join(again % at for at in range(times)) + end
    return start + again * times + end


def shell(command: str) -> PermissionRequest:
    told = [{"fullCommandText": command}]
    words = command.split()
    asked = {"fullCommandText": command, "commandSegments": told, "possiblePaths": words}
    return permission_request({"permissionRequest": {"kind": "shell", **asked}})


RULES: Final = [
    KeptRule(id=RuleId(f"rul_{number}"), rule=rule, who="me", made_at=1)
    for number, rule in enumerate(
        [
            *(Rule(verdict="deny", command=pattern) for pattern in PATTERNS),
            *(
                Rule(verdict="allow", wish="shell", command=command)
                for command in (*PATTERNS, "git *", "sed *", "env *", "*zz*", "*x")
            ),
            Rule(verdict="deny", path="/etc/*"),
            Rule(verdict="deny", host="example.com"),
        ]
    )
]


def ruled(text: str) -> None:
    """Every kind of rule, on all that a rule looks at."""
    asked = shell(text)
    for number in range(0, len(RULES), 8):
        first(RULES[number : number + 8], asked, CWD)
    suggest(asked, CWD)


def addressed(text: str) -> None:
    for address in (text, f"https://{text}", f"https://[{text}]"):
        host_of(address)
        holds(Rule(verdict="deny", host="*.example.com"), _url(address), CWD)
    host_name(text)


def compared(text: str) -> None:
    for tool in ("bash", "send_mail"):
        outcome_hash(tool, {"text": text}, ToolOutcome(text, details=text))
        outcome_hash(tool, {"text": text}, ToolOutcome("", error=text))
    signature(text, {text: text})


def redacted(text: str) -> None:
    redactor = Redactor(("a-secret-value", "aaaaaaaaaaaaaaab"))
    redactor.text(text)
    redactor.count(text)


def spared(text: str) -> None:
    redactor = Redactor(("a-secret-value",)).sparing(file_names(shell(text)))
    redactor.text(text)


def freed(text: str) -> None:
    """What wildcards stand for."""
    for program in ("git", "git log", "find", "tar", "ssh host", "sed", "awk", "make", "npm", "x"):
        are_harmless(f"{program} *", f"{program} {text}")
    for pattern in ("*", "* x", "env A=b git *", "git -c x *"):
        are_harmless(pattern, text)


def redacted_in_pieces(text: str) -> None:
    stream = Redactor(("a-secret-value", "aaaaaaaaaaaaaaab")).stream()
    for at in range(0, len(text), 16):
        stream.feed(text[at : at + 16])
    stream.finish()


def _url(address: str) -> PermissionRequest:
    return permission_request({"permissionRequest": {"kind": "url", "url": address}})


def spelled(text: str) -> None:
    found = Spellings.of_command(text)
    for pattern in PATTERNS:
        found.fit(pattern)
        fits(pattern, text)


def guessed(text: str) -> None:
    texts(text)
    guessed_hosts(text, bare=True)
    guessed_paths(text, str(CWD))
    has_unknown_path(text)
    variables_in(text)


LOOKS: Final = (
    *(ruled, spelled, guessed, freed, addressed, compared),
    *(redacted, redacted_in_pieces, spared),
)


def seconds(look: Callable[[str], None], text: str) -> float:
    gc.disable()  # it looks through all that other tests left behind
    try:
        began = time.thread_time()
        look(text)
        return time.thread_time() - began
    finally:
        gc.enable()


def grows_too_fast(look: Callable[[str], None], short: str, long: str) -> str | None:
    """A busy machine is asked up to four times."""
    one, four = 0.0, 0.0
    for _ in range(4):
        one, four = seconds(look, short), seconds(look, long)
        if four <= 8 * max(one, FLOOR):
            return None
    return f"{one:.3f} s, then {four:.3f} s"


@trial
@pytest.mark.parametrize("look", LOOKS[:: share(2, 1)])
def test_four_times_the_words_take_no_more_than_their_share(look: Callable[[str], None]) -> None:
    found: dict[str, str] = {}
    for name, shape in SHAPES.items():
        short, long = of_length(shape, SHORT), of_length(shape, 4 * SHORT)
        if slow := grows_too_fast(look, short, long):
            found[name] = slow
    assert found == {}


@trial
@pytest.mark.parametrize("seed", range(share(1, 3)))
def test_no_mixture_of_fragments_grows_faster_than_its_length(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same every time
    found: dict[tuple[str, str], str] = {}
    for _ in range(6):
        start, again, end = ("".join(chance.choices(FRAGMENTS, k=most)) for most in (2, 4, 2))
        shape = (start, again, end)
        short, long = of_length(shape, SHORT), of_length(shape, 4 * SHORT)
        for look in LOOKS:
            if slow := grows_too_fast(look, short, long):
                found[look.__name__, short[:40]] = slow
    assert found == {}


def test_the_longest_command_is_decided_within_seconds_by_many_rules() -> None:
    rules = [
        kept.model_copy(update={"rule": Rule(verdict="deny", command=f"b {number}*")})
        for number, kept in enumerate(RULES[:1] * 1000)
    ]
    for shape in ("words", "commands", "lines of a file", "quoted words"):
        asked = shell(of_length(SHAPES[shape], LONGEST_COMMAND)[:LONGEST_COMMAND])
        began = time.thread_time()
        assert first(rules, asked, CWD) is None
        assert time.thread_time() - began < 6, shape


def test_what_is_longer_than_a_command_can_be_is_unclear() -> None:
    said = "echo " + "a" * LONGEST_COMMAND
    for named in ({"command": "git push*"}, {"path": "/etc/*"}, {"host": "example.com"}):
        assert holds(Rule(verdict="deny", **named), shell(said), CWD), named
        assert holds(Rule(verdict="ask", **named), shell(said), CWD), named
    assert not holds(Rule(verdict="allow", wish="shell", command="echo *"), shell(said), CWD)
    assert holds(Rule(verdict="allow", wish="shell", command="echo *"), shell(said[:-5]), CWD)
    many = [{"fullCommandText": "echo " + "a" * 1000}] * 600
    told = {"kind": "shell", "fullCommandText": "echo", "commandSegments": many}
    asked = permission_request({"permissionRequest": told})
    assert holds(Rule(verdict="deny", command="git push*"), asked, CWD)
    assert not holds(Rule(verdict="allow", wish="shell", command="echo*"), asked, CWD)


def test_a_path_that_no_kernel_takes_is_unclear() -> None:
    said = permission_request({"permissionRequest": {"kind": "read", "path": "a/" * 3000}})
    assert holds(Rule(verdict="deny", path="/etc/*"), said, CWD)
    assert not holds(Rule(verdict="allow", wish="read", path="*"), said, CWD)
    many = permission_request(
        {"permissionRequest": {"kind": "read", "paths": [f"a{n}" for n in range(1001)]}}
    )
    assert holds(Rule(verdict="deny", path="/etc/*"), many, CWD)
    assert not holds(Rule(verdict="allow", wish="read", path="*"), many, CWD)
