"""The audit: an entry for each kind of act, with who, from where and what, and nothing secret."""

import asyncio
import json
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.asking import SCRIPT, AskedGuest
from tests.portal import Portal
from tests.signing import sign_in_anew

Told = dict[str, Any]
_ENTRY = "tasks: {}\njobs: {}\n"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("audit"), ("--permissions", "ask"), SCRIPT)
    portal.start()
    yield portal
    portal.stop()


def told(portal: Portal, kind: str, **environ: str) -> list[Told]:
    """Every event of this kind, the oldest first, as the command line has them."""
    done = portal.run("audit", "--json", "--limit", "10000", **environ)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line)["event"] for line in done.stdout.splitlines()]
    return [event for event in events if event["kind"] == f"audit.{kind}"]


def last(portal: Portal, kind: str) -> Told:
    return told(portal, kind)[-1]


def owner(portal: Portal, **headers: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {portal.token}", **headers}
    return httpx2.Client(base_url=portal.url, headers=headers, timeout=30)


OWNER = {"who": "owner", "address": "127.0.0.1", "via": "api"}


def test_the_start_of_a_server_is_told_with_its_policy_and_its_tokens(portal: Portal) -> None:
    started = told(portal, "server.started")[0]
    assert (started["by"], started["policy"]) == ({"via": "server"}, "ask")
    assert started["needs_token"] is True
    assert started["tokens"] == [{"name": "owner", "role": "own"}]
    assert json.loads(started["settings"])["port"] == 0


def test_tokens_that_come_and_go_are_told_by_whoever_ran_the_command(portal: Portal) -> None:
    portal.run("token", "add", "comer", "--role", "view")
    portal.run("token", "change", "comer", "--role", "decide")
    portal.run("token", "remove", "comer")
    events = [one for one in told(portal, "token.changed") if one["token"]["name"] == "comer"]
    assert [one["change"] for one in events] == ["added", "changed", "removed"]
    assert [one["token"]["role"] for one in events] == ["view", "decide", "decide"]
    by = events[0]["by"]
    assert (by["address"], by["via"], bool(by["who"])) == ("this machine", "cli", True)
    assert abs(events[0]["changed_at"] / 1000 - time.time()) < 60


def test_tokens_that_change_while_no_server_runs_are_told_by_the_next(tmp_path: Path) -> None:
    portal = Portal(tmp_path)
    assert portal.run("token", "add", "early").returncode == 0
    for _ in range(2):
        portal.start()
        names = [one["token"]["name"] for one in told(portal, "token.changed")]
        assert names == ["early"], "told once, by the first server that came"
        portal.stop()


def test_sign_ins_and_their_ends_are_told(portal: Portal) -> None:
    agent = "Mozilla/5.0 (X11; Linux) Gecko Firefox/150"
    signed = sign_in_anew(portal.url, portal.token, **{"User-Agent": agent})
    begun = last(portal, "signed-in")
    assert begun["by"] == {"who": "owner", "address": "127.0.0.1", "via": "page"}
    assert begun["device"] == "Firefox on Linux"
    httpx2.post(f"{portal.url}/api/v1/signout", headers=signed.headers)
    ended = last(portal, "signed-out")
    assert (ended["sign_in"], ended["name"]) == (begun["sign_in"], "owner")
    assert (ended["why"], ended["by"]["via"]) == ("asked", "page")


def test_a_sign_in_that_ends_with_its_token_is_told_as_such(portal: Portal) -> None:
    token = portal.run("token", "add", "leaver").stdout.strip()
    sign_in_anew(portal.url, token)
    portal.run("token", "remove", "leaver")
    ended = last(portal, "signed-out")
    assert (ended["name"], ended["why"]) == ("leaver", "token-gone")
    assert ended["by"] == {"via": "server"}


def test_refusals_are_told_with_what_was_asked(portal: Portal) -> None:
    view = portal.run("token", "add", "looker", "--role", "view").stdout.strip()
    with owner(portal) as client:
        client.get("/api/v1/rules", headers={"Authorization": "Bearer wrong"})
        client.post("/api/v1/stop", headers={"Authorization": f"Bearer {view}"})
        client.get("/api/v1/rules", headers={"Host": "evil.example"})
    found = {one["code"]: one for one in told(portal, "refused")}
    wrong, role, host = (found[code] for code in ("wrong_token", "role_needed", "unknown_host"))
    assert (wrong["status"], wrong["path"], "who" in wrong["by"]) == (401, "/api/v1/rules", False)
    assert (role["status"], role["method"], role["by"]["who"]) == (403, "POST", "looker")
    assert (host["status"], host["by"]["address"]) == (421, "127.0.0.1")


async def test_decisions_are_told_with_what_they_were_about(portal: Portal) -> None:
    async with AskedGuest.of(portal) as guest:
        item = await guest.ask("touch it")
        await guest.say(item["id"], "decision", choice="allow-always")
        question = await guest.ask("what name")
        await guest.say(question["id"], "answer", answer="Ada")
        for one in (item, question):
            await guest.until(one["session"], "idle")
            await guest.do(one["session"], "close")
    allowed, answered = (await asyncio.to_thread(told, portal, "decided"))[-2:]
    assert (allowed["item"], allowed["outcome"], allowed["by"]) == (
        item["id"],
        "allow-always",
        OWNER,
    )
    assert "touch" in allowed["about"]
    assert (answered["outcome"], answered["about"]) == ("answered", "What name?")
    assert "Ada" not in json.dumps(answered)
    rule = await asyncio.to_thread(last, portal, "rules.changed")
    assert (rule["change"], rule["by"]) == ("added", OWNER)
    assert "touch" in rule["text"]


def test_rules_are_told_as_they_come_go_and_move(portal: Portal) -> None:
    with owner(portal) as client:
        body = {"rule": {"verdict": "deny", "wish": "shell", "command": "rm *"}}
        kept = client.post("/api/v1/rules", json=body).json()
        ids = [one["id"] for one in client.get("/api/v1/rules").json()["items"]]
        client.put("/api/v1/rules/order", json={"ids": ids[::-1]})
        client.delete(f"/api/v1/rules/{kept['id']}")
    events = told(portal, "rules.changed")[-3:]
    assert [one["change"] for one in events] == ["added", "arranged", "removed"]
    assert events[2]["rule"] == kept["id"]
    assert events[2]["text"] == "deny kind shell command rm *"


def test_trust_is_told_with_the_digest(portal: Portal) -> None:
    entry = portal.work / "airboss.yaml"
    entry.write_text(_ENTRY, encoding="utf-8")
    with owner(portal) as client:
        digest = client.get("/api/v1/trust/look", params={"path": str(entry)}).json()["digest"]
        client.post("/api/v1/trust", json={"path": str(entry), "digest": digest})
        client.delete("/api/v1/trust", params={"path": str(entry)})
    trusted, distrusted = told(portal, "trust.changed")
    assert (trusted["change"], trusted["digest"], trusted["by"]) == ("trusted", digest, OWNER)
    assert distrusted["change"] == "distrusted"
    assert trusted["paths"] == distrusted["paths"]
    assert trusted["paths"][0].endswith("airboss.yaml")


def test_deletions_and_another_entry_are_told(portal: Portal) -> None:
    session = portal.new_session()
    document: Told = {"models": {"driving": "rehearsal"}, "promptVariables": {}, "tasks": {}}
    with owner(portal) as client:
        client.post(f"/api/v1/sessions/{session}/close")
        assert client.delete(f"/api/v1/sessions/{session}").status_code == 204
        body: Told = {"entry": {**document, "jobs": {}, "grid": []}}
        installed = client.post("/api/v1/entry/install", json=body)
        assert installed.status_code == 200, installed.text
    assert (last(portal, "deleted")["stream"], last(portal, "deleted")["by"]) == (session, OWNER)
    assert last(portal, "entry.installed")["digest"] == installed.json()["digest"]


def test_the_command_line_is_told_apart_from_other_programs(portal: Portal) -> None:
    assert portal.run("rules", "add", "deny", "--wish", "shell").returncode == 0
    by = last(portal, "rules.changed")["by"]
    assert (by["who"], by["via"]) == ("owner", "cli")


def test_the_end_of_a_server_is_told_with_whoever_asked(tmp_path: Path) -> None:
    portal = Portal(tmp_path)
    portal.start()
    assert portal.run("stop", "--yes").returncode == 0
    portal.start()
    assert last(portal, "server.stopped")["by"]["via"] == "cli"
    portal.process.send_signal(signal.SIGTERM)
    portal.process.wait(10)
    portal.start()
    assert [one["by"].get("who") for one in told(portal, "server.stopped")] == ["owner", None]
    assert len(told(portal, "server.started")) == 3
    portal.stop()


def test_nothing_in_it_is_secret(portal: Portal) -> None:
    secret = "ghp_" + "a1B2" * 9
    named = portal.run("token", "add", "keeper", "--role", "view").stdout.strip()
    signed = sign_in_anew(portal.url, named)
    with owner(portal) as client:
        client.get(f"/api/v1/{secret}/x", headers={"Authorization": f"Bearer {secret}"})
        client.post(f"/api/v1/rules?token={named}", headers=signed.headers | {"Authorization": ""})
        client.get(f"/{portal.token}", headers={"Authorization": "Bearer x"})
        text = client.get("/api/v1/audit/export").text
    assert "wrong_token" in text
    for hidden in (secret, named, portal.token, signed.cookie, signed.key):
        assert hidden not in text
        assert hidden[8:30] not in text


def test_settings_are_told_without_what_lets_one_in_elsewhere(tmp_path: Path) -> None:
    portal = Portal(tmp_path, extra_environ={"AIRBOSS_WEBHOOK_SECRET": "w" * 40})
    portal.data.mkdir()
    lines = (
        'webhook_url = "https://hooks.example/services/T0/hidden-path"',
        'notify_command = ["true", "--key", "hidden-word"]',
        '[[providers]]\nname = "house"\nmodels = ["m"]',
        'base_url = "https://house.example/hidden-base"',
    )
    (portal.data / "settings.toml").write_text("\n".join(lines), encoding="utf-8")
    portal.start()
    (started,) = told(portal, "server.started")
    portal.stop()
    assert "hidden" not in started["settings"]
    settings = json.loads(started["settings"])
    assert settings["webhook_url"] == "https://hooks.example/…"
    assert (settings["notify_command"], settings["providers"]) == (["true", "…"], ["house"])


def test_no_request_changes_or_deletes_it(portal: Portal) -> None:
    with owner(portal) as client:
        before = client.get("/api/v1/audit/export").text.splitlines()
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            for path in ("", "/stream", "/export", "/1"):
                answer = client.request(method, f"/api/v1/audit{path}", json={})
                assert answer.status_code in (404, 405), (method, path)
        for path in ("/api/v1/sessions/audit", "/api/v1/runs/audit"):
            assert client.delete(path).status_code == 404
        after = client.get("/api/v1/audit/export").text.splitlines()
    assert after[: len(before)] == before


async def test_only_owners_read_it_and_no_other_stream_shows_it(portal: Portal) -> None:
    made = await asyncio.to_thread(portal.run, "token", "add", "peeper", "--role", "decide")
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    async with httpx2.AsyncClient(base_url=portal.url, headers=headers, timeout=30) as client:
        for path in ("/api/v1/audit", "/api/v1/audit/export", "/api/v1/audit/stream"):
            assert (await client.get(path)).status_code == 403
        assert (await client.get("/api/v1/sessions/audit/events")).status_code == 404
        seen = ""
        async with client.stream("GET", "/api/v1/feed?follow=audit:0&lists=true") as answer:
            async for piece in answer.aiter_text():
                seen += piece
                if "caught-up" in seen:
                    break
    assert "event: gone" in seen
    assert "audit.server" not in seen


def test_pages_go_back_by_a_cursor(portal: Portal) -> None:
    with owner(portal) as client:
        seqs: list[int] = []
        cursor: int | None = None
        while True:
            asked = {"limit": 3} if cursor is None else {"limit": 3, "cursor": cursor}
            page = client.get("/api/v1/audit", params=asked).json()
            seqs += [one["seq"] for one in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        lines = client.get("/api/v1/audit/export").text.splitlines()
    assert seqs == [json.loads(line)["seq"] for line in lines][::-1]
    assert seqs[-1] == 1


async def test_it_can_be_followed(portal: Portal) -> None:
    async with portal.client() as client, client.stream("GET", "/api/v1/audit/stream") as answer:
        assert answer.status_code == 200
        await asyncio.to_thread(portal.run, "rules", "add", "deny", "--wish", "url")
        seen = ""
        async with asyncio.timeout(20):
            async for piece in answer.aiter_text():
                seen += piece
                if "deny kind url" in seen:
                    break
    assert "audit.server.started" in seen


def test_the_list_is_a_line_for_each(portal: Portal) -> None:
    for name in ("one", "two"):
        portal.run("token", "add", name)
    lines = portal.run("audit", "--limit", "2").stdout.splitlines()
    assert [line.split("\t")[3] for line in lines] == ["token.changed"] * 2
    assert [line.count("\t") for line in lines] == [4, 4]


def test_it_stays_whatever_is_kept_of_the_rest_unless_it_has_days_of_its_own(
    tmp_path: Path,
) -> None:
    portal = Portal(tmp_path)
    portal.data.mkdir()
    settings = portal.data / "settings.toml"
    settings.write_text("keep_days = 0.00001\nkeep_megabytes = 1\n", encoding="utf-8")
    for _ in range(2):
        portal.start()
        portal.stop()
    with sqlite3.connect(portal.data / "airboss.sqlite") as database:
        week_ago = int(time.time() * 1000) - 7 * 86_400_000
        database.execute("UPDATE events SET at = ? WHERE stream = 'audit'", (week_ago,))
    portal.start()
    assert len(told(portal, "server.started")) == 3
    portal.stop()
    settings.write_text("keep_audit_days = 2\n", encoding="utf-8")
    portal.start()
    (trimmed,) = told(portal, "trimmed")
    assert (trimmed["keep_days"], trimmed["count"], trimmed["by"]) == (2, 4, {"via": "server"})
    kept = told(portal, "server.started")
    assert len(kept) == 2
    assert json.loads(kept[-1]["settings"])["keep_audit_days"] == 2
    portal.stop()
