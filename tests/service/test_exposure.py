"""A server is reached from elsewhere only after somebody decided who, and how."""

from pathlib import Path
from typing import Any

import pytest

from airboss.errors import SettingsInvalid
from airboss.http.names import served_names
from airboss.service.exposure import check_exposure, is_any_address, is_loopback
from airboss.settings import Settings

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound here
TLS = {"tls_certificate": Path("c.pem"), "tls_key": Path("k.pem")}
LOOPBACK = ["127.0.0.1", "127.0.0.2", "127.255.255.254", "localhost", "LOCALHOST", "::1", "[::1]",
            "::ffff:127.0.0.1"]  # fmt: skip
BEYOND = [EVERYWHERE, "::", "[::]", "", "0", "127.1", "192.168.1.5", "portal.example", "fe80::1",
          "localhost.evil.example", "127.0.0.1.evil.example", "::ffff:10.0.0.1"]  # fmt: skip


def refusal(token_is_set: bool, **settings: Any) -> str:
    with pytest.raises(SettingsInvalid) as refused:
        check_exposure(Settings(**settings), token_is_set)
    return str(refused.value)


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_needs_no_decision(host: str) -> None:
    assert is_loopback(host)
    check_exposure(Settings(host=host), token_is_set=False)
    check_exposure(Settings(host=host, no_token=True), token_is_set=False)


@pytest.mark.parametrize("host", BEYOND)
def test_any_other_address_needs_a_token_and_tls_or_a_proxy(host: str) -> None:
    assert not is_loopback(host)
    assert "AIRBOSS_TOKEN" in refusal(False, host=host)
    assert "AIRBOSS_TOKEN" in refusal(False, host=host, **TLS)
    assert "trusted_proxy" in refusal(True, host=host)
    assert "only on loopback" in refusal(True, host=host, no_token=True, **TLS)
    check_exposure(Settings(host=host, tls_certificate=Path("c"), tls_key=Path("k")), True)
    check_exposure(Settings(host=host, trusted_proxy=True), token_is_set=True)


def test_half_of_tls_is_none() -> None:
    assert "both" in refusal(True, tls_certificate=Path("c.pem"))
    assert "both" in refusal(True, host=EVERYWHERE, tls_key=Path("k.pem"))


def test_no_token_is_not_for_what_a_proxy_lets_through() -> None:
    assert "trusted_proxy" in refusal(False, no_token=True, trusted_proxy=True)
    assert "'portal.example'" in refusal(False, no_token=True, hosts=("portal.example",))
    hosts = ("localhost:9000", "[::1]:9000", "127.0.0.1")
    check_exposure(Settings(no_token=True, hosts=hosts), token_is_set=False)


@pytest.mark.parametrize(
    "name",
    ["http://x", "x/", "a b", "", "x:", "x:99999", "x:0", "a,b", "*", "*.x", "x\n", "a@b", "::1"],
)
def test_names_are_written_as_browsers_send_them(name: str) -> None:
    assert "hosts" in refusal(True, hosts=(name,))


def test_names_that_browsers_send_are_taken() -> None:
    hosts = ("portal.example", "box", "box:8443", "[fd00::1]:80", "10.0.0.7", "a_b.local")
    check_exposure(Settings(hosts=hosts), token_is_set=True)


def test_the_names_served_and_their_origins() -> None:
    told = served_names(Settings(hosts=("Portal.example",)), 8888).origins
    assert told == {
        b"127.0.0.1:8888": "http://127.0.0.1:8888",
        b"localhost:8888": "http://localhost:8888",
        b"[::1]:8888": "http://[::1]:8888",
        b"portal.example": "http://portal.example",
    }


@pytest.mark.parametrize(
    ("settings", "port", "host", "origin"),
    [
        ({"host": "192.168.1.5"}, 8888, b"192.168.1.5:8888", "http://192.168.1.5:8888"),
        ({"host": "fd00::1"}, 8888, b"[fd00::1]:8888", "http://[fd00::1]:8888"),
        ({}, 80, b"localhost", "http://localhost"),
        ({}, 443, b"localhost", None),
        (TLS, 443, b"localhost", "https://localhost"),
        (TLS, 8443, b"localhost:8443", "https://localhost:8443"),
        ({"host": EVERYWHERE}, 8888, b"0.0.0.0:8888", None),
        ({"host": "::"}, 8888, b"[::]:8888", None),
        ({"hosts": ("p",), "trusted_proxy": True}, 8888, b"p", "https://p"),
        ({"trusted_proxy": True}, 8888, b"localhost:8888", "http://localhost:8888"),
    ],
)
def test_a_name_means_one_origin(
    settings: dict[str, Any], port: int, host: bytes, origin: str | None
) -> None:
    assert served_names(Settings(**settings), port).origin_of(host) == origin


def test_every_address_is_nobodys_name() -> None:
    assert all(is_any_address(host) for host in ("", EVERYWHERE, "::", "[::]"))
    assert not any(is_any_address(host) for host in ("127.0.0.1", "::1", "localhost"))
