"""Which MCP servers a session has, by all that is said about them, and what is refused."""

from typing import Any

import pytest

from airboss.errors import Invalid, SettingsInvalid
from airboss.harness.server_launch import check_values
from airboss.harness.setup import Said, SetupPlan, check_settings, in_settings
from airboss.model.setup import Setup
from airboss.model.setup_bounds import widening
from airboss.session_keys import SessionKeys, SessionSettings
from airboss.settings import Settings, checked_settings, shown_settings

FILES = {"command": ["serve", "docs"]}
WIKI = {"url": "https://wiki.example.com/mcp", "token_variable": "WIKI"}


def keys(**servers: Any) -> SessionKeys:
    return SessionKeys.model_validate({"mcpServers": servers})


def plan(*said: Said, settings: dict[str, Any] | None = None) -> SetupPlan:
    given = SessionSettings.model_validate({"mcp_servers": settings})
    return SetupPlan((in_settings(given), *said))


def made(*said: Said, settings: dict[str, Any] | None = None) -> Setup:
    found = plan(*said, settings=settings)
    found.check_servers(("WORD",))
    found.check_tools()
    found.check_agents()
    return found.made(lambda text: text.replace("hunter2", "[secret removed]"))


def test_who_speaks_last_says_which_there_are_and_names_those_that_others_describe() -> None:
    settings = {"wiki": WIKI, "web": {"url": "https://web.example.com"}}
    assert list(made(settings=settings).mcp_servers) == ["wiki", "web"]
    entry = Said(keys(files=FILES, wiki={}), "entry.", may_widen=True, must_be_trusted=True)
    assert list(made(entry, settings=settings).mcp_servers) == ["files", "wiki"]
    request = Said(keys(files={}))
    assert list(made(entry, request, settings=settings).mcp_servers) == ["files"]
    assert made(entry, Said(keys()), settings=settings).mcp_servers == {}
    assert made(entry, settings=settings).mcp_servers["wiki"].token_variable == "WIKI"


def test_a_description_counts_only_from_those_who_may_widen() -> None:
    wish = Said(keys(files=FILES), "entry.")
    assert list(made(wish, settings={"wiki": WIKI}).mcp_servers) == ["wiki"], "as if not said"
    both = Said(keys(files=FILES, wiki={}), "entry.")
    assert list(made(both, settings={"wiki": WIKI}).mcp_servers) == ["wiki"]
    wishes = [str(wish.what) for wish in widening(keys(files=FILES, wiki={}), SessionKeys())]
    assert wishes == ["to run serve docs as the MCP server files"]
    [called] = widening(keys(web={"url": "https://web.example.com/a"}), SessionKeys())
    assert called.what == "to call web.example.com as the MCP server web"


def test_tools_of_servers_are_known_by_their_server() -> None:
    said = {"mcpServers": {"files": {**FILES, "tools": ["read_*"]}}}
    tools = {"tools": {"allow": ["view", "files/*"]}}
    setup = made(Said(SessionKeys.model_validate({**said, **tools}), may_widen=True))
    names = ("view", "bash", "files-read_it", "files-write_it", "other-read_it")
    assert [name for name in names if setup.tools.allows(name)] == ["view", "files-read_it"]
    agents = {"agents": {"a": {"description": "d", "prompt": "p", "mcpServers": ["files"]}}}
    made(Said(SessionKeys.model_validate({**said, **agents}), may_widen=True))
    with pytest.raises(
        Invalid, match=r'agents\.a\.mcpServers\[0\]: There is no MCP server "files"'
    ):
        made(Said(SessionKeys.model_validate(agents), may_widen=True))
    with pytest.raises(Invalid, match=r'tools\.allow\[1\]: There is no MCP server "files"'):
        made(Said(SessionKeys.model_validate(tools), may_widen=True))


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"wiki": {}}, r'^mcpServers\.wiki: The MCP server "wiki" is not described'),
    ({"bash": FILES}, r"^mcpServers\.bash: The name is taken"),
    ({"a": FILES, "a-b": FILES}, r'^mcpServers\.a-b: Its tools could be taken for those of "a"'),
    ({"a": {"command": [" "]}}, r"^mcpServers\.a\.command\[0\]: Should name a program"),
    ({"a": WIKI}, r"^mcpServers\.a\.tokenVariable: Only the settings may have it"),
    (
        {"a": {"url": "https://a.example", "clientId": "us"}},
        r"^mcpServers\.a\.clientId: Only the settings may have it",
    ),
    (
        {"a": {"url": "https://a.example", "headers": {"X": "1"}}},
        r"^mcpServers\.a\.headers: Only the settings",
    ),
    ({"a": {"url": "https://localhost:1"}}, r"^mcpServers\.a\.url: localhost is this machine"),
    ({"a": {"url": "http://a.example"}}, r"^mcpServers\.a\.url: Should begin with https"),
    ({"a": {"url": "https://a.example?token=x"}}, r"^mcpServers\.a\.url: It has a secret in it"),
    (
        {"a": {**FILES, "env": {"A": "$OTHER"}}},
        r"^mcpServers\.a\.env\.A: The variable OTHER may not be named here\. The settings allow: W",
    ),
    (
        {"a": {**FILES, "env": {"A": "${AIRBOSS_TOKEN}"}}},
        r"^mcpServers\.a\.env\.A: AIRBOSS_TOKEN is a variable of this server",
    ),
    ({"a": {**FILES, "env": {"A": "hunter2"}}}, r"^mcpServers\.a\.env\.A: It has a secret in it"),
]


@pytest.mark.parametrize(("servers", "refusal"), MISTAKES)
def test_a_server_that_cannot_be_is_refused_by_name(servers: dict[str, Any], refusal: str) -> None:
    with pytest.raises(Invalid, match=refusal):
        made(Said(keys(**servers), may_widen=True))


@pytest.mark.parametrize(
    ("server", "refusal"),
    [
        ({"command": ["a"], "url": "https://a.example"}, "either a command or a url"),
        ({"tools": ["x"]}, "Should have a command or a url"),
        ({"command": ["a"], "headers": {}}, "Should not have headers: it has a command"),
        ({"url": "https://a.example", "env": {}}, "Should not have env: it has a url"),
        ({"command": ["a"], "clientId": "us"}, "Should not have clientId: it has a command"),
        ({**WIKI, "clientId": "us"}, "nobody signs in where a token is set"),
        ({"url": "https://a.example", "clientSecretVariable": "S"}, "Should have a clientId"),
        ({"url": "https://a.example", "clientId": "two words"}, "pattern"),
        ({"url": "ftp://a.example"}, "pattern"),
        ({"url": "https://me:word@a.example"}, "pattern"),
        ({"command": [], "seconds": 3}, "at least 1 item"),
        ({"command": ["a"], "seconds": 0}, "greater than 0"),
        ({"command": ["a"], "env": {"no name": "x"}}, "pattern"),
        ({"program": "a"}, "not permitted"),
    ],
)
def test_what_is_no_description_is_refused(server: dict[str, Any], refusal: str) -> None:
    with pytest.raises(ValueError, match=refusal):
        keys(a=server)


def test_values_come_of_the_environment_and_none_may_be_missing() -> None:
    words = {"A": "$WORD and ${WORD}, $$5"}
    setup = made(Said(keys(a={**FILES, "env": words}), may_widen=True))
    check_values(setup, {"WORD": "hello"})
    with pytest.raises(Invalid, match=r"mcpServers\.a\.env\.A: The environment variable WORD is n"):
        check_values(setup, {})
    setup = made(settings={"wiki": WIKI})
    with pytest.raises(Invalid, match=r"mcpServers\.wiki\.tokenVariable: The environment variable"):
        check_values(setup, {"WIKI": ""})
    known = {"url": "https://a.example", "clientId": "us", "clientSecretVariable": "S"}
    setup = made(settings={"a": known})
    check_values(setup, {"S": "secret"})
    with pytest.raises(Invalid, match=r"mcpServers\.a\.clientSecretVariable: The environment"):
        check_values(setup, {})


def settings(**session: Any) -> Settings:
    return checked_settings({"session": session})


@pytest.mark.parametrize(
    ("session", "refusal"),
    [
        ({"variables": ["GH_TOKEN"]}, r"settings: session\.variables\[0\]: GH_TOKEN holds a secr"),
        ({"variables": ["OK", "AIRBOSS_X"]}, r"session\.variables\[1\]: AIRBOSS_X"),
        (
            {"mcp_servers": {"a": {}}},
            r"session\.mcp_servers\.a: The MCP server \"a\" is not descri",
        ),
        (
            {"mcp_servers": {"a": {"url": "https://a.example", "token_variable": "AIRBOSS_A"}}},
            r"session\.mcp_servers\.a\.token_variable: AIRBOSS_A is a variable of this server",
        ),
        (
            {"mcp_servers": {"a": {"url": "https://a.example", "headers": {"X Team": "$A"}}}},
            r"session\.mcp_servers\.a\.headers\.X Team: .* cannot be sent",
        ),
        (
            {"mcp_servers": {"a": {"url": "https://a.example", "headers": {"Host": "b"}}}},
            r"headers\.Host: The header Host belongs to the connection",
        ),
        (
            {"mcp_servers": {"a": {"url": "https://a.example", "headers": {"X-Api-Key": "1"}}}},
            r"session\.mcp_servers\.a\.headers\.X-Api-Key: It has a secret in it",
        ),
    ],
)
def test_settings_are_checked_when_the_server_starts(session: dict[str, Any], refusal: str) -> None:
    with pytest.raises(SettingsInvalid, match=refusal):
        check_settings(settings(**session))


def test_settings_show_no_more_of_a_server_than_what_it_is() -> None:
    servers = {"wiki": {**WIKI, "headers": {"X": "$WIKI"}}, "files": FILES}
    chosen = settings(mcp_servers=servers, variables=["WORD"])
    check_settings(chosen)
    assert shown_settings(chosen)["session"]["mcp_servers"] == [
        "wiki: wiki.example.com",
        "files: serve …",
    ]
