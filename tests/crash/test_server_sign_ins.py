"""Sign-ins at MCP servers that wait for a person: also with the server killed, in a chat and in a
run, over HTTP and from the command line."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.asking import refusal
from tests.crash.conftest import MakePortal
from tests.crash.person import Person
from tests.crash.waiting import Waited, of_kind
from tests.servers.started import SIGNED_IN, Wiki, person_at, started

pytestmark = pytest.mark.timeout(150)

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "^read"
    steps:
      - call: {tool: wiki-page, arguments: {name: "{last}"}}
      - say: "Read."
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "read": {
            "model": {"category": "driving"},
            "prompt": ["read-owls"],
            "requireUserInput": False,
        }
    },
    "jobs": {"ship": {"work": {"kind": "Ref", "taskId": "read"}}},
    "grid": [],
}


@pytest.fixture(scope="module")
def wiki() -> Generator[Wiki]:
    with started(SIGNED_IN) as address:
        yield Wiki(address)


@pytest.fixture
async def person(make_portal: MakePortal, tmp_path: Path, wiki: Wiki) -> AsyncGenerator[Person]:
    entry = tmp_path / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    portal = make_portal("--permissions", "approve-all", "--entry", str(entry), script=SCRIPT)
    portal.data.mkdir(mode=0o700)
    settings = f'mcp_wait_seconds = 60\n[session.mcp_servers.wiki]\nurl = "{wiki.url}"\n'
    (portal.data / "settings.toml").write_text(settings, "utf-8")
    portal.start()
    person = Person(portal)
    yield person
    await person.close()


async def begun(person: Person, session: str) -> dict[str, str]:
    """What a browser brings back, of somebody who allowed it."""
    path = f"/api/v1/sessions/{session}/mcp-servers/wiki/sign-in"
    answer = await person.client.post(path)
    assert answer.status_code == 200, answer.text
    return await asyncio.to_thread(person_at, answer.json()["url"])


async def test_a_chat_and_a_run_wait_for_a_sign_in_through_a_kill_of_the_server(
    person: Person, wiki: Wiki
) -> None:
    portal = person.portal
    async with Waited.of(portal) as guest:
        session = await guest.open()
        await guest.http.post(f"/api/v1/sessions/{session}/prompts", json={"text": "read-mice"})
        await guest.first(session=session)
        run = await person.start("ship")
    items = await person.items(2)
    assert {item["asked"]["kind"] for item in items} == {"sign-in.asked"}
    view = await person.until(run, "waiting-for-person")
    host = wiki.address.removeprefix("http://")
    assert view["waits_for"] == f"your sign-in at the MCP server wiki ({host})"
    lost = await begun(person, session)
    await person.kill()

    assert await person.items(2) == items, "they wait on"
    view = await person.until(run, "waiting-for-person")
    assert view["waits_for"] == f"your sign-in at the MCP server wiki ({host})"
    stale = await person.client.post("/api/v1/mcp-sign-ins", json=lost)
    assert refusal(stale)[:2] == (409, "conflict")
    assert "the server was restarted" in refusal(stale)[2]
    # From the command line, with what the browser shows in the end.
    asked = await asyncio.to_thread(portal.run, "mcp", session, "--sign-in", "wiki", "--json")
    back = await asyncio.to_thread(person_at, json.loads(asked.stdout)["url"])
    address = "http://localhost/inbox.html?" + "&".join(f"{k}={v}" for k, v in back.items())
    done = await asyncio.to_thread(portal.run, "mcp", "--finish", address)
    assert (done.returncode, done.stderr.strip()) == (0, "Signed in at wiki.")
    again = await asyncio.to_thread(portal.run, "mcp", "--finish", address)
    assert again.returncode != 0
    assert "not known here" in again.stderr

    await person.items(0)
    await person.until(run, "succeeded")
    async with Waited.of(portal) as guest:
        events = await guest.ended(session)
        [read] = of_kind("tool.ended", events)
        assert read["text"].startswith("All about read-mice.")
        [asked] = of_kind("sign-in.asked", events)
        assert not of_kind("session.error", events)
    # A session with servers comes back with them, and nobody is asked again.
    await person.kill()
    await person.client.post(f"/api/v1/sessions/{session}/resume")
    async with Waited.of(portal) as guest:
        await guest.http.post(f"/api/v1/sessions/{session}/prompts", json={"text": "read-cats"})
        events = await guest.ended(session, 3)
        assert of_kind("tool.ended", events)[-1]["text"].startswith("All about read-cats.")
        assert len(of_kind("sign-in.asked", events)) == 1
    secrets = wiki.known()["secrets"]
    assert not [one for one in secrets if one in portal.log]
    shown = await asyncio.to_thread(portal.run, "mcp", session)
    assert "connected" in shown.stdout
    out = await asyncio.to_thread(portal.run, "mcp", session, "--sign-out", "wiki")
    assert out.stderr.strip() == "Signed out at wiki, for all sessions."


async def test_a_sign_in_that_is_declined_lets_the_run_go_on_also_behind_a_kill(
    person: Person,
) -> None:
    run = await person.start("ship")
    [item] = await person.items()
    await person.kill()
    assert [one["id"] for one in await person.items()] == [item["id"]]
    listed = await asyncio.to_thread(person.portal.run, "inbox", "--kind", "sign-in")
    assert "Sign in at the MCP server wiki?" in listed.stdout
    said = await asyncio.to_thread(person.portal.run, "decline", item["id"])
    assert said.returncode == 0, said.stderr
    await person.until(run, "succeeded")
    [server] = (await person.client.get(f"/api/v1/sessions/{item['session']}")).json()[
        "mcp_servers"
    ]
    assert server["state"] == "stopped", "the session is over"
    settled = await asyncio.to_thread(person.portal.run, "approve", item["id"])
    assert "already decided: declined" in settled.stderr
