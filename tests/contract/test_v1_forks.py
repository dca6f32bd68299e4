"""Forks over the API and the command line, on the rehearsal model, and a server that is killed."""

import asyncio
from pathlib import Path

import pytest

from tests.contract.guest import Guest, only
from tests.portal import Portal

pytestmark = pytest.mark.anyio


async def test_a_fork_by_api_and_command_line_outlives_its_server(tmp_path: Path) -> None:
    portal = Portal(tmp_path)
    await asyncio.to_thread(portal.start)
    try:
        async with portal.client() as client:
            guest = Guest(client, portal)
            session = await guest.open()
            await guest.turn(session, "greet me")
            made = await client.post(f"/api/v1/sessions/{session}/fork")
            assert made.status_code == 201, made.text
            new = made.json()["id"]
            assert (made.json()["state"], made.json()["forked_from"]) == ("idle", session)
            [told] = only("session.forked", await guest.events(session))
            assert told["copy_id"] == new
            bad = await client.post(f"/api/v1/sessions/{session}/fork", json={"before": "pro_x"})
            assert (bad.status_code, bad.json()["code"]) == (404, "not_found")
        done = await asyncio.to_thread(portal.run, "fork", session)
        assert f"is a copy of {session}" in done.stdout, done.stderr
        await asyncio.to_thread(portal.kill)
        await asyncio.to_thread(portal.start)
        async with portal.client() as client:
            answer = await client.post(f"/api/v1/sessions/{new}/resume")
            assert answer.json()["restart_number"] == 0, answer.text
    finally:
        await asyncio.to_thread(portal.stop)
