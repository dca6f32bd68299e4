"""Signing an account of Copilot in and out, from the terminal."""

from typing import Final
from urllib.parse import quote

from airboss.cli.client import Client
from airboss.cli.screen import aside, visible_line
from airboss.cli.secret.secrets import read_secret
from airboss.cli.trouble import CommandRefused

_PATH: Final = "/api/v1/accounts"
# The agent runtime may have to start first.
_TEST_SECONDS: Final = 75.0


def add_account(client: Client, name: str, *, is_tested: bool) -> None:
    token = read_secret(f"Token of {name}: ")
    if is_tested:
        result = client.post("/api/v1/account-tests", {"token": token}, seconds=_TEST_SECONDS)
        if not result["ok"]:
            raise CommandRefused(f"{result['problem']} To add it anyway, pass --no-test.")
        aside().line(f"Copilot offers {len(result['models'])} models to this account.")
    client.post(_PATH, {"name": name, "token": token})
    aside().line(visible_line(f"Signed in {name}. To list accounts: airboss accounts"))


def remove_account(client: Client, name: str) -> None:
    client.delete(f"{_PATH}/{quote(name, safe='')}")
    aside().line(visible_line(f"Signed out {name}."))
