"""One request on its way to a provider, and what comes back of it."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

import httpx2
import pytest

from airboss.errors import SignInFailed
from airboss.harness.providers import Upstream, upstream_of
from airboss.harness.proxy_terms import ProxyLimits
from airboss.provider_settings import Provider, ProviderModel
from tests.harness.proxied import KEY, leads_to, proxied, said
from tests.harness.upstream import Wire

pytestmark = pytest.mark.anyio


async def test_the_provider_gets_the_key_and_not_what_the_runtime_has_in_its_place() -> None:
    async with proxied() as house:
        sent = {
            "Authorization": "Bearer placeholder",
            "api-key": "placeholder",
            "X-Api-Key": "placeholder",
            "Cookie": "a=b",
            "TE": "trailers",
            "Accept-Encoding": "gzip",
            "X-Team": "day",
            "X-Initiator": "user",
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        }
        answer = await house.post("/chat/completions?a=b%20c", content=b'{"x": 1}', headers=sent)
        assert (answer.status_code, answer.json()) == (200, {"hello": 1})
        [got] = house.provider.got
        assert got.line == "POST /v1/chat/completions?a=b%20c HTTP/1.1"
        assert got.body == b'{"x": 1}'
        assert got.headers["authorization"] == f"Bearer {KEY}"
        assert got.headers["x-team"] == "night"
        assert got.headers["x-initiator"] == "user"
        assert got.headers["traceparent"] == sent["traceparent"]
        assert got.headers["accept-encoding"] == "identity"
        assert got.headers["host"] == f"127.0.0.1:{house.provider.port}"
        assert not {"api-key", "x-api-key", "cookie", "te"} & set(got.headers)
        assert "placeholder" not in str(got)


async def test_an_answer_comes_as_it_is_but_for_what_belongs_to_its_connection() -> None:
    async def slow_down(wire: Wire) -> None:
        lines = ("Retry-After: 7", "Set-Cookie: a=b", "Alt-Svc: h3", "X-Request-Id: 1")
        await wire.whole(429, b"later", *lines)

    async with proxied(slow_down) as house:
        answer = await house.post()
        assert (answer.status_code, answer.content) == (429, b"later")
        assert (answer.headers["retry-after"], answer.headers["x-request-id"]) == ("7", "1")
        assert not {"set-cookie", "alt-svc", "server", "date"} & set(answer.headers)
        assert house.lent.trouble is None


async def test_the_query_of_the_base_address_is_sent_with_every_request() -> None:
    async with proxied(path="/deep/v1/?tenant=a") as house:
        await house.http.get(f"{house.lent.url}/models?b=c")
        await house.http.get(f"{house.lent.url}/models")
        lines = [got.line.split()[1] for got in house.provider.got]
        assert lines == ["/deep/v1/models?tenant=a&b=c", "/deep/v1/models?tenant=a"]


async def test_pieces_arrive_while_the_provider_still_talks() -> None:
    heard = asyncio.Event()

    async def talk(wire: Wire) -> None:
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b"one")
        await asyncio.wait_for(heard.wait(), 30)
        await wire.chunk(b"two", b"three", b"")

    async with (
        proxied(talk) as house,
        house.http.stream("POST", f"{house.lent.url}/x", content=b"{}") as answer,
    ):
        assert answer.headers["content-type"] == "text/event-stream"
        pieces = answer.aiter_raw()
        assert await anext(pieces) == b"one"
        heard.set()
        assert b"".join([piece async for piece in pieces]) == b"twothree"


async def test_a_request_goes_on_while_the_runtime_still_writes_it() -> None:
    reached = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"first")
        reached.set()
        await reader.readuntil(b"second")
        writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def body() -> AsyncIterator[bytes]:
        yield b"first"
        await asyncio.wait_for(reached.wait(), 30)
        yield b"second"

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with server, proxied() as house:
        port = server.sockets[0].getsockname()[1]
        lent = await house.proxy.lend(Upstream("slow", f"http://127.0.0.1:{port}", {}, True))
        answer = await house.http.post(f"{lent.url}/x", content=body())
        assert answer.status_code == 200


@pytest.mark.parametrize(
    "path", ["/v1/%2e%2e/admin", "/v1/x/..%2fy", "/v1/%252e%252e/a", "/admin", "/v10"]
)
async def test_nothing_beside_the_base_address_is_reached(path: str) -> None:
    async with proxied() as house:
        url = house.lent.url.removesuffix("/v1") + path
        async with _raw(house.host, f"GET {urlsplit(url).path} HTTP/1.1") as answered:
            assert answered.startswith(b"HTTP/1.1 404")
        assert house.provider.got == []


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_request_that_is_too_large_is_refused_in_words(is_chunked: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"x" * 1024 * 1024

    async with proxied() as house:
        content = pieces() if is_chunked else b"x" * 5 * 1024 * 1024
        try:
            answer = await house.post(content=content)
        except httpx2.TransportError:
            pass  # the rest of it was not read
        else:
            assert answer.status_code == 413
        assert house.lent.trouble == "The request to the provider house has more than 3 MB."
        assert house.provider.got == []
        assert (await house.post()).status_code == 200
        assert house.lent.trouble is None


async def test_a_redirect_is_told_by_its_host_and_not_followed() -> None:
    async def elsewhere(wire: Wire) -> None:
        await wire.whole(307, b"", "Location: http://10.0.0.1:8080/path?token=hush")

    async with proxied(elsewhere) as house:
        answer = await house.post()
        assert answer.status_code == 400
        assert said(answer) == (
            "The provider house redirects to 10.0.0.1 (307), which is not followed. "
            "Set its base_url to where it really is."
        )
        assert "location" not in answer.headers
        assert len(house.provider.got) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 304, 308])
async def test_every_kind_of_redirect_is_an_error(status: int) -> None:
    async def elsewhere(wire: Wire) -> None:
        await wire.whole(status, b"", "Location: http://[")

    async with proxied(elsewhere) as house:
        answer = await house.post()
        assert (answer.status_code, "is not followed" in said(answer)) == (400, True)


async def test_a_private_address_is_for_providers_that_are_said_to_be_private() -> None:
    async with proxied(private=False) as house:
        answer = await house.post("/secret-path")
        assert said(answer) == (
            "The provider house cannot be reached: 127.0.0.1 is not a public address. "
            "If it is meant to be reached, set private = true for it in settings.toml."
        )
        assert house.provider.got == []


@pytest.mark.parametrize("host", ["169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]"])
async def test_where_a_cloud_keeps_its_keys_nobody_goes(host: str) -> None:
    async with proxied(host=host) as house:
        assert "is where a cloud keeps its machines' keys." in said(await house.post())


async def test_a_name_that_leads_elsewhere_the_next_time_is_not_followed_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leads_to(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    async with proxied(host="rebind.test") as house:
        assert (await house.post()).status_code == 200
        answer = await house.post()
        assert (answer.status_code, len(house.provider.got)) == (400, 1)
        assert "rebind.test is where a cloud keeps its machines' keys" in said(answer)


async def test_one_private_answer_of_a_resolver_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    leads_to(monkeypatch, ["1.1.1.1", "127.0.0.1"])
    async with proxied(host="rebind.test", private=False) as house:
        assert "rebind.test is not a public address" in said(await house.post())
        assert house.provider.got == []


async def test_a_provider_that_is_down_or_unknown_is_told_by_its_name() -> None:
    async with proxied() as house:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        down = await house.proxy.lend(Upstream("down", f"http://127.0.0.1:{port}", {}, True))
        answer = await house.http.get(f"{down.url}/models")
        assert answer.status_code == 502
        assert said(answer).startswith("The provider down cannot be reached: ")
        away = await house.proxy.lend(Upstream("away", "http://nowhere.invalid", {}, True))
        answer = await house.http.get(f"{away.url}/models")
        assert said(answer).startswith("The provider away cannot be reached: nowhere.invalid was")


class _Unrenewed:
    """A token that nobody takes, and whose door is closed for a while."""

    async def token(self) -> str | None:
        return "an-old-token"

    async def renewed(self, stale: str) -> str | None:
        raise SignInFailed("door.test cannot be reached.")


async def test_a_token_that_cannot_be_renewed_just_now_asks_nobody_to_sign_in() -> None:
    async def stranger(wire: Wire) -> None:
        await wire.whole(401, b"{}")

    async with proxied(stranger) as house:
        house.lent.upstream = replace(house.lent.upstream, what="MCP server")
        house.lent.entry = _Unrenewed()
        answer = await house.post()
        assert answer.status_code == 502
        assert said(answer).endswith("cannot be renewed now: door.test cannot be reached.")
        assert not house.lent.wants_sign_in


async def test_an_address_that_no_client_takes_is_told_in_words() -> None:
    async with proxied() as house:
        house.lent.replace(replace(house.lent.upstream, base_url="https://256.1.1.1/v1"))
        answer = await house.post()
    assert answer.status_code == 400
    assert said(answer) == (
        "The provider house cannot be reached: its base_url is no address. Check it."
    )


async def test_a_key_that_cannot_be_sent_is_not_repeated(caplog: pytest.LogCaptureFixture) -> None:
    async with proxied() as house:
        key = {"Authorization": f"Bearer {KEY}\nmore"}
        lent = await house.proxy.lend(Upstream("odd", house.provider.url(), key, True))
        answer = await house.http.get(f"{lent.url}/models")
        assert (answer.status_code, said(answer)) == (
            400,
            "The provider odd cannot be reached: its key cannot be sent. "
            "Check the variable that holds it.",
        )
        assert KEY not in caplog.text + str(lent.trouble)
        assert house.provider.got == []


async def test_a_provider_that_says_nothing_is_given_up() -> None:
    async def nothing(wire: Wire) -> None:
        await wire.reader.read()

    limits = ProxyLimits(answer_seconds=0.2)
    async with proxied(nothing, limits=limits) as house:
        answer = await house.post()
        assert said(answer) == "The provider house did not answer within 0.2 s."


@pytest.mark.parametrize(
    "garbage", [b"\x00\xff garbage\r\n\r\n", b"HTTP/1.1 200\r\na b: c\r\n\r\n", b""]
)
async def test_what_is_no_answer_at_all_is_an_error(garbage: bytes) -> None:
    async def babble(wire: Wire) -> None:
        await wire.say(garbage)
        wire.writer.close()

    async with proxied(babble) as house:
        answer = await house.post()
        assert answer.status_code == 502
        assert said(answer).startswith("The provider house gave no answer: ")


async def test_a_key_that_a_provider_repeats_does_not_reach_the_runtime() -> None:
    """The runtime writes down what it is told, where agents can read it."""

    async def repeat(wire: Wire) -> None:
        await wire.begin(401, f"X-Seen: {KEY}")
        await wire.chunk(f"Incorrect key: {KEY[:9]}".encode(), f"{KEY[9:]}.".encode(), b"")

    async with proxied(repeat) as house:
        own = Provider(name="house", base_url=house.provider.url(), models=(ProviderModel(id="m"),))
        house.lent.replace(upstream_of(own, KEY))
        answer = await house.post()
        assert house.provider.got[0].headers["authorization"] == f"Bearer {KEY}"
        assert (answer.status_code, answer.headers["x-seen"]) == (401, "*" * len(KEY))
        assert answer.text == f"Incorrect key: {'*' * len(KEY)}."


async def test_a_web_page_is_no_answer_of_a_model() -> None:
    async def page(wire: Wire) -> None:
        await wire.whole(200, b"<html>", "Content-Type: text/html; charset=utf-8")

    async with proxied(page) as house:
        answer = await house.post()
        assert answer.status_code == 400
        assert said(answer) == "The provider house answered with a web page. Check its base_url."


async def test_half_an_answer_is_not_taken_for_a_whole_one() -> None:
    async def half(wire: Wire) -> None:
        await wire.begin()
        await wire.chunk(b"half of")
        wire.writer.close()

    async with proxied(half) as house:
        with pytest.raises(httpx2.RemoteProtocolError):
            await house.post()
        assert house.lent.trouble is not None
        assert house.lent.trouble.startswith(
            "The provider house broke off in the middle of its answer: "
        )


@pytest.mark.parametrize("is_told", [False, True])
async def test_an_answer_without_end_is_cut(is_told: bool) -> None:
    async def flood(wire: Wire) -> None:
        with contextlib.suppress(ConnectionError):
            if is_told:
                await wire.whole(200, b"x" * 4 * 1024 * 1024)
            else:
                await wire.begin()
                for _ in range(100):
                    await wire.chunk(b"x" * 1024 * 1024)
        raise ConnectionError

    async with proxied(flood) as house:
        if is_told:
            assert said(await house.post()) == "The provider house answered with more than 2 MB."
        else:
            with pytest.raises(httpx2.RemoteProtocolError):
                await house.post()
        assert house.lent.trouble == "The provider house answered with more than 2 MB."
        await asyncio.wait_for(house.provider.left.wait(), 30)


async def test_a_runtime_that_leaves_takes_its_request_with_it() -> None:
    begun = asyncio.Event()

    async def endless(wire: Wire) -> None:
        await wire.begin()
        while True:
            await wire.chunk(b"more")
            begun.set()
            await asyncio.sleep(0.01)

    async with proxied(endless) as house:
        async with house.http.stream("POST", f"{house.lent.url}/x", content=b"{}"):
            await asyncio.wait_for(begun.wait(), 30)
        await asyncio.wait_for(house.provider.left.wait(), 30)


@contextlib.asynccontextmanager
async def _raw(host: str, line: str) -> AsyncGenerator[bytes]:
    """For addresses that a client would tidy up."""
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"{line}\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    yield await reader.read()
    writer.close()
