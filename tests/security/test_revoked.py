"""Whoever is put out is out of what they have open, too: within two seconds, and if nothing is said
there."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import httpx2
import pytest

from tests.crash.witness import ask, start_session, until
from tests.portal import Portal
from tests.signing import sign_in_anew

# What is promised; noticing takes half a second.
_SECONDS = 2.0

PutOut = Callable[[], Awaitable[None]]


async def quiet_session(portal: Portal) -> str:
    """A session in which nothing happens any more, read to its end by `live`."""
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        await ask(client, session, "hello")
        await until(client, session, "session.idle")
        while True:
            told = (await client.post(f"/api/copilot/session/{session}/live")).json()
            if told == {"error": "HttpRequestTimeout"}:
                return session


class Reader:
    """Has everything open that can be, and says when each was closed."""

    def __init__(self, portal: Portal, headers: dict[str, str], session: str) -> None:
        self._client = httpx2.AsyncClient(base_url=portal.url, headers=headers, timeout=30)
        self._session = session
        self.opened = asyncio.Semaphore(0)
        self.closed: dict[str, float] = {}
        self.answers: dict[str, httpx2.Response] = {}

    async def read(self) -> None:
        addresses = [
            f"/api/v1/feed?lists=true&follow={self._session}:0&follow=inbox:0",
            "/api/v1/feed",
            f"/api/v1/sessions/{self._session}/stream?after=0",
        ]
        async with self._client, asyncio.TaskGroup() as tasks:
            for address in addresses:
                tasks.create_task(self._follow(address))
            tasks.create_task(self._poll(f"/api/copilot/session/{self._session}/live"))

    async def _follow(self, address: str) -> None:
        async with self._client.stream("GET", address) as answer:
            assert answer.status_code == 200
            self.opened.release()
            async for _ in answer.aiter_raw():
                pass
        self.closed[address] = time.monotonic()
        self.answers[address] = await self._client.get(address)

    async def _poll(self, address: str) -> None:
        self.opened.release()
        self.answers[address] = await self._client.post(address)
        self.closed[address] = time.monotonic()


async def all_end(reader: Reader, put_out: PutOut) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(reader.read())
        for _ in range(4):
            await reader.opened.acquire()
        await asyncio.sleep(0.6)  # between two heartbeats, and while `live` waits
        await put_out()
        began = time.monotonic()
    late = {address: at - began for address, at in reader.closed.items() if at - began > _SECONDS}
    assert (len(reader.closed), late) == (4, {})
    assert {
        address: answer.status_code for address, answer in reader.answers.items()
    } == dict.fromkeys(reader.closed, 401)


@pytest.fixture
async def session(closed_portal: Portal) -> str:
    return await quiet_session(closed_portal)


async def test_a_removed_token_loses_its_quiet_streams(closed_portal: Portal, session: str) -> None:
    token = closed_portal.run("token", "add", "guest").stdout.strip()

    async def put_out() -> None:
        await asyncio.to_thread(closed_portal.run, "token", "remove", "guest")

    await all_end(Reader(closed_portal, {"Authorization": f"Bearer {token}"}, session), put_out)


async def test_an_ended_sign_in_loses_its_quiet_streams(
    closed_portal: Portal, session: str
) -> None:
    signed = await asyncio.to_thread(sign_in_anew, closed_portal.url, closed_portal.token)

    async def put_out() -> None:
        async with closed_portal.client() as client:
            assert (await client.delete("/api/v1/signins")).status_code == 204

    await all_end(Reader(closed_portal, signed.headers, session), put_out)


async def test_signing_out_closes_the_other_tabs(closed_portal: Portal, session: str) -> None:
    signed = await asyncio.to_thread(sign_in_anew, closed_portal.url, closed_portal.token)

    async def put_out() -> None:
        async with httpx2.AsyncClient(base_url=closed_portal.url, timeout=10) as client:
            answer = await client.post("/api/v1/signout", headers=signed.headers)
            assert answer.status_code == 204

    await all_end(Reader(closed_portal, signed.headers, session), put_out)


async def test_everybody_elses_streams_go_on(closed_portal: Portal, session: str) -> None:
    stays = await asyncio.to_thread(sign_in_anew, closed_portal.url, closed_portal.token)
    goes = await asyncio.to_thread(sign_in_anew, closed_portal.url, closed_portal.token)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(closed_portal.client())
        mine = await stack.enter_async_context(client.stream("GET", "/api/v1/feed"))
        theirs = await stack.enter_async_context(
            client.stream("GET", "/api/v1/feed", headers={**stays.headers, "Authorization": ""})
        )
        await client.post("/api/v1/signout", headers={**goes.headers, "Authorization": ""})
        for answer in (mine, theirs):
            heard = ""
            async with asyncio.timeout(10):
                async for piece in answer.aiter_text():
                    heard += piece
                    if "heartbeat" in heard:
                        break
            assert "heartbeat" in heard
