"""An account of Copilot is lent by a word; its token is put in on the way out."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.accounts import Grant
from airboss.harness.lent_account import CopilotService, LentAccount, nonce_in, word_in
from airboss.harness.proxy import ProviderProxy
from airboss.harness.token_command import AccountToken, NoToken
from airboss.net.loopback import Peer, Scope
from airboss.runtime.handed_calls import COPILOT_HOST
from tests.harness.upstream import Answer, Wire, providing

pytestmark = pytest.mark.anyio

JSON = "Content-Type: application/json"


def scope(word: str, path: str = "/models", host: str = COPILOT_HOST, method: str = "GET") -> Scope:
    headers = [
        (b"host", host.encode()),
        (b"authorization", f"Bearer {word}".encode()),
        (b"copilot-integration-id", b"copilot-sdk"),
        (b"connection", b"keep-alive"),
    ]
    raw = {"raw_path": path.encode(), "query_string": b"", "client": ("r", 0)}
    return {"type": "http", "method": method, "headers": headers, **raw}


async def asked(proxy: ProviderProxy, given: Scope) -> tuple[int, Any]:
    """What a runtime hears that hands this call over."""
    told: list[Any] = []

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def send(message: Any) -> None:
        told.append(message)

    cut: Callable[[Peer], None] = lambda _: told.append("cut")  # noqa: E731
    await proxy.answer_handed(given, receive, send, cut)
    body = b"".join(one.get("body", b"") for one in told[1:])
    return told[0]["status"], json.loads(body)


async def says_who(wire: Wire) -> None:
    who = {"login": "somebody", "endpoints": {"api": "https://api.elsewhere.example"}}
    await wire.whole(200, json.dumps(who).encode(), JSON)


def proxy_of(url: str, *, api: bool = True) -> ProviderProxy:
    return ProviderProxy(copilot=CopilotService(url if api else None, url))


def test_the_service_is_where_the_variables_of_the_runtime_say() -> None:
    usual = CopilotService.of({})
    assert usual.api.base_url == "https://api.githubcopilot.com"
    assert usual.user.base_url == "https://api.github.com"
    assert not usual.api.allows_private
    there = {
        "COPILOT_API_URL": "http://127.0.0.1:1/",
        "COPILOT_DEBUG_GITHUB_API_URL": "http://[::1]",
    }
    own = CopilotService.of(there)
    assert (own.api.base_url, own.user.base_url) == ("http://127.0.0.1:1", "http://[::1]")
    assert own.api.allows_private
    assert CopilotService.of({"GH_HOST": "us.ghe.com"}).user.base_url == "https://api.us.ghe.com"


def test_a_word_is_read_where_a_token_would_stand() -> None:
    for said in (b"Bearer caged-0a", b"token caged-0a", b"bearer  caged-0a "):
        assert nonce_in(word_in([(b"authorization", said)])) == "0a"
    for said in (b"Bearer ghp_real", b"caged-0a", b"Bearer caged-", b"Basic caged-0a"):
        assert word_in([(b"authorization", said)]) == ""
    assert word_in([]) == ""
    assert word_in([(b"authorization", b"Bearer caged-0a")] * 2) == ""


async def test_calls_get_the_token_and_only_those_that_a_session_needs() -> None:
    async with providing() as service:
        proxy = proxy_of(service.url(""))
        lent = proxy.lend_account(Grant("a", token="real-token"))
        assert "real-token" not in repr(lent)
        assert await asked(proxy, scope(lent.word)) == (200, {"hello": 1})
        usual = scope(lent.word, "/responses", "api.githubcopilot.com", "POST")
        assert (await asked(proxy, usual))[0] == 200
        headers = service.got[0].headers
        assert headers["authorization"] == "Bearer real-token"
        assert headers["copilot-integration-id"] == "copilot-sdk"
        assert lent.word not in str(service.got)
        for path in ("/mcp", "/mcp/readonly", "/agents", "/models/../mcp", "/user", ""):
            assert (await asked(proxy, scope(lent.word, path)))[0] == 404
        assert (await asked(proxy, scope(lent.word, method="DELETE")))[0] == 405
        assert (await asked(proxy, scope(lent.word, host="api.github.com")))[0] == 421
        assert (await asked(proxy, scope("caged-0123")))[0] == 404
        lent.give_back()
        assert (await asked(proxy, scope(lent.word)))[0] == 404
        assert len(service.got) == 2
        await proxy.close()


async def test_a_refused_token_is_renewed_once_and_said_where_there_is_no_other() -> None:
    async def picky(wire: Wire) -> None:
        is_good = wire.got.headers["authorization"] == "Bearer second"
        await wire.whole(200 if is_good else 401, b"{}", JSON)

    async with providing(picky) as service:
        proxy, left = proxy_of(service.url("")), ["first", "second"]

        async def renew() -> AccountToken:
            if not left:
                raise NoToken("The command said nothing.")
            return AccountToken(left.pop(0), 7200)

        renewing = proxy.lend_account(Grant("a", renew=renew))
        assert (await asked(proxy, scope(renewing.word)))[0] == 200
        assert (await asked(proxy, scope(renewing.word)))[0] == 200
        assert len(service.got) == 3
        failing = proxy.lend_account(Grant("a", renew=renew))
        status, said = await asked(proxy, scope(failing.word))
        assert (status, said["error"]["message"]) == (401, "The command said nothing.")
        fixed = proxy.lend_account(Grant("a", token="old"))
        assert await asked(proxy, scope(fixed.word)) == (401, {})
        await proxy.close()


async def test_who_an_account_is_is_asked_once_and_tells_where_its_service_is() -> None:
    async with providing(says_who) as service:
        proxy = proxy_of(service.url(""), api=False)
        lent = proxy.lend_account(Grant("a", token="real-token"))
        headers = scope(lent.word)["headers"]
        found = [await proxy.user(lent.word, headers) for _ in range(3)]
        assert [json.loads(one.body) for one in found] == [{"login": "somebody"}] * 3
        assert len(service.got) == 1
        assert service.got[0].line == "GET /copilot_internal/user HTTP/1.1"
        assert service.got[0].headers["authorization"] == "Bearer real-token"
        assert lent.api.upstream.base_url == "https://api.elsewhere.example"
        assert lent.api.upstream.paths
        assert (await proxy.user("caged-00", headers)).status == 401
        await proxy.close()


@pytest.mark.parametrize(
    "said", [b"[]", b"{", b'{"endpoints": 1}', b'{"endpoints": {"api": "ftp:"}}']
)
async def test_an_odd_answer_changes_nothing(said: bytes) -> None:
    async def odd(wire: Wire) -> None:
        await wire.whole(200, said, JSON)

    lent = await who_says(odd)
    assert lent.api.upstream.base_url == "https://api.githubcopilot.com"


async def who_says(answer: Answer, statuses: tuple[int, ...] = (200,)) -> LentAccount:
    async with providing(answer) as service:
        proxy = proxy_of(service.url(""), api=False)
        lent = proxy.lend_account(Grant("a", token="real-token"))
        for status in statuses:
            assert (await proxy.user(lent.word, [])).status == status
        await proxy.close()
    return lent


async def test_what_fails_for_a_moment_is_asked_again() -> None:
    left = [b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}", b"HTTP/1.1 200 X\r\n", b""]

    async def half(wire: Wire) -> None:
        said = left.pop(0)
        if said:
            await wire.say(said if said.endswith(b"}") else said + b"Content-Length: 9\r\n\r\n{")
            wire.writer.close()
        else:
            await says_who(wire)

    await who_says(half, (500, 502, 200))


async def test_the_sign_in_of_the_cli_cannot_be_lent() -> None:
    with pytest.raises(Invalid, match="Name an account with a token"):
        ProviderProxy().lend_account(Grant("cli", is_cli=True))
