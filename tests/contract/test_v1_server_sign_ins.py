"""Sign-ins at MCP servers over v1: who may begin, finish and end them, by role."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from tests.portal import Portal
from tests.servers.started import SIGNED_IN, Wiki, person_at, started

pytestmark = pytest.mark.timeout(120)

BEGIN = "/api/v1/sessions/{}/mcp-servers/wiki/sign-in"
FINISH = "/api/v1/mcp-sign-ins"


@pytest.fixture(scope="module")
def wiki() -> Generator[Wiki]:
    with started(SIGNED_IN) as address:
        yield Wiki(address)


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory, wiki: Wiki) -> Generator[Portal]:
    folder: Path = tmp_path_factory.mktemp("signing")
    portal = Portal(folder, ("--root", str(folder)))
    portal.data.mkdir()
    settings = f'mcp_wait_seconds = 60\n[session.mcp_servers.wiki]\nurl = "{wiki.url}"\n'
    (portal.data / "settings.toml").write_text(settings, "utf-8")
    with portal.serving():
        yield portal


def somebody(portal: Portal, role: str) -> httpx2.AsyncClient:
    made = portal.run("token", "add", f"{role}-only", "--role", role)
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    return httpx2.AsyncClient(base_url=portal.url, headers=headers, timeout=30)


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def test_a_sign_in_needs_the_role_decide(portal: Portal, wiki: Wiki) -> None:
    async with portal.client() as owner:
        asked = {"model": "rehearsal", "cwd": str(portal.work)}
        session = (await owner.post("/api/v1/sessions", json=asked)).json()["id"]
        place = BEGIN.format(session)
        for role in ("view", "operate"):
            async with somebody(portal, role) as client:
                begun = await client.post(place)
                assert refusal(begun) == (403, "role_needed")
                assert "decide" in begun.text
                finished = await client.post(FINISH, json={"state": "x", "code": "y"})
                assert refusal(finished) == (403, "role_needed")
                assert refusal(await client.delete(place)) == (403, "role_needed")
                seen = (await client.get(f"/api/v1/sessions/{session}/setup")).json()
                assert seen["mcp_servers"][0]["can_sign_in"], "to look is for all"
        async with somebody(portal, "decide") as client, somebody(portal, "own") as other:
            url = (await client.post(place)).json()["url"]
            back = await asyncio.to_thread(person_at, url)
            # Also an owner finishes only what they began.
            assert refusal(await other.post(FINISH, json=back)) == (409, "conflict")
            done = await client.post(FINISH, json=back)
            assert (done.status_code, done.json()["server"]) == (200, "wiki")
            seen = (await owner.get(f"/api/v1/sessions/{session}/setup")).json()
            assert seen["mcp_servers"][0]["signed_in"] == "decide-only"
            assert (await client.delete(place)).status_code in (200, 204)
            assert refusal(await other.delete(place)) == (404, "not_found")

            url = (await other.post(place)).json()["url"]
            back = await asyncio.to_thread(person_at, url)
            assert (await other.post(FINISH, json=back)).status_code == 200
            seen = (await owner.get(f"/api/v1/sessions/{session}/setup")).json()
            assert seen["mcp_servers"][0]["signed_in"] == "own-only"
            assert (await other.delete(place)).status_code in (200, 204)
        assert not [one for one in wiki.known()["secrets"] if one in portal.log]
