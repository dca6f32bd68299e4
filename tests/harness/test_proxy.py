"""The proxy between the runtime and providers: what goes out by it, and what comes back."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from airboss.harness.lent_address import LentAddress
from airboss.harness.providers import Upstream
from airboss.harness.proxy import ProviderProxy
from airboss.harness.proxy_call import ProxyLimits
from tests.harness.upstream import Answer, Provider, Wire, hello, providing

pytestmark = pytest.mark.anyio

KEY = "key-of-the-house-0123456789"
SMALL = ProxyLimits(request_bytes=3 * 1024 * 1024, answer_bytes=2 * 1024 * 1024)


class House:
    """A provider, the proxy, an address of it, and who asks there."""

    def __init__(
        self, provider: Provider, proxy: ProviderProxy, lent: LentAddress, http: httpx2.AsyncClient
    ) -> None:
        self.provider, self.proxy, self.lent, self.http = provider, proxy, lent, http

    async def post(
        self,
        path: str = "/chat/completions",
        content: bytes | AsyncIterator[bytes] = b"{}",
        headers: dict[str, str] | None = None,
    ) -> httpx2.Response:
        return await self.http.post(self.lent.url + path, content=content, headers=headers)

    @property
    def host(self) -> str:
        return urlsplit(self.lent.url).netloc


@contextlib.asynccontextmanager
async def proxied(
    answer: Answer = hello,
    path: str = "/v1",
    host: str = "127.0.0.1",
    *,
    private: bool = True,
    limits: ProxyLimits = SMALL,
) -> AsyncGenerator[House]:
    proxy = ProviderProxy(limits)
    async with (
        providing(answer) as provider,
        httpx2.AsyncClient(trust_env=False, timeout=10) as http,
    ):
        headers = {"X-Team": "night", "Authorization": f"Bearer {KEY}"}
        upstream = Upstream("house", provider.url(path, host), headers, private)
        try:
            yield House(provider, proxy, await proxy.lend(upstream), http)
        finally:
            await proxy.close()


def leads_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
    """A resolver for rebind.test that says something else each time, and the last for ever."""
    real, left = socket.getaddrinfo, list(answers)

    def look_up(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        if host != "rebind.test":
            return real(host, port, *more, **options)
        addresses = left.pop(0) if len(left) > 1 else left[0]
        return [found for one in addresses for found in real(one, port, *more, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def said(answer: httpx2.Response) -> str:
    return answer.json()["error"]["message"]


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
        await asyncio.wait_for(heard.wait(), 5)
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
        await asyncio.wait_for(reached.wait(), 5)
        yield b"second"

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with server, proxied() as house:
        port = server.sockets[0].getsockname()[1]
        lent = await house.proxy.lend(Upstream("slow", f"http://127.0.0.1:{port}", {}, True))
        answer = await house.http.post(f"{lent.url}/x", content=body())
        assert answer.status_code == 200


async def test_nothing_is_served_without_the_address_of_an_open_session() -> None:
    async with proxied() as house:
        other = await house.proxy.lend(house.lent.upstream)
        assert len(house.lent.nonce) == 24
        assert other.nonce != house.lent.nonce
        house.lent.give_back()
        for url in (
            f"{house.lent.url}/models",
            f"http://{house.host}/",
            f"http://{house.host}/v1/models",
            f"http://{house.host}/openai/v1/models",
            f"http://{house.host}//{other.nonce}/v1/models",
        ):
            answer = await house.http.get(url)
            assert (answer.status_code, said(answer)) == (
                404,
                "There is nothing here, or no longer.",
            )
        assert house.provider.got == []
        assert (await house.http.get(f"{other.url}/models")).status_code == 200


@pytest.mark.parametrize("host", ["localhost:{port}", "evil.test", "127.0.0.1", "127.0.0.1:1"])
async def test_another_host_is_refused(host: str) -> None:
    async with proxied() as house:
        port = house.host.partition(":")[2]
        answer = await house.post(headers={"Host": host.format(port=port)})
        assert answer.status_code == 421
        assert house.provider.got == []


@pytest.mark.parametrize(
    "path", ["/v1/%2e%2e/admin", "/v1/x/..%2fy", "/v1/%252e%252e/a", "/admin", "/v10"]
)
async def test_nothing_beside_the_base_address_is_reached(path: str) -> None:
    async with proxied() as house:
        url = house.lent.url.removesuffix("/v1") + path
        async with _raw(house.host, f"GET {urlsplit(url).path} HTTP/1.1") as answered:
            assert answered.startswith(b"HTTP/1.1 404")
        assert house.provider.got == []


async def test_other_methods_are_not_passed_on() -> None:
    async with proxied() as house:
        for method in ("DELETE", "PUT", "PATCH", "OPTIONS"):
            answer = await house.http.request(method, f"{house.lent.url}/files/1")
            assert answer.status_code == 405
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
                await wire.whole(200, b"x" * 100 * 1024 * 1024)
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
        await asyncio.wait_for(house.provider.left.wait(), 5)


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
            await asyncio.wait_for(begun.wait(), 5)
        await asyncio.wait_for(house.provider.left.wait(), 5)


@pytest.mark.parametrize("is_begun", [True, False])
async def test_an_address_that_is_given_back_ends_what_is_on_its_way(is_begun: bool) -> None:
    asked = asyncio.Event()

    async def wait(wire: Wire) -> None:
        if is_begun:
            await wire.begin()
            await wire.chunk(b"begun")
        asked.set()
        await wire.reader.readexactly(1)

    async with proxied(wait) as house:
        asking = asyncio.ensure_future(house.post())
        await asyncio.wait_for(asked.wait(), 5)
        house.lent.give_back()
        with pytest.raises(httpx2.TransportError):
            await asking
        await asyncio.wait_for(house.provider.left.wait(), 5)


async def test_many_sessions_ask_at_once() -> None:
    async with proxied() as house:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(house.post()) for _ in range(150)]
        assert {task.result().status_code for task in asked} == {200}


async def test_an_address_of_ours_and_its_number_are_in_no_words() -> None:
    async with proxied() as house:
        lent, real = house.lent, house.provider.url()
        told = lent.in_our_words(f"error sending request for url ({lent.url}/chat/completions)")
        assert told == f"error sending request for url ({real}/chat/completions)"
        lent.trouble = "The provider house cannot be reached: no."
        assert lent.in_our_words(f"502 {lent.trouble}") == f"502 {lent.trouble}"
        assert lent.in_our_words("Broken.") == f"{lent.trouble} The agent runtime said: Broken."
        assert KEY not in f"{lent} {lent.upstream}"
        assert lent.nonce not in lent.in_our_words(f"x {lent.nonce} y")


@contextlib.asynccontextmanager
async def _raw(host: str, line: str) -> AsyncGenerator[bytes]:
    """For addresses that a client would tidy up."""
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"{line}\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    yield await reader.read()
    writer.close()
