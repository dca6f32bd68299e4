"""Servers that get `kill -9` in the middle of a fork, and while an agent starts over."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.contract.guest import Guest, only
from tests.portal import Portal

pytestmark = pytest.mark.timeout(120)


def kept(portal: Portal) -> set[str]:
    """The runtime's sessions on disk."""
    state = portal.data / "copilot-home" / "session-state"
    return {path.name for path in state.iterdir() if path.is_dir()} if state.exists() else set()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - nothing tells of another's files
            await asyncio.sleep(0.001)


@pytest.fixture
async def portal(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Portal]:
    portal = Portal(tmp_path)
    await asyncio.to_thread(portal.start)
    yield portal
    await asyncio.to_thread(portal.stop)


@asynccontextmanager
async def cut_off(portal: Portal, path: str, moment: Callable[[], bool]) -> AsyncGenerator[Guest]:
    """The server is killed at this moment of a request, and another comes in its place."""
    async with portal.client() as client, asyncio.TaskGroup() as group:

        async def ask() -> None:
            with suppress(httpx2.HTTPError):
                await client.post(path)

        group.create_task(ask())
        await until(moment)
        await asyncio.to_thread(portal.kill)
    await asyncio.to_thread(portal.start)
    async with Guest.of(portal) as guest:
        yield guest


async def test_a_fork_is_whole_or_nothing_is_left_of_it(portal: Portal) -> None:
    async with Guest.of(portal) as guest:
        session = await guest.open()
        await guest.turn(session, "greet me")
        await asyncio.sleep(1)  # so long the runtime takes to have a session on disk
    before = kept(portal)
    path = f"/api/v1/sessions/{session}/fork"
    # When the runtime has begun its copy.
    async with cut_off(portal, path, lambda: kept(portal) > before) as guest:
        made = [
            one["id"]
            for one in (await guest.http.get("/api/v1/sessions")).json()["items"]
            if one["id"] != session
        ]
        assert len(kept(portal)) == len(before) + len(made), "what is no session is removed"
        again = await guest.http.post(path)
        assert again.status_code == 201, again.text
        told = only("session.forked", await guest.events(session))
        assert [one["copy_id"] for one in told] == [*made, again.json()["id"]]
        said = await guest.turn(again.json()["id"], "greet me")
        assert only("turn.ended", said)[0]["outcome"] == "done"


async def test_an_agent_that_starts_over_says_so_once_though_its_server_is_killed(
    portal: Portal,
) -> None:
    async with Guest.of(portal) as guest:
        session = await guest.open()
        await guest.turn(session, "greet me")
        await asyncio.sleep(1)  # as above
    below = psutil.Process(portal.pid).children(recursive=True)
    await asyncio.to_thread(portal.kill)
    # The runtime outlives its server for a moment, and still writes.
    assert not (await asyncio.to_thread(psutil.wait_procs, below, 20))[1]
    shutil.rmtree(portal.data / "copilot-home" / "session-state")
    await asyncio.to_thread(portal.start)
    path = f"/api/v1/sessions/{session}/resume"
    # When the runtime has the new one, and before or behind the word on it.
    async with cut_off(portal, path, lambda: bool(kept(portal))) as guest:
        view = await guest.show(session)
        if view["state"] == "interrupted":
            await guest.do(session, "resume")
        said = await guest.turn(session, "greet me")
        assert only("turn.ended", said)[-1]["outcome"] == "done"
        told = only("session.restarted", await guest.events(session))
        assert [one["number"] for one in told][:1] == [2]
        numbers = [one["number"] for one in told]
        assert numbers == sorted(set(numbers)), "no number is told twice"
        assert len(numbers) <= 2, "it starts over again only where nothing was kept by then"
