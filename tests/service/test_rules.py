"""Rules as people make them: settled, bounded, in order, and there again after a restart."""

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Conflict, Invalid, NotFound, TooMuch
from airboss.model.redaction import Redactor
from airboss.model.rules import Rule
from airboss.service import rules as module
from airboss.service.rules import Rules, rule_text, settle
from airboss.store.rules import RuleStore
from airboss.store.sqlite_database import SqliteDatabase

ME = "me"


@contextlib.asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[Rules]:
    database = SqliteDatabase(folder / "airboss.sqlite")
    await database.open()
    try:
        rules = Rules(RuleStore(database), Redactor(("a-secret-value",)))
        await rules.load()
        yield rules
    finally:
        await database.close()


def deny(command: str) -> Rule:
    return Rule(verdict="deny", command=command)


def commands(rules: Rules) -> str:
    return "".join(kept.rule.command or "" for kept in rules.current)


async def test_rules_hold_at_once_and_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as rules:
        first = await rules.add(deny("a"), ME)
        await rules.add(deny("b"), "you")
        await rules.add(deny("c"), ME, 0)
        await rules.add(deny("d"), ME, 99)
        assert commands(rules) == "cabd"
        assert (await rules.remove(first.id, ME)) == first
        ids = [kept.id for kept in rules.current]
        await rules.arrange([ids[2], ids[0], ids[1]], ME)
        held = rules.current
        assert commands(rules) == "dcb"
        assert [kept.who for kept in held] == [ME, ME, "you"]
    async with opened(tmp_path) as rules:
        assert rules.current == held


async def test_the_same_rule_is_written_once_unless_it_goes_elsewhere(tmp_path: Path) -> None:
    async with opened(tmp_path) as rules:
        first = await rules.add(deny("a"), ME)
        await rules.add(deny("b"), ME)
        assert await rules.add(deny("a"), "you") == first
        assert await rules.add(deny("b"), "you", 0) != first
        assert commands(rules) == "bab"


async def test_what_is_not_there_cannot_be_removed_or_put_in_order(tmp_path: Path) -> None:
    async with opened(tmp_path) as rules:
        kept = await rules.add(deny("a"), ME)
        with pytest.raises(NotFound, match="There is no rule rul_x"):
            await rules.remove("rul_x", ME)
        for ids in ([], ["rul_x"], [kept.id, kept.id], [kept.id, "rul_x"]):
            with pytest.raises(Conflict, match="must list every rule once"):
                await rules.arrange(ids, ME)
        assert rules.current == (kept,)


async def test_there_is_an_end_to_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.MOST_RULES == 1000
    monkeypatch.setattr(module, "MOST_RULES", 2)
    async with opened(tmp_path) as rules:
        await rules.add(deny("a"), ME)
        await rules.add(deny("b"), ME)
        with pytest.raises(TooMuch, match="limit of 2 rules"):
            await rules.add(deny("c"), ME)
        await rules.add(deny("a"), ME)
        assert commands(rules) == "ab"


async def test_a_secret_is_not_kept_in_a_rule(tmp_path: Path) -> None:
    async with opened(tmp_path) as rules:
        for text in ("curl -H a-secret-value", f"x ghp_{'a' * 30}"):
            with pytest.raises(Invalid, match="contains a secret"):
                await rules.add(deny(text), ME)
        assert rules.current == ()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({}, "must name the kind of request"),
        ({"command": "ls"}, "must name the kind of request"),
        ({"tool": "x", "path": "/x"}, "must name the kind of request"),
        ({"folder": "/x"}, "must name the kind of request"),
        ({"wish": "teleport"}, "no kind of request teleport. Use custom-tool, hook"),
        ({"wish": "extension-management"}, "no kind of request extension-management"),
        ({"wish": "shell", "path": "/x"}, "Name the command"),
        ({"wish": "shell", "command": "x", "host": "x"}, "Name the command"),
        ({"wish": "shell", "tool": "x"}, "shell has no tool. Use tool with custom-tool"),
        ({"wish": "write", "command": "x"}, "write has no command. Use command with shell"),
        ({"wish": "url", "path": "/x"}, "url has no path"),
        ({"wish": "read", "path": "../x"}, "should not contain"),
        ({"wish": "read", "path": "/x/*/../y"}, "should not contain"),
        ({"wish": "read", "path": ""}, "path: should have 1 to 4096 characters"),
        ({"wish": "read", "path": "a\0"}, "path: should have 1 to"),
        ({"wish": "read", "path": "a" * 4097}, "path: should have 1 to"),
        ({"wish": "url", "host": "a*.com"}, "host: should be a name"),
        ({"wish": "url", "host": "*.*"}, "host: should be a name"),
        ({"wish": "url", "host": "https://a.com"}, "host: should be a name"),
        ({"wish": "url", "host": "127.1"}, "host: should be a name"),
        ({"wish": "host", "path": "/x"}, "host has no path"),
        ({"wish": "host", "host": "a.com:8443"}, "host: should be a name"),
        ({"wish": "read", "folder": "x"}, "folder: should be an absolute path"),
    ],
)
def test_a_rule_that_would_allow_too_much_or_nothing_is_refused(
    words: dict[str, Any], why: str
) -> None:
    with pytest.raises(Invalid, match=why):
        settle(Rule(verdict="allow", **words))


def test_a_rule_may_allow_hosts_to_cages() -> None:
    rule = settle(Rule(verdict="allow", wish="host", host="*.Example.ORG."))
    assert rule.host == "*.example.org"


def test_a_rule_that_denies_may_name_anything_that_there_is() -> None:
    for words in ({}, {"command": "x"}, {"host": "*"}, {"wish": "extension-management"}):
        rule = Rule(verdict="deny", **words)
        assert settle(rule) == rule
    with pytest.raises(Invalid, match="no kind of request shel"):
        settle(Rule(verdict="deny", wish="shel"))


def test_a_rule_is_kept_as_things_are_called(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    real, link = tmp_path.resolve() / "real", tmp_path / "link"

    def path(text: str) -> str | None:
        return settle(Rule(verdict="allow", wish="read", path=text)).path

    assert path(f"{link}") == f"{real}"
    assert path(f"{link}/a/") == f"{real}/a"
    assert path(f"{link}/*") == f"{real}/*"
    assert path(f"{link}/a*/b") == f"{real}/a*/b"
    assert path(f"{link}*") == f"{tmp_path.resolve()}/link*"
    assert path(f"{link}/\\*") == f"{real}/\\*"
    assert (path("/*"), path("src/*"), path("./src/./x"), path("./a/*"), path("*")) == (
        "/*",
        "src/*",
        "src/x",
        "a/*",
        "*",
    )
    rule = settle(Rule(verdict="ask", host="*.Bücher.Example.", folder=f"{link}/"))
    assert (rule.host, rule.folder) == ("*.xn--bcher-kva.example", f"{real}")
    assert rule_text(rule) == f"ask host *.xn--bcher-kva.example folder {real}"
    assert rule_text(Rule(verdict="deny")) == "deny everything"
