"""Extensions over v1, against a real server: read, trusted by content, created, switched."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.guest import Guest, Told
from tests.pauses import pauses
from tests.portal import Portal

PATH = "/api/v1/extensions"
TEXT = "open('trace', 'w')\n"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("extensions")
    portal = Portal(folder, extra_environ={"COPILOT_HOME": str(folder / "copilot")})
    (portal.work / ".git").mkdir(parents=True)
    portal.start()
    yield portal
    portal.stop()


def written(portal: Portal, name: str, text: str = TEXT, file: str = "extension.py") -> Path:
    folder = portal.work / ".github/extensions" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text, encoding="utf-8")
    return folder


async def got(guest: Guest, address: str, **query: str) -> Told:
    answer = await guest.http.get(address, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(answer: httpx2.Response, status: int) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return str(answer.json()["detail"])


async def one(guest: Guest, name: str) -> dict[str, Any]:
    items = (await got(guest, PATH))["items"]
    return next(item for item in items if item["name"] == name)


async def until(guest: Guest, name: str, *states: str) -> Told:
    """It has these states in the open sessions."""
    pause = pauses()
    async with asyncio.timeout(30):
        while True:
            shown = await got(guest, f"{PATH}/project/{name}")
            if [run["state"] for run in shown["sessions"]] == list(states):
                return shown
            await asyncio.sleep(next(pause))


async def test_one_is_read_trusted_changed_and_trusted_again(portal: Portal) -> None:
    folder = written(portal, "guard")
    async with Guest.of(portal) as guest:
        found = await one(guest, "guard")
        assert (found["state"], found["path"]) == ("untrusted", str(folder))
        shown = await got(guest, f"{PATH}/project/guard")
        assert shown["files"] == [{"path": "extension.py", "bytes": len(TEXT), "text": TEXT}]
        assert (shown["diff"], shown["sessions"], shown["log"]) == ("", [], "")
        body = {"path": shown["path"], "digest": shown["digest"]}
        written(portal, "guard", "import harm\n")
        assert "changed since you reviewed it" in problem(
            await guest.http.post("/api/v1/trust", json=body), 409
        )
        written(portal, "guard")
        told = (await guest.http.post("/api/v1/trust", json=body)).json()
        assert [(item["kind"], item["path"]) for item in told["items"]] == [
            ("extension", str(folder))
        ]
        assert (await one(guest, "guard"))["state"] == "ready"
        copy = portal.data / "extensions" / shown["digest"]
        assert (copy / "extension.py").read_text(encoding="utf-8") == TEXT
        written(portal, "guard", "import harm\n")
        changed = await got(guest, f"{PATH}/project/guard")
        assert changed["state"] == "changed"
        assert changed["diff"].splitlines()[-2:] == ["-open('trace', 'w')", "+import harm"]
        assert (copy / "extension.py").read_text(encoding="utf-8") == TEXT
        audit = await got(guest, "/api/v1/audit", limit="1")
        [act] = audit["items"]
        assert (act["event"]["change"], act["event"]["paths"]) == ("trusted", [str(folder)])
    assert not (portal.work / "trace").exists()


async def test_what_is_written_is_a_skeleton_that_nobody_trusts(portal: Portal) -> None:
    async with Guest.of(portal) as guest:
        made = await guest.http.post(PATH, json={"name": "made"})
        assert made.status_code == 201, made.text
        assert made.headers["location"] == f"{PATH}/project/made"
        assert (made.json()["state"], made.json()["language"]) == ("untrusted", "python")
        assert (portal.work / ".github/extensions/made/extension.py").is_file()
        said = problem(await guest.http.post(PATH, json={"name": "made"}), 409)
        assert "exists already" in said
        own = {"name": "mine", "scope": "user", "language": "javascript"}
        assert (await guest.http.post(PATH, json=own)).status_code == 201
        assert (portal.folder / "copilot/extensions/mine/extension.mjs").is_file()
        for name in ("Big", "../up", "", "x" * 65):
            problem(await guest.http.post(PATH, json={"name": name}), 422)
        outside = {"name": "x", "cwd": str(portal.folder)}
        assert "outside" in problem(await guest.http.post(PATH, json=outside), 422)


async def test_a_project_that_leads_out_gets_no_file(portal: Portal) -> None:
    (portal.work / "other/.git").mkdir(parents=True)
    (portal.folder / "elsewhere").mkdir()
    (portal.work / "other/.github").symlink_to(portal.folder / "elsewhere")
    async with Guest.of(portal) as guest:
        body = {"name": "x", "cwd": str(portal.work / "other")}
        assert "leads out of the project" in problem(await guest.http.post(PATH, json=body), 422)
    assert list((portal.folder / "elsewhere").iterdir()) == []


async def test_one_is_turned_off_and_on_again_by_its_path(portal: Portal) -> None:
    written(portal, "bell")
    async with Guest.of(portal) as guest:
        address = f"{PATH}/project/bell"
        off = await guest.http.patch(address, json={"enabled": False})
        assert (off.status_code, off.json()["state"]) == (200, "disabled")
        assert (await guest.http.patch(address, json={"enabled": False})).status_code == 200
        assert (await one(guest, "bell"))["state"] == "disabled"
        on = await guest.http.patch(address, json={"enabled": True})
        assert on.json()["state"] == "untrusted"
        acts = (await got(guest, "/api/v1/audit", limit="3"))["items"]
        assert [act["event"]["change"] for act in acts] == ["enabled", "disabled", "disabled"]
        assert {act["event"]["kind"] for act in acts} == {"audit.extension.changed"}
        problem(await guest.http.patch(f"{PATH}/project/none", json={"enabled": True}), 404)
        problem(await guest.http.get(f"{PATH}/nowhere/bell"), 422)


async def test_roles_may_look_and_only_the_owner_may_change(portal: Portal) -> None:
    written(portal, "bell")
    token = portal.run("token", "add", "eye", "--role", "decide").stdout.strip()
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=portal.url, headers=headers, timeout=30) as eye:
        assert (await eye.get(PATH)).status_code == 200
        assert (await eye.get(f"{PATH}/project/bell")).status_code == 200
        for asking in (
            eye.post(PATH, json={"name": "theirs"}),
            eye.patch(f"{PATH}/project/bell", json={"enabled": False}),
        ):
            problem(await asking, 403)
    assert not (portal.work / ".github/extensions/theirs").exists()


async def test_secrets_in_a_text_are_not_shown(portal: Portal) -> None:
    written(portal, "leaky", f"TOKEN = '{portal.token}'\n")
    async with Guest.of(portal) as guest:
        shown = await got(guest, f"{PATH}/project/leaky")
        look = await got(guest, "/api/v1/trust/look", path=shown["path"])
        assert shown["digest"] == look["digest"]
        for text in (shown["files"][0]["text"], look["extensions"][0]["files"][0]["text"]):
            assert portal.token not in text
            assert text.startswith("TOKEN = ")


async def test_of_many_who_create_one_at_once_one_succeeds(portal: Portal) -> None:
    async with Guest.of(portal) as guest:

        async def create() -> int:
            return (await guest.http.post(PATH, json={"name": "race"})).status_code

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(create()) for _ in range(8)]
    assert sorted(task.result() for task in tasks) == [201] + [409] * 7


async def test_one_that_fails_in_a_session_is_told_with_its_reason(portal: Portal) -> None:
    text = "from airboss.extension import tool\n@tool\ndef bash() -> str:\n    'Mine.'\n"
    folder = written(portal, "taken", text)
    async with Guest.of(portal) as guest:
        look = await got(guest, f"{PATH}/project/taken")
        body = {"path": str(folder), "digest": look["digest"]}
        assert (await guest.http.post("/api/v1/trust", json=body)).status_code == 200
        session = await guest.start()
        shown = await until(guest, "taken", "failed")
        [run] = shown["sessions"]
        assert run["session"] == session
        assert "has a name that the agent runtime already uses" in run["reason"]
        checks = (await got(guest, "/api/v1/doctor"))["checks"]
        row = next(check for check in checks if check["id"] == "extensions")
        assert (row["state"], f"taken in {session}: " in row["detail"]) == ("fail", True)
        await guest.do(session, "close")
        await until(guest, "taken")
        await guest.http.patch(f"{PATH}/project/taken", json={"enabled": False})


async def test_the_doctor_says_what_waits_and_what_failed(portal: Portal) -> None:
    async with Guest.of(portal) as guest:
        both = written(portal, "odd")
        (both / "extension.mjs").touch()
        checks = (await got(guest, "/api/v1/doctor"))["checks"]
        row = next(check for check in checks if check["id"] == "extensions")
        assert (row["state"], "odd: The folder has both" in row["detail"]) == ("fail", True)
        (both / "extension.mjs").unlink()
        checks = (await got(guest, "/api/v1/doctor"))["checks"]
        row = next(check for check in checks if check["id"] == "extensions")
        assert row["state"] == "warn"
        assert "nobody has trusted" in row["summary"]
