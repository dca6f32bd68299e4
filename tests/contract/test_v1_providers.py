"""Providers that are tried, added, used, changed and removed over the API, without a restart."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.contract.guest import Guest, only
from tests.contract.test_providers import KEY, BarePortal, service
from tests.pauses import pauses
from tests.portal import Portal

__all__ = ("service",)

PATH = "/api/v1/providers"
# Every kind of provider, with the path behind its base address.
KINDS: dict[str, dict[str, Any]] = {
    "lab": {"base_url": "ROOT/v1"},
    "answers": {"base_url": "ROOT/v1", "wire": "responses"},
    "an": {"type": "anthropic", "base_url": "ROOT"},
    "az": {"type": "azure", "base_url": "ROOT"},
    "az-old": {"type": "azure", "base_url": "ROOT", "api_version": "2025-04-01-preview"},
    "az-bearer": {"type": "azure", "base_url": "ROOT", "wire": "responses", "auth": "bearer"},
}


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = BarePortal(tmp_path_factory.mktemp("providers"))
    portal.data.mkdir()
    (portal.data / "settings.toml").write_text(
        '[[providers]]\nname = "filed"\nbase_url = "http://127.0.0.1:1/v1"\n'
        'key_kept = "filed-key"\nmodels = ["m"]\n',
        encoding="utf-8",
    )
    portal.start()
    yield portal
    portal.stop()


def said(kind: str, service: str, **more: Any) -> dict[str, Any]:
    root = service.removesuffix("/v1")
    body = {**KINDS[kind], **more}
    return body | {"base_url": str(body["base_url"]).replace("ROOT", root)}


def holders(folder: Path, key: str) -> set[str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(f.relative_to(folder)) for f in files if key.encode() in f.read_bytes()}


async def listed(guest: Guest) -> dict[str, dict[str, Any]]:
    answer = await guest.http.get(PATH)
    assert answer.status_code == 200, answer.text
    assert KEY not in answer.text
    return {item["name"]: item for item in answer.json()["items"]}


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_is_tried_added_and_used_without_a_restart(
    portal: Portal, service: str, kind: str
) -> None:
    async with Guest.of(portal) as guest:
        asked = said(kind, service, key=KEY)
        tried = await guest.http.post("/api/v1/provider-tests", json=asked | {"model": "grand"})
        assert tried.status_code == 200, tried.text
        result = tried.json()
        assert (result["ok"], result["problem"], result["model"]) == (True, None, "grand")
        assert result["first_word_ms"] > 0
        assert result["tokens"] > 0
        if kind != "az-old":  # which has no list of its deployments
            assert [model["id"] for model in result["models"]]
        wrong = await guest.http.post(
            "/api/v1/provider-tests", json=asked | {"key": "wrong-0123456789", "model": "grand"}
        )
        assert (wrong.json()["ok"], wrong.json()["cause"]) == (False, "key")
        assert kind not in await listed(guest), "a test keeps nothing"

        added = await guest.http.post(
            PATH, json=asked | {"name": kind, "models": [{"id": "grand"}]}
        )
        assert (added.status_code, KEY in added.text) == (201, False), added.text
        assert added.headers["location"] == f"{PATH}/{kind}"
        facts = added.json()
        assert (facts["source"], facts["key"], facts["key_place"]) == ("added", "set", "file")
        session = await guest.open(model=f"{kind}/grand")
        events = await guest.turn(session, "greet")
        assert only("turn.ended", events)[0]["outcome"] == "done"
        assert KEY not in json.dumps(events)
        # Its answer may end a moment behind the turn.
        async with asyncio.timeout(30):
            for pause in pauses():
                if (facts := (await listed(guest))[kind])["state"] != "unknown":
                    break
                await asyncio.sleep(pause)
        assert (facts["state"], facts["sessions"]) == ("fine", 1)
        again = await guest.http.post(f"{PATH}/{kind}/test", json={})
        assert again.json()["ok"], again.text
        assert (await listed(guest))[kind]["first_word_ms"] > 0
        await guest.do(session, "close")


async def test_a_key_is_in_no_file_but_one_and_in_no_process_of_an_agent(
    portal: Portal, service: str
) -> None:
    key = "other-key-of-the-house-99"
    async with Guest.of(portal) as guest:
        asked = said("lab", service, key=key, name="hush", models=[{"id": "grand"}])
        assert (await guest.http.post(PATH, json=asked)).status_code == 201
        # It is refused there, and told to the session.
        session = await guest.open(model="hush/grand")
        events = await guest.turn(session, f"greet {key}")
        assert only("turn.ended", events)[0]["outcome"] == "failed"
        [error] = only("session.error", events)
        assert "change the key of the provider hush in Settings" in error["message"]
        facts = (await listed(guest))["hush"]
        assert (facts["state"], facts["cause"]) == ("failing", "401: the key was refused.")
        # The new key is used by the open session, without a restart.
        change = asked | {"key": KEY}
        del change["name"]
        changed = await guest.http.put(f"{PATH}/hush", json=change)
        assert changed.status_code == 200, changed.text
        events = await guest.turn(session, "greet")
        assert only("turn.ended", events)[-1]["outcome"] == "done"
        assert (await listed(guest))["hush"]["state"] == "fine"

        assert portal.note
        for process in psutil.Process(portal.note["pid"]).children(recursive=True):
            assert KEY not in f"{process.environ()} {process.cmdline()}"
        exported = await guest.http.get(f"/api/v1/sessions/{session}/export")
        audit = await guest.http.get("/api/v1/audit?limit=1000")
        settings = await guest.http.get("/api/v1/settings")
        for answer in (exported, audit, settings):
            assert (answer.status_code, KEY in answer.text, key in answer.text) == (
                *(200, False, False),
            )
        assert "hush" in audit.text
        kept = {f"data/secrets/provider-{name}" for name in (*KINDS, "hush")}
        assert holders(portal.folder, KEY) <= kept
        assert "data/secrets/provider-hush" in holders(portal.folder, KEY)
        assert holders(portal.folder, key) == set()
        used = await guest.http.delete("/api/v1/secrets/provider-hush")
        assert (used.status_code, "the provider hush" in used.text) == (409, True)

        assert (await guest.http.delete(f"{PATH}/hush")).status_code == 204
        events = await guest.turn(session, "greet")
        assert only("turn.ended", events)[-1]["outcome"] == "failed"
        assert "The provider hush was removed" in only("session.error", events)[-1]["message"]
        assert "data/secrets/provider-hush" not in holders(portal.folder, KEY)
        missing = await guest.http.post("/api/v1/sessions", json={"model": "hush/grand"})
        assert (missing.status_code, "no provider hush" in missing.text) == (422, True)
        await guest.do(session, "close")


async def test_it_is_there_after_kill_9_and_says_where_it_is_from(
    portal: Portal, service: str
) -> None:
    async with Guest.of(portal) as guest:
        asked = said("lab", service, key=KEY, name="stays", models=[{"id": "grand"}])
        assert (await guest.http.post(PATH, json=asked)).status_code == 201
        session = await guest.open(model="stays/grand")
        await guest.turn(session, "greet")
    portal.kill()
    portal.start()
    async with Guest.of(portal) as guest:
        found = await listed(guest)
        assert next(iter(found)) == "filed"
        assert (found["filed"]["source"], found["filed"]["key"]) == ("file", "missing")
        assert (found["stays"]["source"], found["stays"]["key"]) == ("added", "set")
        await guest.do(session, "resume")
        events = await guest.turn(session, "greet")
        assert only("turn.ended", events)[-1]["outcome"] == "done"
        checks = (await guest.http.get("/api/v1/doctor")).json()["checks"]
        check = next(check for check in checks if check["id"] == "providers")
        assert (check["state"], check["summary"]) == ("fail", "The key cannot be read: filed.")
        for answer in (
            await guest.http.put(f"{PATH}/filed", json=said("lab", service, models=[{"id": "m"}])),
            await guest.http.delete(f"{PATH}/filed"),
        ):
            assert (answer.status_code, "settings file" in answer.text) == (409, True)


async def test_what_cannot_be_is_refused_with_the_place(portal: Portal, service: str) -> None:
    bob = portal.run("token", "add", "bob", "--role", "decide").stdout.strip()
    async with Guest.of(portal) as guest:
        good = said("lab", service, key=KEY, name="new", models=[{"id": "m"}])
        refusals: tuple[tuple[dict[str, Any], int, str], ...] = (
            ({"name": "copilot"}, 422, "stands for something else"),
            ({"name": "a/b"}, 422, "name: "),
            ({"name": "filed"}, 409, "already"),
            ({"base_url": "http://example.com/v1"}, 422, "base_url: Over http"),
            ({"base_url": "ftp://x"}, 422, "base_url: "),
            ({"base_url": f"https://x/v1?key={KEY}"}, 422, "base_url: "),
            ({"base_url": f"https://x/{KEY}/v1"}, 422, "contains a secret"),
            ({"type": "anthropic", "wire": "responses"}, 422, "wire: "),
            ({"models": []}, 422, "models"),
            ({"key": "short"}, 422, "It must have 8"),
            ({"key": "two words in it"}, 422, "spaces"),
            ({"headers": {"Authorization": "x"}}, 422, "headers: "),
            ({"key_variable": "HOME"}, 422, "key_variable"),
        )
        for change, status, words in refusals:
            answer = await guest.http.post(PATH, json=good | change)
            assert (answer.status_code, words in answer.text) == (status, True), answer.text
            assert KEY not in answer.text
        assert "new" not in await listed(guest)
        # A key does not follow to another host.
        assert (await guest.http.post(PATH, json=good)).status_code == 201
        moved = {"base_url": "https://elsewhere.example/v1", "models": [{"id": "m"}]}
        answer = await guest.http.put(f"{PATH}/new", json=moved)
        assert (answer.status_code, "Put the key in again" in answer.text) == (422, True)
        assert (await listed(guest))["new"]["base_url"] == good["base_url"]
        assert (await guest.http.delete(f"{PATH}/new")).status_code == 204
        assert (await guest.http.delete(f"{PATH}/new")).status_code == 404

        guest.http.headers["Authorization"] = f"Bearer {bob}"
        assert (await guest.http.get(PATH)).status_code == 200
        for method, path in (
            ("POST", PATH),
            ("POST", "/api/v1/provider-tests"),
            ("POST", f"{PATH}/filed/test"),
            ("PUT", f"{PATH}/filed"),
            ("DELETE", f"{PATH}/filed"),
        ):
            answer = await guest.http.request(method, path, json={})
            assert (answer.status_code, answer.json()["code"]) == (403, "role_needed")
