"""A model at its rate limit: a person, or the setting, says whether another one goes on."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.asking import refusal
from tests.contract.guest import Told
from tests.crash.test_setups_killed import BarePortal, until
from tests.crash.waiting import Waited, of_kind, restarted
from tests.runtime.copilot_service import Stage, on_stage

pytestmark = pytest.mark.timeout(120)

MODEL = "claude-sonnet-4.5"
ENTRY: dict[str, Any] = {
    "models": {"driving": MODEL},
    "promptVariables": {},
    "tasks": {
        "say": {
            "prompt": ["say hello"],
            "requireUserInput": False,
            "model": {"category": "driving"},
        }
    },
    "jobs": {"one": {"work": {"kind": "Ref", "taskId": "say"}}},
    "grid": [],
}


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    async with on_stage(Stage(busy=frozenset({MODEL}))) as stage:
        yield stage


@pytest.fixture
def portal(stage: Stage, tmp_path: Path) -> BarePortal:
    entry = tmp_path / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    portal = BarePortal(tmp_path, ("--root", str(tmp_path), "--entry", str(entry)))
    for name in ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"):
        portal.extra_environ[name] = stage.address
    for name in ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        portal.extra_environ[name] = str(tmp_path / name)
    portal.extra_environ["COPILOT_GITHUB_TOKEN"] = "made-up-token"
    portal.data.mkdir()
    # Shorter than the test waits: who asks a person is not quiet.
    (portal.data / "settings.toml").write_text("quiet_seconds = 1\n", "utf-8")
    return portal


async def ask(guest: Waited, text: str = "say hello") -> str:
    session = await guest.open(model=MODEL, cwd=str(guest.portal.work))
    await guest.http.post(f"/api/v1/sessions/{session}/prompts", json={"text": text})
    return session


async def test_a_person_decides_and_the_setting_does_so_in_their_place(
    portal: BarePortal, stage: Stage, anyio_backend: str
) -> None:
    await asyncio.to_thread(portal.start)
    async with Waited.of(portal) as guest:
        yes, no, gone = await ask(guest), await ask(guest), await ask(guest)
        item = await guest.first(session=yes)
        asked = item["asked"]
        assert (asked["kind"], asked["model"]) == ("switch.asked", MODEL)
        assert (asked["reason"], asked["retry_seconds"]) == ("rate_limited", 600)
        always = await guest.say(item["id"], "decision", choice="allow-always")
        assert refusal(always)[2] == "Choose one of: allow-once or deny."
        assert (await guest.say(item["id"], "decision", choice="allow-once")).status_code == 200
        events = await guest.ended(yes, 1)
        assert of_kind("turn.ended", events)[0]["outcome"] == "done"
        assert of_kind("turn.ended", events)[0]["models"] == ["gpt-5-mini"]
        assert not of_kind("session.error", events)
        assert "(auto)" in of_kind("turn.retrying", events)[0]["reason"]

        refused = await guest.first(session=no)
        assert (await guest.say(refused["id"], "decision", choice="deny")).status_code == 200
        events = await guest.ended(no, 1)
        assert of_kind("turn.ended", events)[0]["outcome"] == "failed"
        assert of_kind("session.error", events)[0]["status"] == 429

        # The runtime's question is gone with it, and so is the item.
        lost = await guest.first(session=gone)
    async with restarted(portal) as guest:
        late = await guest.say(lost["id"], "decision", choice="allow-once")
        assert refusal(late)[0] == 409
        assert "Send the message again." in refusal(late)[2]
        assert not await guest.waiting(session=gone)

        changed = await guest.http.patch("/api/v1/settings/auto_switch", json={"value": "yes"})
        assert changed.status_code == 200, changed.text
        events = await guest.ended(await ask(guest), 1)
        assert of_kind("turn.ended", events)[0]["outcome"] == "done"
        assert of_kind("turn.retrying", events)
        assert not of_kind("switch.asked", events)

        await guest.http.patch("/api/v1/settings/auto_switch", json={"value": "no"})
        events = await guest.ended(await ask(guest), 1)
        assert of_kind("session.error", events)[0]["status"] == 429
        assert not of_kind("switch.asked", events)
        wrong = await guest.http.patch("/api/v1/settings/auto_switch", json={"value": "maybe"})
        assert wrong.status_code == 422
    await asyncio.to_thread(portal.stop)


async def test_a_run_parks_until_it_is_decided(
    portal: BarePortal, stage: Stage, anyio_backend: str
) -> None:
    await asyncio.to_thread(portal.start)
    async with Waited.of(portal) as guest:
        asked = {"job": "one", "cwd": str(portal.work)}
        started = await guest.http.post("/api/v1/runs", json=asked)
        assert started.status_code in (201, 202), started.text
        run = started.json()["id"]

        async def show() -> Told:
            return (await guest.http.get(f"/api/v1/runs/{run}")).json()

        async def parks() -> bool:
            return (await show())["state"] == "waiting-for-person"

        async def is_over() -> bool:
            return (await show())["state"] == "succeeded"

        item = await guest.first()
        await until(parks, 20)
        assert item["run"] == run
        assert (await show())["waits_for"] == f"your decision: {MODEL} is at its limit"
    # The runtime's question is gone with the server: the mission is done again, and asks anew.
    async with restarted(portal) as guest:

        async def asks_again() -> bool:
            waiting = await guest.waiting()
            return len(waiting) == 1 and waiting[0]["session"] != item["session"]

        await until(asks_again, 40)
        await until(parks, 20)
        item = await guest.first()
        assert item["run"] == run
        done = await asyncio.to_thread(portal.run, "approve", item["id"])
        assert done.returncode == 0, done.stderr
        await until(is_over, 40)
    await asyncio.to_thread(portal.stop)
