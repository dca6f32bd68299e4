"""Behind the door one call is answered, and nothing else."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.harness.accounts import Grant
from airboss.harness.lent_account import CopilotService
from airboss.harness.open_cages import OpenCages
from airboss.harness.proxy import ProviderProxy
from airboss.harness.user_door import UserDoor
from airboss.runtime.cage.plan import CagePlan
from tests.harness.upstream import Provider, Wire, providing

pytestmark = pytest.mark.anyio

ASK = "GET /copilot_internal/user HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n\r\n"


async def somebody(wire: Wire) -> None:
    await wire.whole(200, b'{"login": "somebody"}', "Content-Type: application/json")


class House:
    def __init__(self, port: int, word: str, service: Provider, proxy: ProviderProxy) -> None:
        self.port, self.word, self.service, self.proxy = port, word, service, proxy

    async def said(self, text: str) -> tuple[str, str]:
        """The status and the body; nothing where there was no answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(text.encode())
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = await reader.read()
        writer.close()
        head, _, body = answer.decode().partition("\r\n\r\n")
        return head[9:12], body


@contextlib.asynccontextmanager
async def house() -> AsyncGenerator[House]:
    async with providing(somebody) as service:
        proxy = ProviderProxy(copilot=CopilotService(None, service.url("")))
        lent = proxy.lend_account(Grant("a", token="real-token"))
        server = await asyncio.start_server(UserDoor(proxy).serve, "127.0.0.1", 0)
        try:
            yield House(server.sockets[0].getsockname()[1], lent.word, service, proxy)
        finally:
            server.close()
            await proxy.close()


async def test_who_has_the_word_learns_who_it_is() -> None:
    async with house() as place:
        status, body = await place.said(ASK.format(place.word))
        assert (status, json.loads(body)) == ("200", {"login": "somebody"})
        assert [one.headers["authorization"] for one in place.service.got] == ["Bearer real-token"]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (ASK.format("real-token"), "401"),
        (ASK.format("caged-00"), "401"),
        (ASK.replace("Authorization", "X-Other"), "401"),
        (ASK.replace("GET", "POST"), "404"),
        (ASK.replace("/user", "/v2/token"), "404"),
        (ASK.replace("/user", "/user?x=y"), "404"),
        (ASK.replace("/copilot", "http://elsewhere.example/copilot"), "404"),
        ("\r\n\r\n", "404"),
        ("GET / HTTP/1.1\r\n" + "x" * 100_000, ""),
    ],
)
async def test_nothing_else_is_behind_it(text: str, status: str) -> None:
    async with house() as place:
        assert (await place.said(text))[0] == status
        assert place.service.got == []


async def test_a_cage_that_keeps_its_door_full_keeps_no_other_one_out() -> None:
    async with house() as place, contextlib.AsyncExitStack() as stack:
        cages = OpenCages(lambda: UserDoor(place.proxy).serve)
        ports: list[int] = []
        for key in ("one", "other"):
            plan = CagePlan("strong", "default", CageProfile(), Path("/work"), key)
            user = cages.doors(plan).user
            assert user is not None
            server = await asyncio.start_server(user, "127.0.0.1", 0)
            stack.callback(server.close)
            ports.append(server.sockets[0].getsockname()[1])
        one, other = ports
        waiting = [await asyncio.open_connection("127.0.0.1", one) for _ in range(16)]
        await asyncio.sleep(0.05)
        place.port = one
        assert await place.said(ASK.format(place.word)) == ("", "")
        place.port = other
        assert (await place.said(ASK.format(place.word)))[0] == "200"
        for _, writer in waiting:
            writer.close()


async def test_who_knocks_too_often_at_once_is_not_heard() -> None:
    async with house() as place:
        waiting = [await asyncio.open_connection("127.0.0.1", place.port) for _ in range(16)]
        await asyncio.sleep(0.05)
        assert await place.said(ASK.format(place.word)) == ("", "")
        for _, writer in waiting:
            writer.close()
        await asyncio.sleep(0.05)
        assert (await place.said(ASK.format(place.word)))[0] == "200"
