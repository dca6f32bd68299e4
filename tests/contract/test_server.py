"""The server around the sessions: how it is, what it describes, and how it ends."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import SCRIPT
from tests.contract.guest import Guest
from tests.portal import Portal


async def test_it_is_alive_and_ready(guest: Guest) -> None:
    for path, status in (("/healthz", "ok"), ("/readyz", "ready")):
        answer = await guest.http.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": status})


async def test_metrics_count_sessions_events_and_starts_of_the_runtime(guest: Guest) -> None:
    session = await guest.open()
    await guest.prompt(session, "take your time")
    await guest.until(session, "working")
    answer = await guest.http.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    told = dict(re.findall(r"^(\w+) ([0-9.e+-]+)$", answer.text, re.MULTILINE))
    assert float(told["airboss_sessions_open"]) >= 1
    assert float(told["airboss_sessions_working"]) >= 1
    assert float(told["airboss_runtime_starts_total"]) >= 1
    assert float(told["airboss_log_events_total"]) >= 4
    assert float(told["airboss_log_trouble"]) == 0
    assert "process_resident_memory_bytes" in told
    assert "# TYPE airboss_background_failures_total counter" in answer.text.splitlines()
    assert "airboss_background_failures_total{" not in answer.text  # none has failed
    await guest.do(session, "close")


async def test_the_description_is_openapi_3_1_and_names_every_call(guest: Guest) -> None:
    described = (await guest.http.get("/api/v1/openapi.json")).json()
    assert described["openapi"].startswith("3.1.")
    calls = {
        f"{method.upper()} {path}"
        for path, methods in described["paths"].items()
        for method in methods
    }
    assert {
        "GET /api/v1/sessions",
        "POST /api/v1/sessions",
        "GET /api/v1/sessions/{session}",
        "POST /api/v1/sessions/{session}/prompts",
        "POST /api/v1/sessions/{session}/abort",
        "POST /api/v1/sessions/{session}/close",
        "POST /api/v1/sessions/{session}/resume",
        "GET /api/v1/sessions/{session}/events",
        "GET /api/v1/sessions/{session}/stream",
        "GET /api/v1/status",
        "GET /api/v1/doctor",
        "GET /api/v1/models",
        "POST /api/v1/stop",
    } <= calls
    assert all(call.split()[1].startswith("/api/v1/") for call in calls)
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            assert told["description"], f"{method} {path} says nothing of itself"
            problem = told["responses"]["default"]["content"]["application/problem+json"]
            assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
    _check_references(described)


def _check_references(described: dict[str, Any]) -> None:
    """What is referred to is there."""
    used = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert used
    assert used <= set(described["components"]["schemas"])


async def test_the_status_says_what_a_person_asks_first(guest: Guest) -> None:
    told = (await guest.http.get("/api/v1/status")).json()
    portal = guest.portal
    assert (told["url"], told["data_folder"]) == (portal.url, str(portal.data))
    assert (told["policy"], told["who"], told["trouble"]) == ("read-only", "owner", None)
    assert (told["repo_root"], told["roots"]) == (str(portal.work), [str(portal.work)])
    script = str(portal.folder / "script.yaml")
    assert told["rehearsal"] == {"on": True, "builtin": False, "script": script}
    assert told["providers"] == []


async def test_the_models_say_where_they_come_from(guest: Guest) -> None:
    told = (await guest.http.get("/api/v1/models")).json()
    assert [(model["id"], model["source"]) for model in told["items"]] == [
        ("rehearsal", "rehearsal"),
        ("house/grand-model", "rehearsal"),
    ]
    assert (told["items"][1]["multiplier"], told["items"][1]["context_tokens"]) == (2.5, 128_000)


async def test_the_repositorys_root_is_found_above_the_servers_folder(tmp_path: Path) -> None:
    portal = Portal(tmp_path, script=SCRIPT)
    (tmp_path / ".git").mkdir()
    portal.start()
    async with Guest.of(portal) as guest:
        assert await guest.seed("config") == {"repoRoot": str(tmp_path)}
        told = await guest.seed("copilot/session/start/rehearsal")
        assert told["error"] == "WorkingDirectoryNotAllowed"  # the test's root is below it
    portal.stop()


# The end.


@pytest.mark.parametrize("call", ["GET /api/stop", "POST /api/v1/stop"])
async def test_a_stop_is_answered_first_and_all_has_ended_within_five_seconds(
    tmp_path: Path, call: str
) -> None:
    """With a turn that runs, its shell command, a viewer and a caller of `live`."""
    portal = Portal(tmp_path, ("--permissions", "approve-all"), SCRIPT)
    portal.start()
    method, path = call.split()
    async with Guest.of(portal) as guest:
        working, idle = await guest.open(), await guest.open()
        await guest.prompt(working, "take your time")
        await guest.follow_to(working, "message.delta")
        viewer = asyncio.create_task(guest.follow_all(working))
        live = asyncio.create_task(guest.live(idle))
        await asyncio.sleep(0.2)
        began = time.monotonic()
        answer = await guest.http.request(method, path)
        assert answer.json() == {}
        assert answer.status_code == (202 if "v1" in path else 200)
        code = await asyncio.to_thread(portal.process.wait, 10)
        assert code == 0
        assert time.monotonic() - began < 5
        seen = [told["event"]["kind"] for told in await viewer]
        assert seen[-1] == "session.interrupted"
        heard = await live
        assert "sessionError" in heard or heard == {"error": "HttpRequestTimeout"}
    assert "Traceback" not in portal.log
    assert "ERROR" not in portal.log


async def test_a_stop_while_sessions_start_leaves_none_half_open(tmp_path: Path) -> None:
    portal = Portal(tmp_path, script=SCRIPT)
    portal.start()
    async with Guest.of(portal) as guest:
        starting = [
            asyncio.create_task(guest.http.post("/api/v1/sessions", json={})) for _ in range(6)
        ]
        await asyncio.sleep(0.3)  # the runtime takes longer than that for its first session
        began = time.monotonic()
        assert await guest.seed("stop") == {}
        code = await asyncio.to_thread(portal.process.wait, 10)
        assert (code, time.monotonic() - began < 5) == (0, True)
        done, _ = await asyncio.wait(starting)
        for task in done:
            if task.exception() is None:
                assert task.result().status_code in (201, 503)
    assert "Traceback" not in portal.log
    portal.start()
    async with Guest.of(portal) as guest:
        page = (await guest.http.get("/api/v1/sessions")).json()
        assert {view["state"] for view in page["items"]} <= {"interrupted", "closed"}
        for view in page["items"]:
            told = await guest.hear(view["id"], "SessionClosed")
            assert len(told) <= 2  # one error at the most, then the end
    portal.stop()
