"""Calls that are under way when the server or the runtime is killed: ended once, and made again
only where that does no harm."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from airboss.model.events import ToolEnded, ToolStarted
from airboss.runtime.sweep import processes_of_extensions
from tests.extensions.hosted import KIT, Hosted, is_alive, results_in, until
from tests.portal import Portal
from tests.service.house import ME

LONG = """
async def long(name, call):
    note(name, call.id)
    if len((HERE / name).read_text().split()) == 1:
        await asyncio.sleep(120)
    return f"done {name}"
@tool
async def once(call: Call) -> str:
    "x"
    return await long("once", call)
@tool(repeatable=True)
async def twice(call: Call) -> str:
    "x"
    return await long("twice", call)
"""
_NAMES = ("once", "twice")
# The runtime writes down what it waits for a moment later; before that it knows of no call.
WRITTEN_SECONDS = 1
SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - {when: "call once", steps: [{call: {tool: once}}, {say: "behind once"}]}
  - {when: "call twice", steps: [{call: {tool: twice}}, {say: "behind twice"}]}
"""


@pytest.mark.parametrize("name", ["once", "twice"])
async def test_a_call_outlives_the_runtime(hosted: Hosted, name: str) -> None:
    for file in ("once", "twice"):
        (hosted.notes / file).unlink(missing_ok=True)
    await hosted.add("long", LONG)
    session = await hosted.open()
    await hosted.house.sessions.prompt(session, f"call {name} {{}}", ME)
    await until(lambda: hosted.noted(name))
    await asyncio.sleep(WRITTEN_SECONDS)
    hosted.house.kill_runtime()
    await hosted.house.until(session, "interrupted")
    [cut] = await hosted.said(session, ToolEnded)
    assert (cut.cut, cut.extension) == (True, "long")
    await hosted.house.sessions.resume(session, ME)
    await hosted.house.until(session, "idle", turns=2)
    assert len(hosted.noted(name)) == (1 if name == "once" else 2)
    result = results_in(hosted.watched.stage.requests[-1])[-1]
    ends = await hosted.said(session, ToolEnded)
    if name == "once":
        assert "it may have taken effect" in result
        assert len(ends) == 1
    else:
        assert result == "done twice"
        assert len(set(hosted.noted("twice"))) == 1
        assert [one.cut for one in ends] == [True, False]
    assert len(await hosted.said(session, ToolStarted)) == len(ends)


async def test_a_call_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    portal = Portal(
        tmp_path,
        ("--permissions", "approve-all"),
        SCRIPT,
        {"NOTES": str(notes), "COPILOT_HOME": str(tmp_path / "copilot")},
    )
    folder = portal.work / ".github" / "extensions" / "long"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(KIT + LONG, "utf-8")
    with portal.serving():
        trusted = await asyncio.to_thread(portal.run, "trust", str(folder))
        assert trusted.returncode == 0, trusted.stderr
        async with portal.client() as client:
            sessions = {name: await _begun(client, portal, notes, name) for name in _NAMES}
        await asyncio.sleep(WRITTEN_SECONDS)
        before = _processes(notes)
        assert len(before) == len(_NAMES)
        portal.kill()
        portal.start()
        await until(lambda: not any(is_alive(pid) for pid in before))
        async with portal.client() as client:
            for name, session in sessions.items():
                await client.post(f"/api/v1/sessions/{session}/resume", json={})
                await _until_said(client, session, f"behind {name}")
                story = await _events(client, session)
                ends = [one for one in story if one["kind"] == "tool.ended"]
                assert len(ends) == (1 if name == "once" else 2)
                assert ends[0]["extension"] == "long"
    assert len((notes / "once").read_text("utf-8").split()) == 1
    ids = (notes / "twice").read_text("utf-8").split()
    assert (len(ids), len(set(ids))) == (2, 1)


def story_says(story: list[dict[str, Any]], text: str) -> bool:
    return any(one["kind"] == "message.ended" and text in one["text"] for one in story)


def _processes(notes: Path) -> list[int]:
    """Of extensions that write there: others on this machine may have some, too."""
    found = [pid for pids in processes_of_extensions().values() for pid in pids]
    return [pid for pid in found if psutil.Process(pid).environ().get("NOTES") == str(notes)]


async def _begun(client: httpx2.AsyncClient, portal: Portal, notes: Path, name: str) -> str:
    asked = {"model": "rehearsal", "cwd": str(portal.work)}
    session = (await client.post("/api/v1/sessions", json=asked)).json()["id"]
    prompt = {"text": f"call {name}"}
    answer = await client.post(f"/api/v1/sessions/{session}/prompts", json=prompt)
    assert answer.is_success, answer.text
    await until(lambda: (notes / name).exists())
    return session


async def _events(client: httpx2.AsyncClient, session: str) -> list[dict[str, Any]]:
    answer = await client.get(f"/api/v1/sessions/{session}/events?limit=500")
    return [one["event"] for one in answer.json()["items"]]


async def _until_said(client: httpx2.AsyncClient, session: str, text: str) -> None:
    async def is_said() -> bool:
        return story_says(await _events(client, session), text)

    await _until(is_said)


async def _until(what: Callable[[], Awaitable[bool]], seconds: float = 40) -> None:
    async with asyncio.timeout(seconds):
        while not await what():  # noqa: ASYNC110 - there is no event for this
            await asyncio.sleep(0.1)
