"""What servers say about their sign-ins, and what is not believed: over real sockets."""

import gzip
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from airboss.errors import SignInFailed
from airboss.harness.oauth import SetClient, begin, finish, look, renew
from airboss.harness.oauth_metadata import OAuthClient
from airboss.net.loopback import HOST, Receive, Scope, Send, listen, served

BACK = "http://localhost/inbox.html"


Answer = tuple[int, Any, dict[str, str]]


@dataclass
class Stranger:
    """A server of which anything is said that a test wants."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    asked: list[str] = field(default_factory=list[str])
    # What came with each: the body, and what says who asks.
    given: list[str] = field(default_factory=list[str])
    address: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = f"{scope['method']} {scope['path']}"
        self.asked.append(path)
        headers = dict(scope["headers"])
        body = (await receive()).get("body", b"")
        self.given.append(f"{body.decode()} {headers.get(b'authorization', b'').decode()}")
        status, body, headers = self.answers.get(path, (404, "", {}))
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        await send({"type": "http.response.body", "body": text})

    def says(self, **door: Any) -> None:
        """All that a good one says, but for what is given."""
        at = self.address
        told = {"resource": f"{at}/mcp", "authorization_servers": [at], "scopes_supported": ["a"]}
        whole = {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize?tenant=1",
            "token_endpoint": f"{at}/token",
            "registration_endpoint": f"{at}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }
        self.answers |= {
            "POST /mcp": (401, "", {"www-authenticate": "Bearer"}),
            "GET /.well-known/oauth-protected-resource/mcp": (200, told, {}),
            "GET /.well-known/oauth-authorization-server": (200, {**whole, **door}, {}),
            "POST /register": (201, {"client_id": "we"}, {}),
            "POST /token": (200, {"access_token": "token-of-this-test"}, {}),
        }


@asynccontextmanager
async def _standing() -> AsyncGenerator[Stranger]:
    stranger, listening = Stranger(), listen()
    stranger.address = f"http://{HOST}:{listening.getsockname()[1]}"
    async with served(stranger, listening):
        yield stranger


@pytest.fixture
async def stranger() -> AsyncGenerator[Stranger]:
    async with _standing() as stranger:
        stranger.says()
        yield stranger


async def test_a_sign_in_is_begun_finished_and_renewed(stranger: Stranger) -> None:
    begun = await begin(f"{stranger.address}/mcp", BACK, allows_private=True)
    assert begun.address.startswith(f"{stranger.address}/authorize?tenant=1&response_type=code&")
    assert "code_challenge_method=S256" in begun.address
    assert "scope=a" in begun.address
    assert begun.verifier not in begun.address
    assert begun.state not in repr(begun)
    tokens = await finish(begun, "code", None)
    assert tokens.access_token == "token-of-this-test"
    assert tokens.access_token not in repr(tokens)
    with pytest.raises(SignInFailed, match="from another server"):
        await finish(begun, "code", "https://elsewhere.example")
    client = OAuthClient(client_id="we")
    end = f"{stranger.address}/token"
    stranger.answers["POST /token"] = (400, {"error": "invalid_grant"}, {})
    with pytest.raises(SignInFailed, match=r"refused the sign-in \(status 400, invalid_grant\)"):
        await renew(end, client, "old-refresh-token", "r", allows_private=True)


async def test_what_is_packed_is_not_unpacked(stranger: Stranger) -> None:
    """A megabyte of nothing has a thousand bytes, and could be a gigabyte."""
    end, packed = f"{stranger.address}/token", gzip.compress(b" " * 1_000_000)
    stranger.answers["POST /token"] = (200, packed, {"content-encoding": "gzip"})
    with pytest.raises(SignInFailed, match="something that is not a token"):
        await renew(end, OAuthClient(client_id="we"), "old-token", "r", allows_private=True)
    stranger.answers["POST /token"] = (400, b"[" * 100_000, {})
    with pytest.raises(SignInFailed, match=r"refused the sign-in \(status 400\)"):
        await renew(end, OAuthClient(client_id="we"), "old-token", "r", allows_private=True)


BAD: dict[str, tuple[str, Answer, str]] = {
    "no sign-in": ("POST /mcp", (200, {}, {}), "does not ask for a sign-in"),
    "garbage": ("GET /.well-known/oauth-authorization-server", (200, b"<html>", {}), "not a descr"),
    "another resource": (
        "GET /.well-known/oauth-protected-resource/mcp",
        (200, {"resource": "https://bank.example/"}, {}),
        "says that it is bank.example",
    ),
    "a private address": (
        "GET /.well-known/oauth-protected-resource/mcp",
        (307, "", {"location": "http://169.254.169.254/latest"}),
        r"redirects to 169\.254\.169\.254 \(307\), which is not followed",
    ),
    "a flood": (
        "GET /.well-known/oauth-protected-resource/mcp",
        (200, b"x" * 300_000, {}),
        "more than 256 KB",
    ),
    "no description": (
        "GET /.well-known/oauth-authorization-server",
        (404, "", {}),
        "does not say how to sign in",
    ),
    "no registration": ("POST /register", (403, {"error": "<b>"}, {}), r"\(status 403\)"),
}


@pytest.mark.parametrize("what", BAD)
async def test_a_server_that_does_otherwise_is_not_believed(stranger: Stranger, what: str) -> None:
    path, answer, words = BAD[what]
    stranger.answers[path] = answer
    with pytest.raises(SignInFailed, match=words):
        await begin(f"{stranger.address}/mcp", BACK, allows_private=True)


@pytest.mark.parametrize(
    ("door", "words"),
    [
        ({"issuer": "https://elsewhere.example"}, "says that it is elsewhere.example"),
        ({"code_challenge_methods_supported": ["plain"]}, "by PKCE"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "without https"),
        ({"token_endpoint": "ftp://in.example/token"}, "without https"),
        ({"registration_endpoint": None}, "register themselves"),
    ],
)
async def test_a_door_that_is_not_safe_is_not_opened(
    stranger: Stranger, door: dict[str, Any], words: str
) -> None:
    stranger.says(**door)
    with pytest.raises(SignInFailed, match=words):
        await look(f"{stranger.address}/mcp", allows_private=True)


@pytest.mark.parametrize(
    ("secret", "offered", "sent"),
    [
        (None, ["none"], "client_id=us"),
        ("hush-hush", ["client_secret_post"], "client_id=us&client_secret=hush-hush"),
        ("hush-hush", ["none", "client_secret_basic"], "Basic dXM6aHVzaC1odXNo"),
        ("hush-hush", None, "Basic dXM6aHVzaC1odXNo"),
    ],
)
async def test_one_whom_the_settings_name_does_not_register(
    stranger: Stranger, secret: str | None, offered: list[str] | None, sent: str
) -> None:
    stranger.says(registration_endpoint=None, token_endpoint_auth_methods_supported=offered)
    url = f"{stranger.address}/mcp"
    await look(url, allows_private=True, has_client=True)
    known = SetClient("us", secret, secret and "OURS")
    assert "hush-hush" not in repr(known)
    begun = await begin(url, BACK, allows_private=True, known=known)
    assert "client_id=us&" in begun.address
    assert "hush-hush" not in begun.address
    await finish(begun, "code", None)
    assert stranger.asked[-1] == "POST /token"
    assert "POST /register" not in stranger.asked
    assert sent in stranger.given[-1]
    assert secret is not None or "client_secret" not in stranger.given[-1]


async def test_one_that_is_private_or_gone_is_not_called(stranger: Stranger) -> None:
    with pytest.raises(SignInFailed, match=r"is not a public address\. If it is meant"):
        await look(f"{stranger.address}/mcp", allows_private=False)
    assert stranger.asked == []
    with pytest.raises(SignInFailed, match="cannot be reached"):
        await look("http://127.0.0.1:1/mcp", allows_private=True)
    stranger.answers["POST /token"] = (200, {"access_token": "a b"}, {})
    begun = await begin(f"{stranger.address}/mcp", BACK, allows_private=True)
    with pytest.raises(SignInFailed, match=r"not a token \(access_token\)"):
        await finish(begun, "code", None)


async def test_one_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airboss.harness.oauth._SECONDS", 0.3)
    with listen() as deaf, pytest.raises(SignInFailed, match="did not answer"):
        await look(f"http://{HOST}:{deaf.getsockname()[1]}/mcp", allows_private=True)
