"""One listener for all sessions: whose address it is, and for how long."""

import asyncio

import httpx2
import pytest

from airboss.harness.providers import Upstream
from tests.harness.proxied import proxied, said
from tests.harness.test_lent_account import asked, scope
from tests.harness.upstream import Wire

pytestmark = pytest.mark.anyio


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


async def test_what_is_lent_for_calls_that_are_handed_over_is_served_to_no_others() -> None:
    async with proxied() as house:
        handed = await house.proxy.lend(house.lent.upstream, handed=True)
        assert handed.url == f"http://model.caged.invalid/{handed.nonce}/v1"
        answer = await house.http.get(f"http://{house.host}/{handed.nonce}/v1/models")
        assert answer.status_code == 404
        for host, nonce, status in (
            (handed.host, handed.nonce, 200),
            (handed.host, house.lent.nonce, 404),
            (house.host, handed.nonce, 421),
            ("127.0.0.1", handed.nonce, 421),
        ):
            found = await asked(house.proxy, scope("x", f"/{nonce}/v1/models", host))
            assert found[0] == status
        assert len(house.provider.got) == 1
        handed.give_back()
        found = await asked(house.proxy, scope("x", f"/{handed.nonce}/v1/models", handed.host))
        assert found[0] == 404


@pytest.mark.parametrize("path", ["/v1/files", "/v1", "/v1/", "/v1/key/generate", "/v1/x/models"])
async def test_of_what_is_handed_over_only_calls_of_models_are_made(path: str) -> None:
    async with proxied() as house:
        handed = await house.proxy.lend(house.lent.upstream, handed=True)
        status, body = await asked(house.proxy, scope("x", f"/{handed.nonce}{path}", handed.host))
        assert (status, "no call of a model" in str(body)) == (404, True)
        assert house.provider.got == []


async def test_a_provider_is_not_taken_for_an_mcp_server_of_its_name() -> None:
    async with proxied() as house:
        server = Upstream("house", house.lent.upstream.base_url, what="MCP server")
        lent = await house.proxy.lend(server)
        assert house.proxy.sessions_on("house") == 1
        house.proxy.end("house", "It is gone.")
        assert (lent.ended, house.lent.ended) == (None, "It is gone.")


async def test_an_mcp_server_that_fails_says_nothing_of_a_provider_of_its_name() -> None:
    async def fail(wire: Wire) -> None:
        await wire.whole(500, b"{}")

    async with proxied(fail) as house:
        server = Upstream("house", house.provider.url(), {}, True, what="MCP server")
        lent = await house.proxy.lend(server)
        assert (await house.http.post(lent.url, content=b"{}")).status_code == 500
        assert house.proxy.health.of("house") is None
        await house.post()
        assert (health := house.proxy.health.of("house"))
        assert health.cause == "500: it has an error."


async def test_other_methods_are_not_passed_on() -> None:
    async with proxied() as house:
        for method in ("DELETE", "PUT", "PATCH", "OPTIONS"):
            answer = await house.http.request(method, f"{house.lent.url}/files/1")
            assert answer.status_code == 405
        assert house.provider.got == []


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
        await asyncio.wait_for(asked.wait(), 30)
        house.lent.give_back()
        with pytest.raises(httpx2.TransportError):
            await asking
        await asyncio.wait_for(house.provider.left.wait(), 30)


async def test_many_sessions_ask_at_once() -> None:
    async with proxied() as house:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(house.post()) for _ in range(110)]
        assert {task.result().status_code for task in asked} == {200}
