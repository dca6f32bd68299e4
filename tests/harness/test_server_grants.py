"""What lets us in at MCP servers: kept over restarts, hidden, and forgotten whole."""

import socket
from dataclasses import replace
from pathlib import Path

import keyring
import pytest
from keyring.backends import null

from airboss.errors import SignInFailed
from airboss.harness.oauth import BegunServerSignIn
from airboss.harness.oauth_metadata import DoorMetadata, OAuthClient, OAuthTokens
from airboss.harness.server_grants import ServerGrants, may_sign_in, name_of
from airboss.store.kept_secrets import KeptSecrets

pytestmark = pytest.mark.anyio

URL = "https://wiki.example.com/mcp"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(keyring, "get_keyring", null.Keyring)
    return tmp_path / "secrets"


def begun() -> BegunServerSignIn:
    door = DoorMetadata(issuer="https://in", authorization_endpoint="x", token_endpoint="https://t")
    client = OAuthClient(client_id="us", client_secret="client-secret")
    return BegunServerSignIn(URL, "http://localhost/", door, client, URL, None, False)


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def opened(folder: Path, hidden: list[str]) -> ServerGrants:
    kept = KeptSecrets(folder, "test")
    kept.load()
    grants = ServerGrants(kept, lambda *values, of="": hidden.extend(values))
    grants.load()
    return grants


async def test_a_sign_in_is_kept_over_a_restart_hidden_and_forgotten_whole(folder: Path) -> None:
    hidden: list[str] = []
    tokens = OAuthTokens(access_token="access-token", refresh_token="refresh-token")
    await opened(folder, hidden).keep(begun(), tokens, "ann")
    assert sorted(hidden) == ["access-token", "client-secret", "refresh-token"]
    again: list[str] = []
    grants = opened(folder, again)
    assert sorted(again) == sorted(hidden), "the next server hides them before anybody calls"
    grant = grants.of(URL)
    assert grant is not None
    assert (grant.who, grant.client_id, await grants.token(URL)) == ("ann", "us", "access-token")
    assert await grants.token("https://other.example.com/mcp") is None
    assert await grants.forget(URL)
    assert not await grants.forget(URL)
    assert left_in(folder) == []


async def test_the_secret_of_a_client_that_the_settings_name_is_kept_nowhere(folder: Path) -> None:
    hidden: list[str] = []
    known = replace(begun(), secret_variable="OURS")
    tokens = OAuthTokens(access_token="access-token", refresh_token="refresh-token")
    await opened(folder, hidden).keep(known, tokens, "ann")
    assert sorted(hidden) == ["access-token", "refresh-token"]
    assert not [file for file in left_in(folder) if "client-secret" in file.read_text("utf-8")]
    grant = opened(folder, []).of(URL)
    assert grant is not None
    assert grant.secret_variable == "OURS"


async def test_one_that_ends_and_cannot_be_renewed_is_asked_for_again(folder: Path) -> None:
    grants = opened(folder, [])
    await grants.keep(begun(), OAuthTokens(access_token="access-token"), "ann")
    assert await grants.renewed(URL, "an-older-one") == "access-token", "somebody was faster"
    assert await grants.renewed(URL, "access-token") is None
    assert grants.of(URL) is None


async def test_one_that_cannot_be_renewed_just_now_is_kept_and_nobody_is_asked(
    folder: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    door = begun().door.model_copy(update={"token_endpoint": address})
    ended = OAuthTokens(access_token="access-token", refresh_token="refresh-token", expires_in=1)
    grants = opened(folder, [])
    await grants.keep(replace(begun(), door=door, allows_private=True), ended, "ann")
    assert await grants.token(URL) == "access-token"
    with pytest.raises(SignInFailed, match="cannot be reached"):
        await grants.renewed(URL, "access-token")
    assert grants.of(URL) is not None


async def test_what_is_damaged_on_disk_lets_nobody_in(folder: Path) -> None:
    await opened(folder, []).keep(begun(), OAuthTokens(access_token="access-token"), "ann")
    (folder / name_of(URL)).write_text("{}{}{}{}", encoding="utf-8")
    assert opened(folder, []).of(URL) is None


@pytest.mark.parametrize(
    ("url", "headers", "variable", "may"),
    [
        (URL, {}, None, True),
        (URL, {"X-Team": "a"}, None, True),
        (URL, {"Authorization": "Bearer $A"}, None, False),
        (URL, {}, "WIKI", False),
        (None, {}, None, False),
    ],
)
def test_a_person_signs_in_only_where_the_settings_say_nothing_else(
    url: str | None, headers: dict[str, str], variable: str | None, may: bool
) -> None:
    assert may_sign_in(url, headers, variable) is may
