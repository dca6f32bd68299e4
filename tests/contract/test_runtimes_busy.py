"""All runtimes that there may be are in use: a chat is refused, a task waits and says so."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.pauses import pauses
from tests.portal import Portal

TASK = {"kind": "Ref", "taskId": "hello"}
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "hello": {
            "prompt": ["hello"],
            "requireUserInput": False,
            "model": {"category": "driving"},
        }
    },
    "jobs": {"hello": {"work": TASK}},
    "grid": [],
}
WAITS = "a free agent runtime: all are in use"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("busy")
    entry = folder / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    portal = Portal(folder, ("--root", str(folder), "--entry", str(entry)))
    portal.data.mkdir()
    settings = 'max_runtimes = 1\n[[accounts]]\nname = "work"\ntoken_variable = "NOWHERE"\n'
    (portal.data / "settings.toml").write_text(settings, "utf-8")
    with portal.serving():
        yield portal


async def events_of(client: httpx2.AsyncClient, run: str) -> list[dict[str, Any]]:
    page = (await client.get(f"/api/v1/runs/{run}/events?limit=1000")).json()
    return [one["event"] for one in page["items"]]


async def begun(client: httpx2.AsyncClient, work: Path) -> str:
    answer = await client.post("/api/v1/runs", json={"job": "hello", "cwd": str(work)})
    assert answer.status_code in (201, 202), answer.text
    run = str(answer.json()["id"])
    async with asyncio.timeout(30):
        pause = pauses()
        while WAITS not in str(await events_of(client, run)):  # noqa: ASYNC110 - asked over HTTP
            await asyncio.sleep(next(pause))
    return run


async def ends_of(client: httpx2.AsyncClient, run: str) -> list[dict[str, Any]]:
    return [event for event in await events_of(client, run) if event["kind"] == "run.ended"]


async def ended(client: httpx2.AsyncClient, run: str) -> str:
    async with asyncio.timeout(30):
        pause = pauses()
        while not (found := await ends_of(client, run)):  # noqa: ASYNC110 - asked over HTTP
            await asyncio.sleep(next(pause))
    return str(found[0]["outcome"])


async def test_a_chat_is_refused_and_a_task_waits_until_one_is_free_or_it_is_stopped(
    portal: Portal,
) -> None:
    async with portal.client() as client:
        asked = {"model": "rehearsal", "cwd": str(portal.work)}
        held = (await client.post("/api/v1/sessions", json={**asked, "identity": "one"})).json()
        refused = await client.post("/api/v1/sessions", json={**asked, "identity": "two"})
        assert (refused.status_code, refused.json()["code"]) == (503, "runtimes_busy")
        assert "raise max_runtimes in the settings" in refused.text
        run, stopped = await begun(client, portal.work), await begun(client, portal.work)
        await client.post(f"/api/v1/runs/{stopped}/stop")
        assert await ended(client, stopped) != "succeeded"
        await client.post(f"/api/v1/sessions/{held['id']}/close")
        assert await ended(client, run) == "succeeded"
        said = [event["kind"] for event in await events_of(client, run)]
        assert said.index("run.work.waiting") < said.index("run.work.going")
        sessions = (await client.get("/api/v1/sessions")).json()["items"]
        assert len(sessions) == 2, "those that were refused are not written down"


def test_the_accounts_are_listed_with_what_is_wrong(portal: Portal) -> None:
    told = portal.run("accounts")
    assert told.returncode == 0
    assert "work" in told.stdout
    assert "There is no token in the variable NOWHERE." in told.stdout
    assert "No account can be used now." in told.stderr
    (shown,) = json.loads(portal.run("accounts", "--json").stdout)["items"]
    assert (shown["state"], shown["how"]) == ("missing", "the variable NOWHERE")
    refused = portal.run("chat", "--account", "nobody", "hello")
    assert refused.returncode == 2
    assert 'account: There is no account "nobody". There are: work, cli.' in refused.stderr
    identity = portal.run("chat", "--identity", "../x", "hello")
    assert (identity.returncode, "identity" in identity.stderr) == (2, True)
