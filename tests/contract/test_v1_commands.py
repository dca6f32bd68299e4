"""Commands behind a slash: what people named, what the runtime answers, and what is refused."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.asking import refusal
from tests.contract.guest import Guest, Told
from tests.portal import Portal

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "What changed"
    steps: [{say: "Nothing changed."}]
  - when: "code review"
    steps: [{say: "All is well."}]
  - when: "Deploy"
    steps: [{say: "Deployed."}]
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {"place": ["staging"]},
    "commands": {"deploy": {"description": "Deploy it.", "prompt": ["Deploy to $place."]}},
    "tasks": {},
    "jobs": {},
    "grid": [],
}
NAMED = {"changes": {"description": "Say what changed.", "prompt": "What changed?"}}


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("commands")
    (folder / "airboss.json").write_text(json.dumps(ENTRY), "utf-8")
    portal = Portal(folder, ("--entry", str(folder / "airboss.json")), SCRIPT)
    portal.start()
    yield portal
    portal.stop()


async def invoke(guest: Guest, session: str, name: str, words: str = "") -> Told:
    path = f"/api/v1/sessions/{session}/commands"
    answer = await guest.http.post(path, json={"name": name, "input": words})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_what_people_named_is_sent_and_the_runtime_answers_the_rest(
    portal: Portal, anyio_backend: str
) -> None:
    async with Guest.of(portal) as guest:
        started = await guest.http.post(
            "/api/v1/sessions", json={"cwd": str(portal.work), "commands": NAMED}
        )
        session = started.json()["id"]
        offered = (await guest.http.get(f"/api/v1/sessions/{session}/commands")).json()["items"]
        assert {one["name"]: one["source"] for one in offered} == {
            **dict.fromkeys(("compact", "context", "plan", "rename", "review"), "airboss"),
            **dict.fromkeys(("security-review", "usage"), "airboss"),
            "changes": "session",
            "deploy": "entry",
        }
        for name, words in (("changes", "in web/"), ("deploy", ""), ("/review", "the last one")):
            sent = await invoke(guest, session, name, words)
            assert sent["prompt"].startswith("pro_")
            await guest.until(session, "idle")
        events = [one["event"] for one in await guest.events(session)]
        asked = [one["text"] for one in events if one["kind"] == "prompt.accepted"]
        assert asked[:2] == ["What changed?\n\nin web/", "Deploy to staging."]
        assert "Additional instructions: the last one" in asked[2]
        assert (await invoke(guest, session, "rename", "Changes"))["text"].endswith(
            "“Changes” now."
        )
        assert "tokens" in (await invoke(guest, session, "context"))["text"]
        assert "Tokens" in (await invoke(guest, session, "usage"))["text"]
        assert (await guest.show(session))["title"] == "Changes"
        assert len([one for one in events if one["kind"] == "turn.ended"]) == 3


@pytest.mark.parametrize(
    ("name", "words", "status", "said"),
    [
        ("allow-all", "", 422, "/allow-all cannot be used here. Change the session's permissions"),
        ("add-dir", "/", 422, "/add-dir cannot be used here."),
        ("cwd", "/", 422, "/cwd cannot be used here."),
        ("mcp", "", 422, "/mcp cannot be used here."),
        ("permissions", "", 422, "/permissions cannot be used here."),
        ("plugin", "", 422, "/plugin cannot be used here."),
        ("remote", "", 422, "/remote cannot be used here."),
        ("sandbox", "off", 422, "/sandbox cannot be used here."),
        ("autopilot", "", 422, "There is no command /autopilot. There are: /compact, /context"),
        ("ALLOW-ALL", "", 422, "There is no command /ALLOW-ALL."),
        ("plan", " ", 422, "/plan needs words behind it: what the agent is to plan."),
        ("rename", "", 422, "/rename needs words behind it: the new name."),
        ("", "", 422, "name"),
    ],
)
async def test_other_commands_are_refused_by_name(
    portal: Portal, name: str, words: str, status: int, said: str, anyio_backend: str
) -> None:
    async with Guest.of(portal) as guest:
        session = await guest.open()
        path = f"/api/v1/sessions/{session}/commands"
        answer = await guest.http.post(path, json={"name": name, "input": words})
        assert answer.status_code == status
        assert said in f"{refusal(answer)[2]} {answer.text}"


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ({"compact": NAMED["changes"]}, "is a command of its own already"),
        ({"no good": NAMED["changes"]}, "commands"),
        ({"x": {"prompt": "x"}}, "description"),
        ({"x": {"description": "x", "prompt": ""}}, "prompt"),
    ],
)
async def test_a_bad_command_is_refused_when_a_session_is_started(
    portal: Portal, commands: Told, said: str, anyio_backend: str
) -> None:
    async with Guest.of(portal) as guest:
        answer = await guest.http.post("/api/v1/sessions", json={"commands": commands})
        assert answer.status_code == 422
        assert said in answer.text
