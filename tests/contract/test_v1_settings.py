"""Settings over v1, against a real server: read by all, changed by the owner, told in the audit."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any

import httpx2
import pytest

from tests.contract.guest import Guest, Told
from tests.portal import Portal

SETTINGS = "/api/v1/settings"
FILE = """\
# mine
max_sessions = 50
webhook_url = "https://hooks.example/T0/very-hidden"
notify_command = ["notify-send", "very-hidden"]
"""


@pytest.fixture(scope="module")
def settings_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    hidden = {"AIRBOSS_WEBHOOK_SECRET": "very-hidden-secret-of-the-webhook-0123456789"}
    portal = Portal(tmp_path_factory.mktemp("settings"), ("--max-tasks", "4"), extra_environ=hidden)
    portal.data.mkdir(mode=0o700)
    (portal.data / "settings.toml").write_text(FILE, "utf-8")
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
async def guest(settings_portal: Portal, anyio_backend: str) -> AsyncGenerator[Guest]:
    async with Guest.of(settings_portal) as guest:
        yield guest


async def listed(guest: Guest) -> dict[str, Told]:
    answer = await guest.http.get(SETTINGS)
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()["items"]}


async def change(guest: Guest, name: str, value: Any) -> httpx2.Response:
    return await guest.http.patch(f"{SETTINGS}/{name}", json={"value": value})


async def test_each_says_what_it_means_and_where_it_is_set(
    guest: Guest, settings_portal: Portal
) -> None:
    found = await listed(guest)
    file = settings_portal.data / "settings.toml"
    places = {name: (one["source"], one["set_in"]) for name, one in found.items()}
    assert places["max_tasks"] == ("option", "--max-tasks")
    assert places["max_sessions"] == ("file", f"{file}, line 2")
    assert places["data"] == ("variable", "AIRBOSS_DATA")
    assert places["keep_days"] == ("default", "the default")
    assert all(one["meaning"] for one in found.values())
    told = found["max_sessions"]
    assert (told["value"], told["default"], told["changeable"]) == (50, 200, True)
    locked = found["max_tasks"]
    assert (locked["value"], locked["changeable"], locked["locked"]) == (4, False, True)
    assert found["port"]["why_not"].endswith("or by --port, and restart the server.")
    assert locked["why_not"].startswith("--max-tasks sets it")
    assert str(file) in found["webhook_private"]["why_not"]


async def test_nothing_secret_is_shown(guest: Guest) -> None:
    answer = await guest.http.get(SETTINGS)
    assert "very-hidden" not in answer.text
    found = await listed(guest)
    assert found["webhook_url"]["value"] == "https://hooks.example/…"
    assert found["notify_command"]["value"] == ["notify-send", "…"]


async def test_a_change_holds_over_the_file_and_is_told_in_the_audit(
    guest: Guest, settings_portal: Portal
) -> None:
    answer = await change(guest, "max_sessions", 60)
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert (changed["value"], changed["source"], changed["changed_by"]) == (60, "change", "owner")
    answer = await guest.http.delete(f"{SETTINGS}/max_sessions")
    assert (answer.json()["value"], answer.json()["source"]) == (50, "file")
    assert (settings_portal.data / "settings.toml").read_text("utf-8") == FILE
    audit = (await guest.http.get("/api/v1/audit?limit=2")).json()["items"]
    told = [
        (one["event"]["change"], one["event"]["before"], one["event"]["value"]) for one in audit
    ]
    assert told == [("reset", "60", "50"), ("changed", "50", "60")]
    assert {one["event"]["kind"] for one in audit} == {"audit.setting.changed"}
    assert audit[0]["event"]["by"]["who"] == "owner"


async def test_what_an_option_sets_is_locked_and_a_wrong_value_refused(guest: Guest) -> None:
    locked = await change(guest, "max_tasks", 9)
    assert (locked.status_code, locked.json()["code"]) == (409, "conflict")
    assert "--max-tasks sets it" in locked.json()["detail"]
    wrong = await change(guest, "max_sessions", 0)
    assert (wrong.status_code, wrong.json()["detail"]) == (
        422,
        "max_sessions: Input should be greater than 0",
    )
    for body in ({}, {"value": {"a": 1}}, {"value": 1, "more": 2}, {"value": [1]}):
        answer = await guest.http.patch(f"{SETTINGS}/max_sessions", json=body)
        assert answer.status_code == 422, answer.text
    assert (await change(guest, "nothing", 1)).status_code == 404
    assert (await listed(guest))["max_sessions"]["value"] == 50


async def test_to_read_needs_view_and_to_change_needs_own(
    guest: Guest, settings_portal: Portal
) -> None:
    token = settings_portal.run("token", "add", "reader", "--role", "decide").stdout.strip()
    headers = {"Authorization": f"Bearer {token}"}
    assert (await guest.http.get(SETTINGS, headers=headers)).status_code == 200
    for method, body in (("PATCH", {"value": 70}), ("DELETE", None)):
        answer = await guest.http.request(
            method, f"{SETTINGS}/max_sessions", json=body, headers=headers
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "role_needed")
    assert (await listed(guest))["max_sessions"]["value"] == 50
