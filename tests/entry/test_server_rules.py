"""What is wrong with the MCP servers that an entry describes, and where."""

from typing import Any

import pytest

from airboss.entry.session_words import keys_of
from airboss.entry.validate import validate_entry
from tests.entry.test_session_words import entry, mistakes

FILES: dict[str, Any] = {"command": ["serve", "docs"]}
AGENT: dict[str, Any] = {"description": "Reviews.", "prompt": ["Review."], "mcpServers": ["files"]}


def test_servers_of_an_entry_are_named_by_its_tools_and_agents() -> None:
    said: dict[str, Any] = {
        "tools": {"allow": ["files/*", "wiki/search"]},
        "mcpServers": {"wiki": {}},
    }
    found = validate_entry(entry(said, mcpServers={"files": FILES}, agents={"r": AGENT}))
    servers = keys_of(found).mcp_servers
    assert servers is not None
    assert servers["files"].command == ("serve", "docs")
    of_task = keys_of(found.tasks["a"], found).mcp_servers
    assert of_task is not None
    assert of_task["wiki"].is_name


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"mcpServers": {"a b": FILES}}, '.mcpServers["a b"]: Should have letters'),
        ({"mcpServers": {"bash": FILES}}, ".mcpServers.bash: The name is taken."),
        ({"mcpServers": {"a": {"tools": ["x"]}}}, ".mcpServers.a: Should have a command or a url"),
        ({"mcpServers": {"a": {"command": []}}}, ".mcpServers.a.command: Should name a program."),
        ({"mcpServers": {"a": {"url": "x"}}}, ".mcpServers.a.url: Should be an address."),
        (
            {"mcpServers": {"a": {**FILES, "seconds": 0}}},
            ".mcpServers.a.seconds: Should be more than 0",
        ),
        *(
            ({"mcpServers": {"a": {"url": url}}}, f".mcpServers.a.url: {words}")
            for url, words in (
                ("http://wiki.example.com", "Should begin with https, unless the settings say"),
                ("https://127.0.0.1/mcp", "127.0.0.1 is this machine. Describe the server in the"),
                ("https://wiki.example.com/?api_key=x", "It has a secret in it. Put that into a"),
            )
        ),
        (
            {"mcpServers": {"a": {**FILES, "env": {"A": "${AIRBOSS_TOKEN}"}}}},
            ".mcpServers.a.env.A: AIRBOSS_TOKEN is a variable of this server, and is passed on to",
        ),
        (
            {"mcpServers": {"a": FILES, "a-b": FILES}},
            '.mcpServers["a-b"]: Its tools could be taken for those of "a". Give one of the two',
        ),
        ({"agents": {"r": AGENT}}, '.agents.r.mcpServers[0]: There is no MCP server "files".'),
        ({"tools": {"allow": ["no/*"]}}, '.tools.allow[0]: There is no MCP server "no".'),
    ],
)
def test_a_mistake_is_told_with_its_place(said: dict[str, Any], words: str) -> None:
    assert any(words in mistake for mistake in mistakes(said)), mistakes(said)
