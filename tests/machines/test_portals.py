"""Two servers on one database: each shows what happens on the other, live, and what is asked of one
is done by the other, once."""

import base64
import json
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import httpx2
import pytest

from tests.contract.test_v1_images import png
from tests.databases import with_tables
from tests.machines.story import ENTRY, Fleet, Machine
from tests.postgres import Postgres

pytestmark = pytest.mark.timeout(180)

Json = dict[str, Any]
LONG: Final = 60.0

SCRIPT: Final = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "hello"
    steps: [{reasoning: "Somebody greets me."}, {say: "Hello, captain."}]
  - when: "write it"
    steps:
      - call: {tool: bash, arguments: {description: "w", command: "echo hi >> {cwd}/said.txt"}}
      - say: "Written."
  - when: "take your time"
    steps: [{say: "One moment. "}, {sleep: 60}, {say: "There it is."}]
  - when: "slow it"
    steps: [{say: "Slow."}, {sleep: 60}]
  - when: " it"
    steps: [{say: "Done."}]
"""


@dataclass
class Door:
    """What people ask of one of the servers."""

    machine: Machine

    def ask(self, method: str, path: str, asked: Json | None = None) -> httpx2.Response:
        portal = self.machine.portal
        headers = {"Authorization": f"Bearer {portal.token}"}
        url = f"{portal.url}/api/v1{path}"
        return httpx2.request(method, url, json=asked, headers=headers, timeout=LONG)

    def send(self, session: str, text: str, key: str) -> Json:
        """A message with a key of the caller's own."""
        portal = self.machine.portal
        headers = {"Authorization": f"Bearer {portal.token}", "Idempotency-Key": key}
        url = f"{portal.url}/api/v1/sessions/{session}/prompts"
        answer = httpx2.post(url, json={"text": text}, headers=headers, timeout=LONG)
        assert answer.is_success, answer.text
        return answer.json()

    def get(self, path: str) -> Json:
        answer = self.ask("GET", path)
        assert answer.is_success, answer.text
        return answer.json()

    def post(self, path: str, asked: Json | None = None) -> Json:
        answer = self.ask("POST", path, asked)
        assert answer.is_success, answer.text
        return answer.json()

    @contextmanager
    def following(self, path: str) -> "Generator[Heard]":
        """What a page hears, from now on."""
        portal, heard = self.machine.portal, Heard()
        headers = {"Authorization": f"Bearer {portal.token}"}
        stream = httpx2.stream("GET", f"{portal.url}/api/v1{path}", headers=headers, timeout=LONG)
        with stream as answer:
            assert answer.is_success
            threading.Thread(target=heard.read, args=(answer,), daemon=True).start()
            yield heard


@dataclass
class Heard:
    events: list[Json] = field(default_factory=list[Json])
    notes: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])

    def read(self, answer: httpx2.Response) -> None:
        name = ""
        try:
            for line in answer.iter_lines():
                kind, _, rest = line.partition(": ")
                if kind == "event":
                    name = rest
                elif kind == "data" and name:
                    self.notes.append((name, json.loads(rest)))
                elif kind == "data":
                    said = json.loads(rest)
                    self.events.append({"seq": said["seq"], **said["event"]})
                elif not line:
                    name = ""
        except (httpx2.HTTPError, httpx2.StreamError):
            pass  # nobody listens any more

    def until(self, kind: str) -> Json:
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            for one in list(self.events):
                if one["kind"] == kind:
                    return one
            time.sleep(0.02)
        raise AssertionError(f"no {kind} in {self.events}")

    @property
    def text(self) -> str:
        return "".join(one["text"] for one in self.events if one["kind"] == "message.delta")


@dataclass
class Pair:
    fleet: Fleet
    works: Door
    shows: Door

    def session(self) -> str:
        asked = {"model": "rehearsal", "cwd": str(self.fleet.shared)}
        return str(self.works.post("/sessions", asked)["id"])

    def until(self, session: str, state: str) -> None:
        self.fleet.until(lambda: self.fleet.view(session).get("state") == state)


@pytest.fixture(scope="module")
def pair(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Generator[Pair]:
    name = with_tables(postgres)
    fleet = Fleet(tmp_path_factory.mktemp("pair"), postgres.url(name), lease=30)
    try:
        for one in (fleet.machine("build-1"), fleet.machine("build-2")):
            one.portal.script = SCRIPT
            one.portal.options = ("--permissions", "ask", *one.portal.options[2:])
            one.serve()
        yield Pair(fleet, *(Door(one) for one in fleet.machines))
    finally:
        fleet.end()
        postgres.drop(name)


def test_a_page_on_another_server_shows_a_session_live(pair: Pair) -> None:
    session = pair.session()
    with (
        pair.shows.following(f"/sessions/{session}/stream") as heard,
        pair.shows.following("/feed?lists=true") as lists,
    ):
        pair.works.post(f"/sessions/{session}/prompts", {"text": "hello"})
        heard.until("turn.ended")
        pair.until(session, "idle")
        assert heard.text == "Hello, captain."
        said = [
            {"seq": one["seq"], **one["event"]}
            for one in pair.works.get(f"/sessions/{session}/events")["items"]
            if not one["event"]["kind"].endswith(".delta")
        ]
        pair.fleet.until(lambda: heard.events[-1]["seq"] == said[-1]["seq"])
        assert [one for one in heard.events if not one["kind"].endswith(".delta")] == said
        seqs = [one["seq"] for one in heard.events]
        assert seqs == sorted(set(seqs))
        pair.fleet.until(
            lambda: any(
                name == "changed" and session in note["streams"] for name, note in lists.notes
            )
        )
    listed = pair.shows.get("/sessions")["items"]
    assert session in [one["id"] for one in listed]
    assert (
        pair.shows.get(f"/sessions/{session}")["seq"]
        == pair.works.get(f"/sessions/{session}")["seq"]
    )


def test_the_extensions_of_a_session_are_shown_and_reloaded_through_another_server(
    pair: Pair,
) -> None:
    place = pair.fleet.shared / "apart"
    folder = place / ".github" / "extensions" / "helper"
    folder.mkdir(parents=True)
    (place / ".git").mkdir()
    (folder / "extension.py").write_text("from airboss.extension import tool\n", "utf-8")
    asked = {"model": "rehearsal", "cwd": str(place)}
    session = pair.works.post("/sessions", asked)["id"]
    path = f"/sessions/{session}/extensions"
    [shown] = pair.shows.get(path)["items"]
    assert (shown["name"], shown["state"]) == ("helper", "untrusted")
    assert pair.works.get(path)["items"] == [shown]
    seen = pair.works.get(f"/trust/look?path={folder}")
    pair.works.post("/trust", {"path": str(folder), "digest": seen["digest"]})
    [reloaded] = pair.shows.post(f"{path}/reload")["items"]
    assert (reloaded["name"], reloaded["state"]) == ("helper", "running")
    pair.works.post(f"/sessions/{session}/close")
    assert pair.shows.ask("GET", path).status_code == 409


def test_a_session_is_asked_stopped_and_closed_through_another_server(pair: Pair) -> None:
    session = pair.session()
    first = pair.shows.post(f"/sessions/{session}/prompts", {"text": "take your time"})
    pair.until(session, "working")
    second = pair.shows.post(f"/sessions/{session}/prompts", {"text": "hello"})
    assert second["seq"] > first["seq"]
    prompt = second["prompt"]
    changed = pair.shows.ask("PATCH", f"/sessions/{session}/queue/{prompt}", {"text": "hello you"})
    assert [one["text"] for one in changed.json()["items"]] == ["hello you"]
    dropped = pair.shows.ask("DELETE", f"/sessions/{session}/queue/{prompt}").json()
    assert dropped["items"] == []
    assert pair.shows.post(f"/sessions/{session}/abort")["turn"] is None
    assert pair.shows.post(f"/sessions/{session}/close")["state"] == "closed"
    assert pair.shows.post(f"/sessions/{session}/close")["state"] == "closed"
    accepted = [one for one in pair.fleet.events(session) if one["kind"] == "prompt.accepted"]
    assert [one["prompt"] for one in accepted] == [first["prompt"], prompt]
    origins = pair.fleet.rows("SELECT origin FROM origins WHERE stream = %s", session)
    assert len([one for (one,) in origins if one.startswith("cmd/")]) >= 4


def test_a_refusal_of_another_server_is_told_in_its_words(pair: Pair) -> None:
    session = pair.session()
    pair.works.post(f"/sessions/{session}/close")
    here = pair.works.ask("POST", f"/sessions/{session}/prompts", {"text": "hello"})
    there = pair.shows.ask("POST", f"/sessions/{session}/prompts", {"text": "hello"})
    for answer in (here, there):
        assert answer.status_code == 409
        assert answer.json()["detail"] == "The session is closed. Resume it, or start a new one."
    unknown = pair.shows.ask("POST", "/sessions/ses_unknown/close")
    assert unknown.status_code == 404


def test_what_an_agent_asks_is_decided_on_another_server_and_the_first_word_counts(
    pair: Pair,
) -> None:
    session = pair.session()
    pair.works.post(f"/sessions/{session}/prompts", {"text": "write it"})
    pair.fleet.until(lambda: bool(pair.shows.get(f"/inbox?session={session}")["items"]))
    item = pair.shows.get(f"/inbox?session={session}")["items"][0]["id"]
    settled = pair.shows.post(f"/inbox/{item}/decision", {"choice": "allow-once"})
    assert settled["outcome"] == "allow-once"
    pair.until(session, "idle")
    assert (pair.fleet.shared / "said.txt").read_text("utf-8") == "hi\n"
    late = pair.works.ask("POST", f"/inbox/{item}/decision", {"choice": "deny"})
    assert late.status_code == 409
    assert "already decided" in late.text
    pair.fleet.until(lambda: not pair.shows.get(f"/inbox?session={session}")["items"])


def test_a_run_is_stopped_retried_and_deleted_through_another_server(pair: Pair) -> None:
    asked = {"job": "story", "cwd": str(pair.fleet.shared)}
    run = str(pair.works.post("/runs", asked)["id"])
    with pair.shows.following(f"/runs/{run}/stream") as heard:
        pair.fleet.until(lambda: pair.fleet.kinds(run).count("run.work.started") == 2)
        assert pair.shows.post(f"/runs/{run}/stop")["state"] == "canceled"
        heard.until("run.ended")
    again = pair.shows.post(f"/runs/{run}/retry")
    assert again["attempt"] == 2
    pair.fleet.until(lambda: pair.fleet.kinds(run).count("run.work.started") == 3)
    assert pair.shows.post(f"/runs/{run}/stop")["state"] == "canceled"
    assert pair.shows.ask("DELETE", f"/runs/{run}").status_code == 204
    assert pair.works.ask("GET", f"/runs/{run}").status_code == 404


def test_what_a_machine_has_of_a_session_goes_when_another_one_deletes_that(pair: Pair) -> None:
    session = pair.session()
    pair.works.post(f"/sessions/{session}/prompts", {"text": "hello"})
    pair.until(session, "idle")
    pair.works.post(f"/sessions/{session}/close")
    pair.until(session, "closed")
    [(runtime,)] = pair.fleet.rows("SELECT runtime FROM bindings WHERE session = %s", session)
    data = pair.works.machine.portal.folder / "data"
    assert list(data.rglob(f"session-state/{runtime}")), "a history that could be resumed"
    # As where its server was started again since: then nobody has it.
    free = "UPDATE streams SET owner = NULL WHERE stream = %s RETURNING 1"
    assert pair.fleet.rows(free, session)
    assert pair.shows.ask("DELETE", f"/sessions/{session}").status_code == 204
    pair.fleet.until(lambda: not list(data.rglob(f"session-state/{runtime}")))
    kept = "SELECT 1 FROM bindings WHERE session = %s"
    pair.fleet.until(lambda: not pair.fleet.rows(kept, session))


def test_a_rule_that_is_removed_on_one_server_holds_on_none_when_that_answers(pair: Pair) -> None:
    rule = {"rule": {"verdict": "allow", "wish": "shell", "command": "echo *"}}
    for add, remove in ((pair.works, pair.shows), (pair.shows, pair.works)):
        kept = add.post("/rules", rule)["id"]
        assert kept in [one["id"] for one in remove.get("/rules")["items"]]
        assert remove.ask("DELETE", f"/rules/{kept}").is_success
        assert kept not in [one["id"] for one in add.get("/rules")["items"]]


def test_what_is_done_for_all_is_the_duty_of_one(pair: Pair) -> None:
    pair.fleet.until(
        lambda: bool(pair.fleet.rows("SELECT owner FROM duties WHERE name = 'retention'"))
    )
    [(owner,)] = pair.fleet.rows("SELECT owner FROM duties WHERE name = 'retention'")
    workers = [one for (one,) in pair.fleet.rows("SELECT id FROM workers WHERE state = 'alive'")]
    assert len(workers) == 2
    assert owner in workers


def test_an_image_is_shown_by_every_server(pair: Pair) -> None:
    session, picture = pair.session(), png()
    images = [{"mime": "image/png", "data": base64.b64encode(picture).decode()}]
    asked = {"text": "hello", "images": images}
    name = f"{pair.shows.post(f'/sessions/{session}/prompts', asked)['prompt']}.1.png"
    asked_before = pair.fleet.rows("SELECT count(*) FROM commands")
    for door in (pair.works, pair.shows):
        assert door.ask("GET", f"/sessions/{session}/images/{name}").content == picture
        assert door.ask("GET", f"/sessions/{session}/images/other.1.png").status_code == 404
        assert not (door.machine.portal.data / "images" / session).exists()
    assert pair.fleet.rows("SELECT count(*) FROM commands") == asked_before, "nobody was asked"
    pair.works.post(f"/sessions/{session}/close")
    assert pair.works.ask("DELETE", f"/sessions/{session}").is_success
    assert pair.fleet.rows("SELECT 1 FROM images WHERE stream = %s", session) == []


def test_a_message_with_the_same_key_counts_once_through_whatever_server(pair: Pair) -> None:
    session = pair.session()
    doors = (pair.shows, pair.works, pair.shows)
    [first, *others] = [door.send(session, "hello", "a key of mine") for door in doors]
    assert others == [first, first]
    with ThreadPoolExecutor(4) as threads:
        send = partial(pair.works.send, session, "hello", "another key")
        shows = partial(pair.shows.send, session, "hello", "another key")
        begun = [threads.submit(one) for one in (send, shows, send, shows)]
        [second] = {one.result()["prompt"] for one in begun}
    assert second != first["prompt"]
    kinds = pair.fleet.kinds(session)
    assert kinds.count("prompt.accepted") == 2


def test_what_is_said_on_one_server_is_found_on_every_one(pair: Pair) -> None:
    session = pair.session()
    pair.works.post(f"/sessions/{session}/prompts", {"text": "hello Quetzalcoatl"})

    def is_found(door: Door) -> bool:
        hits = door.get("/search?text=quetzalcoatl")["items"]
        return session in [one["stream"] for one in hits]

    pair.fleet.until(lambda: is_found(pair.works))
    pair.fleet.until(lambda: is_found(pair.shows))


def test_a_setting_that_is_changed_on_one_server_holds_on_the_other(pair: Pair) -> None:
    asked = pair.shows.ask("PATCH", "/settings/max_sessions", {"value": 41})
    assert asked.is_success, asked.text

    def value() -> object:
        settings = pair.works.get("/settings")["items"]
        return next(one["value"] for one in settings if one["name"] == "max_sessions")

    pair.fleet.until(lambda: value() == 41)
    assert pair.shows.ask("DELETE", "/settings/max_sessions").is_success
    pair.fleet.until(lambda: value() != 41)


def test_a_provider_and_an_account_that_are_added_on_one_server_are_on_the_other(
    pair: Pair,
) -> None:
    def shown(kind: str) -> dict[str, Any]:
        return {one["name"]: one for one in pair.shows.get(f"/{kind}")["items"]}

    models = [{"id": "small"}]
    provider = {"name": "ours", "type": "openai", "base_url": "https://models.example.org/v1"}
    pair.works.post("/providers", {**provider, "models": models, "key": "sk-provider-0001"})
    pair.fleet.until(lambda: "ours" in shown("providers"))
    assert shown("providers")["ours"]["key"] == "missing", "keys stay on their machine"
    changed = {key: value for key, value in provider.items() if key != "name"}
    models = [{"id": "small"}, {"id": "large"}]
    assert pair.works.ask("PUT", "/providers/ours", {**changed, "models": models}).is_success
    pair.fleet.until(lambda: len(shown("providers")["ours"]["models"]) == 2)
    pair.works.post("/accounts", {"name": "team", "token": "token-of-the-team"})
    pair.fleet.until(lambda: "team" in shown("accounts"))
    for path in ("/providers/ours", "/accounts/team"):
        assert pair.works.ask("DELETE", path).is_success
    pair.fleet.until(lambda: "ours" not in shown("providers") and "team" not in shown("accounts"))


def test_an_entry_that_is_installed_through_one_server_is_there_on_every_one(fleet: Fleet) -> None:
    first, second, third = (fleet.machine(f"build-{number}") for number in (1, 2, 3))
    first.serve()
    second.serve()
    here, there = Door(first), Door(second)
    entry = {**ENTRY, "tasks": {**ENTRY["tasks"], "installed": ENTRY["tasks"]["first"]}}
    installed = here.post("/entry/install", {"entry": entry})["digest"]
    fleet.until(lambda: there.get("/entry")["digest"] == installed)
    assert there.get("/entry")["source"] == "api"
    asked = {"task": "installed", "cwd": str(fleet.shared)}
    task = there.post("/task-runs", asked)["id"]
    assert fleet.until_run_is(task, "succeeded", "failed")["state"] == "succeeded"
    first.end()
    third.serve()
    assert Door(third).get("/entry")["digest"] == installed, "as long as somebody lives who has it"
