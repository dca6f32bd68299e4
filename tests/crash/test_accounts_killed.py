"""Several accounts of Copilot on the real runtime: one is refused, one has reached its limit, and
the server is killed. No token is anywhere."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import pytest

from tests.crash.test_setups_killed import BarePortal, until
from tests.portal import Portal
from tests.runtime.copilot_service import Stage, on_stage

TOKENS = {"FIRST": "first-token-0123456789", "SECOND": "second-token-0123456789"}
THIRD = "third-token-0123456789"
COMMAND = ["/bin/sh", "-c", "printf third-token-; printf 0123456789"]
SETTINGS = f"""
[[accounts]]
name = "first"
token_variable = "FIRST"
[[accounts]]
name = "second"
token_variable = "SECOND"
[[accounts]]
name = "third"
token_command = {json.dumps(COMMAND)}
"""
DRIVING = {"category": "driving"}
TASK = {"kind": "Ref", "taskId": "say"}
ENTRY: dict[str, Any] = {
    "models": {"driving": "gpt-5-mini"},
    "promptVariables": {},
    "tasks": {"say": {"prompt": ["say hello"], "requireUserInput": False, "model": DRIVING}},
    "jobs": {"ten": {"work": {"kind": "Par", "works": [TASK] * 10}}},
    "grid": [],
}


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    async with on_stage(Stage()) as stage:
        yield stage


@pytest.fixture
async def portal(stage: Stage, tmp_path: Path) -> AsyncGenerator[Portal]:
    entry = tmp_path / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    places = ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    addresses = ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL")
    environ = {
        **TOKENS,
        **{name: str(tmp_path / name) for name in places},
        **dict.fromkeys(addresses, stage.address),
    }
    portal = BarePortal(tmp_path, ("--root", str(tmp_path), "--entry", str(entry)))
    portal.extra_environ.update(environ)
    portal.data.mkdir()
    (portal.data / "settings.toml").write_text(SETTINGS, "utf-8")
    await asyncio.to_thread(portal.start)
    yield portal
    await asyncio.to_thread(portal.stop)


async def states(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/api/v1/accounts")
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()["items"]}


async def show(client: httpx.AsyncClient, session: str) -> dict[str, Any]:
    return (await client.get(f"/api/v1/sessions/{session}")).json()


async def say(client: httpx.AsyncClient, session: str, text: str, turns: int) -> None:
    await client.post(f"/api/v1/sessions/{session}/prompts", json={"text": text})

    async def is_done() -> bool:
        view = await show(client, session)
        return view["turns"] == turns and view["state"] == "idle"

    await until(is_done, 60)


async def changes(client: httpx.AsyncClient, session: str) -> list[Any]:
    page = (await client.get(f"/api/v1/sessions/{session}/events?limit=1000")).json()
    found = [one["event"] for one in page["items"]]
    return [one for one in found if one["kind"] == "account.changed"]


def secrets_in(portal: Portal) -> list[str]:
    """Where any token stands: in a file of the server, or the environment of what it started."""
    words = [token.encode() for token in (*TOKENS.values(), THIRD)]
    files = [path for path in portal.folder.rglob("*") if path.is_file()]
    found = [str(path) for path in files if any(word in path.read_bytes() for word in words)]
    server = psutil.Process(portal.pid)
    for process in server.children(recursive=True):
        seen = str(process.environ()) + str(process.cmdline())
        found += [f"process {process.pid}" for word in words if word.decode() in seen]
    return found


async def test_ten_tasks_succeed_though_two_of_three_accounts_do_not_work(
    portal: Portal, stage: Stage
) -> None:
    stage.refused = frozenset({TOKENS["FIRST"]})
    stage.limited = frozenset({TOKENS["SECOND"]})
    async with portal.client() as client:
        answer = await client.post("/api/v1/runs", json={"job": "ten", "cwd": str(portal.work)})
        assert answer.status_code in (201, 202), answer.text
        run = answer.json()["id"]

        async def is_over() -> bool:
            view = (await client.get(f"/api/v1/runs/{run}")).json()
            return view["state"] not in ("accepted", "running", "waiting")

        await until(is_over, 120)
        view = (await client.get(f"/api/v1/runs/{run}")).json()
        assert view["state"] == "succeeded", view
        found = await states(client)
        assert (found["first"]["state"], found["second"]["state"]) == ("resting", "resting")
        assert found["first"]["why"] == "its token was refused"
        assert found["second"]["why"] == "it has reached a rate limit"
        assert found["third"]["state"] == "fine"
    assert secrets_in(portal) == []


async def test_an_account_that_dies_between_turns_is_followed_by_the_next_and_a_kill(
    portal: Portal, stage: Stage
) -> None:
    async with portal.client() as client:
        asked = {"cwd": str(portal.work), "model": "gpt-5-mini"}
        session = (await client.post("/api/v1/sessions", json=asked)).json()["id"]
        assert (await show(client, session))["account"] == "first"
        await say(client, session, "say one", 1)
        stage.refused = frozenset({TOKENS["FIRST"]})
        await say(client, session, "say two", 2)
        error = (await show(client, session))["error"]
        assert "The account first rests now. The next turn uses second." in error
        await say(client, session, "say three", 3)
        (changed,) = await changes(client, session)
        why = "its token was refused"
        assert changed == {"kind": "account.changed", "from": "first", "to": "second", "why": why}
        assert (await show(client, session))["account"] == "second"
        assert "say one" in str(stage.requests[-1]["messages"]), "with its history"
        # A new session is refused the first one at once, and takes the next by itself.
        other = (await client.post("/api/v1/sessions", json=asked)).json()
        assert other["account"] == "second"
    stage.refused = frozenset()
    await asyncio.sleep(1)  # the runtime writes its history a moment later
    await asyncio.to_thread(portal.kill)
    await asyncio.to_thread(portal.start)
    async with portal.client() as client:
        answer = await client.post(f"/api/v1/sessions/{session}/resume")
        assert answer.status_code == 200, answer.text
        stage.tokens.clear()
        await say(client, session, "say four", 4)
        assert (await show(client, session))["account"] == "second"
        assert {token for token in stage.tokens if "first" in token} == set()
        assert "say one" in str(stage.requests[-1]["messages"])
    assert secrets_in(portal) == []


async def test_of_accounts_and_identities_bad_ones_are_refused_and_good_ones_kept_apart(
    portal: Portal, stage: Stage
) -> None:
    stage.offered[TOKENS["FIRST"]] = ("gpt-5-mini",)
    async with portal.client() as client:
        asked = {"cwd": str(portal.work), "model": "claude-sonnet-4.5"}
        wrong = await client.post("/api/v1/sessions", json={**asked, "account": "first"})
        assert wrong.status_code == 422
        assert "is not offered to the account first. It is offered to: second, third." in wrong.text
        both = [
            (await client.post("/api/v1/sessions", json={**asked, **more})).json()
            for more in ({"identity": "builder"}, {"identity": "tester", "account": "third"})
        ]
        assert [view["account"] for view in both] == ["second", "third"]
        for view in both:
            await say(client, view["id"], "say hello", 1)
        homes = [portal.data / "homes" / name / "copilot" for name in ("builder", "tester")]
        for home, view in zip(homes, both, strict=True):
            assert oct(home.stat().st_mode)[-3:] == "700"
            assert (home / "session-state" / view["id"]).exists()
        status = (await client.get("/api/v1/status")).json()["runtime"]["processes"]
        seen = {(one["identity"], one["mode"], one["account"]): one["sessions"] for one in status}
        assert seen[("builder", "token", "second")] == seen[("tester", "token", "third")] == 1
        models = (await client.get("/api/v1/models")).json()["items"]
        offered = {one["id"]: one["accounts"] for one in models}
        assert offered["gpt-5-mini"] == ["first", "second", "third"]
        assert offered["claude-sonnet-4.5"] == ["second", "third"]
