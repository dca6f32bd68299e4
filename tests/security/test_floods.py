"""A crowd of strangers holds connections; whoever has the token, and whoever signs in, gets on."""

import asyncio
import time
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest

from tests.portal import Portal
from tests.security.flood import descriptor_limit, flooded

pytestmark = [pytest.mark.anyio, pytest.mark.alone]

CROWD = 1500
ASKED = 60


@pytest.fixture
def common_portal(tmp_path: Path) -> Generator[Portal]:
    """A server that was started with the descriptors that a login shell has."""
    portal = Portal(tmp_path, is_cold=True)
    with descriptor_limit(1024):
        portal.start()
    yield portal
    portal.stop()


async def seconds_for(portal: Portal, path: str) -> float:
    """One request of the owner, on a connection of its own, as a command makes it."""
    began = time.monotonic()
    async with portal.client() as client:
        answer = await client.get(path)
    assert answer.status_code == 200
    return time.monotonic() - began


async def test_1500_slow_strangers_keep_nobody_out(common_portal: Portal) -> None:
    portal = common_portal
    async with portal.client() as owner, flooded(urlsplit(portal.url).port or 0, CROWD) as flood:
        await asyncio.sleep(4)
        assert flood.open + flood.cut >= CROWD, "the crowd is there"
        taken = [await seconds_for(portal, "/api/v1/sessions") for _ in range(ASKED)]
        assert sorted(taken)[-2] < 1.0, taken
        link = (await owner.post("/api/v1/links")).json()["url"]
        async with httpx2.AsyncClient(base_url=portal.url, timeout=10) as browser:
            code = {"code": link.partition("#code=")[2]}
            assert (await browser.post("/api/v1/signin", json=code)).status_code == 204
        assert psutil.Process(portal.pid).num_fds() < 1024, "strangers hold a part of it"
    assert "Traceback" not in portal.log
