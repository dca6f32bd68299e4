"""Which runtime a server may use: addresses on this machine, and nothing that contradicts them."""

from typing import Any

import pytest

from airboss.errors import SettingsInvalid
from airboss.settings import load_settings


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("127.0.0.1:4321", "127.0.0.1:4321"),
        ("http://LOCALHOST:4321/", "localhost:4321"),
        (" [::1]:80 ", "[::1]:80"),
    ],
)
def test_an_address_is_a_host_of_this_machine_and_a_port(written: str, meant: str) -> None:
    assert load_settings(None, {"runtime_url": written}).runtime_url == meant


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("4321", "write HOST:PORT"),
        ("", "write HOST:PORT"),
        ("https://127.0.0.1:4321", "write HOST:PORT"),
        ("127.0.0.1:4321/path", "write HOST:PORT"),
        ("me:secret@127.0.0.1:4321", "write HOST:PORT"),
        ("127.0.0.1:70000", "There is no port 70000"),
        ("127.0.0.1:0", "There is no port 0"),
        ("10.0.0.7:4321", "10.0.0.7 is not this machine"),
        ("runtime.example:4321", "runtime.example is not this machine"),
    ],
)
def test_other_addresses_are_refused_with_a_reason(written: str, words: str) -> None:
    with pytest.raises(SettingsInvalid, match="runtime_url: ") as refused:
        load_settings(None, {"runtime_url": written})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("beside", "name"),
    [
        ({"shared_runtime": True}, "shared_runtime"),
        ({"copilot_cli": "/usr/bin/copilot"}, "copilot_cli"),
        ({"accounts": [{"name": "work", "token_variable": "WORK"}]}, "accounts"),
        ({"session": {"identity": "builder"}}, "session.identity"),
        ({"session": {"account": "work"}}, "session.account"),
    ],
)
def test_what_the_other_runtime_has_of_its_own_is_refused_beside_it(
    beside: dict[str, Any], name: str
) -> None:
    assert load_settings(None, beside)
    with pytest.raises(SettingsInvalid, match=f"{name} cannot be used together with runtime_url"):
        load_settings(None, {**beside, "runtime_url": "127.0.0.1:4321"})


def test_the_cli_and_the_default_identity_are_what_it_has() -> None:
    usual = {"session": {"identity": "default", "account": "cli"}}
    assert load_settings(None, {**usual, "runtime_url": "127.0.0.1:4321"})
