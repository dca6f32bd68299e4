"""The variables that texts about MCP servers name."""

import pytest

from airboss.errors import Invalid
from airboss.harness.variables import check_listed, filled, reserved, secret_variables
from airboss.settings import checked_settings


def test_texts_are_filled_and_two_signs_are_one() -> None:
    environ = {"A": "one\n", "B": "two"}
    assert filled("$A, ${B} and $$5", environ, "here") == "one, two and $5"
    with pytest.raises(Invalid, match=r"^here: The environment variable C is not set for the serv"):
        filled("$A$C", environ, "here")


def test_what_servers_are_given_is_secret_but_for_what_everybody_sees() -> None:
    server = {"command": ["x"], "env": {"A": "$WORD in $HOME", "B": "plain"}}
    session = {"variables": ["LISTED"], "mcp_servers": {"files": server}}
    assert secret_variables(checked_settings({"session": session})) == ("LISTED", "WORD")


def test_variables_of_the_server_itself_are_listed_for_nobody() -> None:
    provider = {
        "name": "own",
        "base_url": "https://own.example.com",
        "key_variable": "OWN_KEY",
        "models": ["m"],
    }
    taken = reserved(checked_settings({"providers": [provider]}))
    check_listed(["WORD"], taken)
    for name in ("OWN_KEY", "GITHUB_TOKEN", "AIRBOSS_TOKEN"):
        with pytest.raises(Invalid, match=rf"variables\[1\]: {name} holds a secret"):
            check_listed(["WORD", name], taken)
