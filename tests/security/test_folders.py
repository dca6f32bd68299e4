"""Agents work where they may, and are held to it when somebody moves the ground below them."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.crash.witness import ask, read_all, start_session, until
from tests.portal import Portal
from tests.security.conftest import SCRIPT

pytestmark = pytest.mark.anyio


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    """Its agents may read below their folder; beside it lies something they may not."""
    portal = Portal(tmp_path, script=SCRIPT)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "outside.txt").write_text("nobody may read this", "utf-8")
    portal.work.mkdir()
    (portal.work / "inside.txt").write_text("this may be read", "utf-8")
    (portal.work / "way-out").symlink_to(outside)
    Path(f"{portal.work}-beside").mkdir()
    portal.start()
    yield portal
    portal.stop()


async def start(client: httpx2.AsyncClient, cwd: object) -> httpx2.Response:
    return await client.post("/api/v1/sessions", json={"model": "rehearsal", "cwd": str(cwd)})


async def test_a_folder_outside_the_roots_is_refused_however_it_is_written(
    portal: Portal,
) -> None:
    work, outside = portal.work, portal.folder / "outside"
    ways = (outside, work / "way-out", work / ".." / "outside", "/", "/etc", f"{work}-beside")
    async with portal.client() as client:
        for way in ways:
            answer = await start(client, way)
            assert answer.status_code == 422
            assert answer.json()["code"] == "working_directory_not_allowed", way
            assert "--root" in answer.json()["detail"]
            path = "/api/copilot/session/start/rehearsal"
            seed = (await client.post(path, content=str(way).encode())).json()
            assert seed["error"] == "WorkingDirectoryNotAllowed"
            assert seed["message"]


async def test_a_folder_that_became_a_link_out_is_noticed_at_the_next_use(
    portal: Portal,
) -> None:
    folder = portal.work / "project"
    folder.mkdir()
    async with portal.client() as client:
        session = await start_session(client, folder)
        await ask(client, session, "hello")
        await until(client, session, "session.idle")
        folder.rename(portal.work / "moved")
        folder.symlink_to(portal.folder / "outside")
        asked = {"text": "hello"}
        answer = await client.post(f"/api/v1/sessions/{session}/prompts", json=asked)
        assert answer.status_code == 422
        assert answer.json()["code"] == "working_directory_not_allowed"
        prompts = [r for r in await read_all(client, session) if "prompt.acc" in str(r)]
        assert len(prompts) == 1, "what was refused was not said"
    portal.kill()
    portal.start()
    async with portal.client() as client:
        answer = await client.post(f"/api/v1/sessions/{session}/resume")
        assert answer.json()["code"] == "working_directory_not_allowed"
        folder.unlink()
        (portal.work / "moved").rename(folder)
        assert (await client.post(f"/api/v1/sessions/{session}/resume")).status_code == 200


async def test_reading_leads_out_of_the_folder_by_no_link_and_no_dots(portal: Portal) -> None:
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        receipt = await ask(client, session, "look")
        await until(client, session, "session.idle", receipt["seq"])
        events = [recorded["event"] for recorded in await read_all(client, session)]
    shown = str(events)
    assert "this may be read" in shown
    assert "nobody may read this" not in shown
    decided = [event for event in events if event["kind"] == "permission.decided"]
    refused = [event for event in decided if not event["allowed"]]
    assert refused
    assert all("--permissions ask" in event["reason"] for event in refused), (
        "how to allow it is said"
    )
