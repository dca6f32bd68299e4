"""Accounts of Copilot that are signed in with a token over the API, while the server runs."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.contract.guest import Guest, only
from tests.contract.test_providers import BarePortal
from tests.portal import Portal
from tests.runtime.copilot_service import Stage, on_stage

PATH = "/api/v1/accounts"
TOKEN, OTHER, BAD = (f"token-of-{name}-0123456789" for name in ("work", "ci", "nobody"))
SETTINGS = '[[accounts]]\nname = "filed"\ntoken_variable = "NOT_SET_HERE"\n'


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    async with on_stage(Stage(refused=frozenset({BAD}))) as stage:
        yield stage


@pytest.fixture
async def portal(stage: Stage, tmp_path: Path) -> AsyncGenerator[Portal]:
    places = ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    addresses = ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL")
    portal = BarePortal(tmp_path)
    portal.extra_environ.update({name: str(tmp_path / name) for name in places})
    portal.extra_environ.update(dict.fromkeys(addresses, stage.address))
    portal.data.mkdir()
    (portal.data / "settings.toml").write_text(SETTINGS, "utf-8")
    await asyncio.to_thread(portal.start)
    yield portal
    await asyncio.to_thread(portal.stop)


async def listed(guest: Guest) -> dict[str, Any]:
    answer = await guest.http.get(PATH)
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()["items"]}


def holders(folder: Path, token: str) -> set[str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(f.relative_to(folder)) for f in files if token.encode() in f.read_bytes()}


@pytest.mark.timeout(120)
async def test_an_account_is_tried_signed_in_used_and_signed_out(
    portal: Portal, stage: Stage
) -> None:
    async with Guest.of(portal) as guest:
        assert list(await listed(guest)) == ["filed"]
        bad = (await guest.http.post("/api/v1/account-tests", json={"token": BAD})).json()
        assert (bad["ok"], BAD in json.dumps(bad)) == (False, False)
        assert bad["problem"]
        good = (await guest.http.post("/api/v1/account-tests", json={"token": TOKEN})).json()
        assert (good["ok"], set(stage.models) <= set(good["models"])) == (True, True)
        added = await guest.http.post(PATH, json={"name": "work", "token": f"{TOKEN}\n"})
        assert (added.status_code, TOKEN in added.text) == (201, False), added.text
        assert (added.json()["state"], added.json()["added_by"]) == ("fine", "owner")
        offered = (await guest.http.get("/api/v1/models")).json()["items"]
        assert "gpt-5-mini" in {model["id"] for model in offered}
        session = await guest.open(model="gpt-5-mini")
        events = await guest.turn(session, f"say hello {TOKEN}")
        assert only("turn.ended", events)[0]["outcome"] == "done"
        assert any(TOKEN in token for token in stage.tokens)

        assert holders(portal.folder, TOKEN) == {"data/secrets/account-work"}
        for process in psutil.Process(portal.pid).children(recursive=True):
            assert TOKEN not in f"{process.environ()} {process.cmdline()}"
        audit = await guest.http.get("/api/v1/audit?limit=1000")
        assert ("audit.source.changed" in audit.text, TOKEN in audit.text) == (True, False)
        used = await guest.http.delete("/api/v1/secrets/account-work")
        assert (used.status_code, "the account work" in used.text) == (409, True)
    await asyncio.to_thread(portal.kill)
    await asyncio.to_thread(portal.start)
    async with Guest.of(portal) as guest:
        assert list(await listed(guest)) == ["filed", "work"]
        await guest.do(session, "resume")
        events = await guest.turn(session, "say hello again")
        assert only("turn.ended", events)[-1]["outcome"] == "done"
        changed = await guest.http.put(f"{PATH}/work", json={"token": OTHER})
        assert changed.status_code == 200, changed.text
        again = (await guest.http.post(f"{PATH}/work/test", json={})).json()
        assert (again["ok"], stage.tokens[-1].endswith(OTHER)) == (True, True)
        for status, words, sent in (
            (409, "already", guest.http.post(PATH, json={"name": "work", "token": TOKEN})),
            (409, "settings file", guest.http.delete(f"{PATH}/filed")),
            (422, "stands for", guest.http.post(PATH, json={"name": "cli", "token": TOKEN})),
            (
                422,
                '"name: Should have letters, digits, - and _ only, and at most 64 of them."',
                guest.http.post(PATH, json={"name": "a b", "token": TOKEN}),
            ),
            (422, "It must have 8", guest.http.post(PATH, json={"name": "x", "token": "short"})),
            (404, "no account", guest.http.put(f"{PATH}/nobody", json={"token": TOKEN})),
            (404, "no account", guest.http.post(f"{PATH}/nobody/test", json={})),
        ):
            answer = await sent
            assert (answer.status_code, words in answer.text) == (status, True), answer.text
            assert TOKEN not in answer.text
        report = (await guest.http.post("/api/v1/doctor")).json()["checks"]
        rows = {one["id"]: one for one in report}
        assert rows["account.work"]["state"] == "ok", rows["account.work"]
        assert " answered, " in rows["account.work"]["summary"]
        assert rows["account.filed"]["state"] == "fail"
        sessions = (await guest.http.get("/api/v1/sessions")).json()["items"]
        assert [one["id"] for one in sessions] == [session], "the doctor's own are deleted"
        # A session that is open goes on with another account, or says why it cannot.
        assert (
            await guest.http.post(PATH, json={"name": "other", "token": TOKEN})
        ).status_code == 201
        await guest.http.get("/api/v1/models")
        fresh = await guest.open(model="gpt-5-mini", account="work")
        for name in ("work", "other"):
            assert (await guest.http.delete(f"{PATH}/{name}")).status_code == 204
            if name == "work":
                said = await guest.turn(session, "say it without the account")
                [moved] = only("account.changed", said)
                assert (moved["from"], moved["to"]) == ("work", "other")
                assert only("turn.ended", said)[0]["outcome"] == "done"
        whys = {session: "No account of Copilot can be used now", fresh: 'no account "work"'}
        for one, why in whys.items():
            await guest.prompt(one, "say it without any account")
            assert why in (await guest.until(one, "interrupted"))["error"]
        assert list(await listed(guest)) == ["filed"]
        assert holders(portal.folder, OTHER) == set()

        done = await asyncio.to_thread(portal.run, "account", "add", "ci", said=BAD)
        assert (done.returncode, "--no-test" in done.stderr) == (2, True)
        done = await asyncio.to_thread(portal.run, "account", "add", "ci", said=TOKEN)
        assert (done.returncode, "Signed in ci" in done.stderr) == (0, True), done.stderr
        done = await asyncio.to_thread(portal.run, "account", "remove", "ci", "--yes")
        assert (done.returncode, list(await listed(guest))) == (0, ["filed"])
        added = await asyncio.to_thread(portal.run, "token", "add", "bob", "--role", "decide")
        guest.http.headers["Authorization"] = f"Bearer {added.stdout.strip()}"
        for method, path in (
            *(("POST", PATH), ("POST", "/api/v1/account-tests"), ("POST", f"{PATH}/filed/test")),
            *(("PUT", f"{PATH}/filed"), ("DELETE", f"{PATH}/filed")),
        ):
            answer = await guest.http.request(method, path, json={})
            assert (answer.status_code, answer.json()["code"]) == (403, "role_needed")


@pytest.mark.timeout(120)
async def test_a_new_token_lets_open_sessions_in_again(portal: Portal, stage: Stage) -> None:
    """The old one was taken back: there is no other account, and nobody closes the session."""
    async with Guest.of(portal) as guest:
        await guest.http.post(PATH, json={"name": "work", "token": TOKEN})
        session = await guest.open(model="gpt-5-mini")
        events = await guest.turn(session, "say hello")
        assert only("turn.ended", events)[0]["outcome"] == "done"
        stage.refused = frozenset({BAD, TOKEN})
        events = await guest.turn(session, "say hello again")
        assert [one["outcome"] for one in only("turn.ended", events)] == ["failed"]
        changed = await guest.http.put(f"{PATH}/work", json={"token": OTHER})
        assert changed.status_code == 200, changed.text
        events = await guest.turn(session, "say thanks")
        assert [one["outcome"] for one in only("turn.ended", events)] == ["done"]
