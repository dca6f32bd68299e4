"""Which tools the words of a list mean."""

import pytest

from airboss.entry.tools import JOB_TOOLS
from airboss.harness.plans import EXIT_PLAN_MODE
from airboss.harness.questions import ASK_USER_OFFER
from airboss.model.tool_lists import ToolList, allowed_by, known_and_allowed, matches, mistake_in
from airboss.model.tool_table import (
    BUILT_IN,
    EXTENSIONS_MANAGE,
    EXTENSIONS_RELOAD,
    GROUPS,
    OURS,
)


def test_ours_are_the_tools_that_airboss_offers() -> None:
    extensions = (EXTENSIONS_MANAGE, EXTENSIONS_RELOAD)
    assert (*JOB_TOOLS, ASK_USER_OFFER.name, EXIT_PLAN_MODE, *extensions) == OURS


def test_every_tool_that_does_something_is_in_one_group() -> None:
    grouped = [name for group, names in GROUPS.items() if group != "@ours" for name in names]
    assert len(grouped) == len(set(grouped))
    kept_for_itself = {name for name, kind in BUILT_IN.items() if kind in ("notes", "ask")}
    assert set(grouped) == set(BUILT_IN) - kept_for_itself


@pytest.mark.parametrize(
    ("word", "tool", "meant"),
    [
        ("view", "view", True),
        ("view", "views", False),
        ("web_*", "web_fetch", True),
        ("*", "files-peek", True),
        ("@mcp", "files-peek", True),
        ("@mcp", "view", False),
        ("files/peek", "files-peek", True),
        ("files/*", "files-peek", True),
        ("*/peek", "files-peek", True),
        ("files/*", "filesystem-peek", False),
        ("github-mcp-server/*", "github-mcp-server-list-issues", True),
        ("files/*", "files", False),
    ],
)
def test_a_word_means_these_tools(word: str, tool: str, *, meant: bool) -> None:
    assert matches(word, tool) is meant


def test_what_is_denied_is_denied_whatever_is_allowed() -> None:
    tools = ToolList(allow=("@read", "bash"), deny=("b*", "github-mcp-server/poke"))
    assert known_and_allowed([tools])[:3] == ["view", "glob", "grep"]
    assert not tools.allows("bash")


def test_of_several_lists_each_has_to_allow() -> None:
    lists = [ToolList(allow=("@mcp", "view")), ToolList(deny=("files/poke",))]
    names = ("view", "edit", "files-peek", "files-poke")
    assert [name for name in names if allowed_by(lists, name)] == ["view", "files-peek"]


@pytest.mark.parametrize(
    ("tools", "may"),
    [
        (ToolList(), True),
        (ToolList(allow=("view",)), False),
        (ToolList(allow=("view", "files/*")), True),
        (ToolList(deny=("@mcp",)), False),
    ],
)
def test_whether_servers_can_bring_something_is_known(tools: ToolList, *, may: bool) -> None:
    assert tools.may_allow_mcp is may


@pytest.mark.parametrize("word", ["view", "@ours", "web_*", "*", "github-mcp-server/*", "*/peek"])
def test_a_word_that_something_may_match_is_no_mistake(word: str) -> None:
    assert mistake_in(word) is None


def test_a_server_without_a_tool_and_a_glob_without_a_match_are_mistakes() -> None:
    assert mistake_in("github-mcp-server/") == (
        '"github-mcp-server/" names no tool: write SERVER/TOOL, or SERVER/* for all of them.'
    )
    assert mistake_in("wep_*") == '"wep_*" matches no tool.'
