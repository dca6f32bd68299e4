"""A server on a runtime that somebody else started: that one is killed, comes back, and is left."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.witness import ask, read_all, show, start_session, until
from tests.portal import Portal
from tests.runtime.others_runtime import TOKEN, OthersRuntime, others_runtime

SCRIPT = """
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
rules:
  - when: "work slowly"
    times: 1
    steps: [{say: "One moment. "}, {sleep: 60}]
  - when: "work slowly"
    steps: [{say: "I go on."}]
  - when: "say (?P<words>.*)"
    steps: [{say: "Said."}]
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "slow": {
            "prompt": ["work slowly"],
            "requireUserInput": False,
            "model": {"category": "driving"},
        }
    },
    "jobs": {"one": {"work": {"kind": "Ref", "taskId": "slow"}}},
    "grid": [],
}


@pytest.fixture
async def theirs(tmp_path: Path) -> AsyncGenerator[OthersRuntime]:
    with others_runtime(tmp_path / "their-home", GH_CONFIG_DIR=str(tmp_path / "gh")) as runtime:
        yield runtime


@pytest.fixture
async def portal(theirs: OthersRuntime, tmp_path: Path) -> AsyncGenerator[Portal]:
    folder = tmp_path / "server"
    folder.mkdir()
    entry = folder / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    portal = Portal(folder, ("--entry", str(entry)), script=SCRIPT)
    portal.extra_environ.update(AIRBOSS_RUNTIME_TOKEN=TOKEN, GITHUB_TOKEN="ours-and-not-theirs-123")
    portal.data.mkdir()
    (portal.data / "settings.toml").write_text(f'runtime_url = "http://{theirs.url}"\n', "utf-8")
    await asyncio.to_thread(portal.start)
    yield portal
    await asyncio.to_thread(portal.stop)


async def test_a_run_and_a_chat_outlive_the_death_of_somebody_elses_runtime(
    portal: Portal, theirs: OthersRuntime
) -> None:
    async with portal.client() as client:
        chat = await start_session(client, portal.work)
        receipt = await ask(client, chat, "say hello")
        await until(client, chat, "session.idle", receipt["seq"])
        status = (await client.get("/api/v1/status")).json()["runtime"]
        assert (status["state"], status["url"], status["pid"]) == ("running", theirs.url, None)
        answer = await client.post("/api/v1/runs", json={"job": "one", "cwd": str(portal.work)})
        run = answer.json()["id"]
        session = await _first_words(client, run)
        theirs.kill()
        threading.Timer(1.0, theirs.start).start()
        await until(client, session, "session.interrupted")
        async with asyncio.timeout(60):
            while (view := (await client.get(f"/api/v1/runs/{run}")).json())["state"] == "running":  # noqa: ASYNC110  # no event
                await asyncio.sleep(0.1)
        assert view["state"] == "succeeded", view
        # The chat was told, and is resumed with its history.
        assert (await show(client, chat))["state"] == "interrupted"
        assert (await client.post(f"/api/v1/sessions/{chat}/resume")).status_code == 200

    # The server dies as well: their runtime is not ours to end.
    await asyncio.to_thread(portal.kill)
    await asyncio.to_thread(portal.start)
    assert theirs.is_alive
    async with portal.client() as client:
        assert (await client.post(f"/api/v1/sessions/{chat}/resume")).status_code == 200
        receipt = await ask(client, chat, "say more")
        await until(client, chat, "session.idle", receipt["seq"])
        kinds = [one["event"]["kind"] for one in await read_all(client, chat)]
        assert "session.restarted" not in kinds
        await _refused(client, portal)
        checks = (await client.get("/api/v1/doctor")).json()["checks"]
        (row,) = [one for one in checks if one["id"] == "runtime"]
        assert (row["state"], theirs.url in row["summary"]) == ("ok", True)
    await asyncio.to_thread(portal.stop)
    assert theirs.is_alive
    files = [path for path in portal.folder.rglob("*") if path.is_file()]
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []
    told = portal.run("doctor")
    assert f"A runtime is at {theirs.url}" in told.stdout


async def _first_words(client: Any, run: str) -> str:
    async with asyncio.timeout(30):
        while True:
            sessions = (await client.get("/api/v1/sessions")).json()["items"]
            for one in sessions:
                if one["run"] == run and one["turn"]:
                    await until(client, one["id"], "message.delta")
                    return str(one["id"])
            await asyncio.sleep(0.05)


async def _refused(client: Any, portal: Portal) -> None:
    asked = {"model": "rehearsal", "cwd": str(portal.work), "identity": "builder"}
    refused = await client.post("/api/v1/sessions", json=asked)
    assert refused.status_code == 422, refused.text
    assert "which has one home" in refused.text
    token = {"name": "work", "token": "gho_0123456789abcdef"}
    refused = await client.post("/api/v1/accounts", json=token)
    assert refused.status_code == 409, refused.text
    assert "signed in by whoever started it" in refused.text
