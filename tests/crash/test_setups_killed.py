"""What a session was given is there again after `kill -9` of its server: in the requests that the
model gets, whatever the settings say by then."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from airboss.model.tool_table import EXTENSIONS_MANAGE, EXTENSIONS_RELOAD, OURS
from tests.crash.witness import show
from tests.pauses import pauses
from tests.portal import Portal, Process
from tests.runtime.copilot_service import Stage, on_stage

OURS_IN_TASKS = {*OURS} - {EXTENSIONS_MANAGE, EXTENSIONS_RELOAD}

pytestmark = pytest.mark.timeout(120)

PROVIDER = """
[[providers]]
name = "house"
base_url = "{address}/v1"
models = ["stand-in"]
"""
SESSION = """
[session]
instructions = "off"
tools = {{allow = ["@read", "bash"]}}
system_message = {{append = "Say please."}}
{provider}"""
HOOK = """#!/bin/sh
echo '{"additionalContext": "Mind the owl."}'
"""
OWL = "---\nname: owl\ndescription: All about owls\n---\nThe owl has three eyes.\n"
TRICKS = str(Path(__file__).parents[1] / "servers" / "tricks.py")
REPLACED = {"replace": "Only this."}
KEYS: dict[str, Any] = {
    "reasoningEffort": "high",
    "systemMessage": {"sections": {"tone": {"replace": "Be terse."}}},
    "tools": {
        "allow": ["view", "edit", "skill", "files/meta"],
        "search": "off",
        "github": True,
    },
    "directories": ["../beside"],
    "context": {"infinite": True, "compactAt": 0.5, "blockAt": 0.9},
    "mcpServers": {"files": {"command": [sys.executable, TRICKS, "serve"]}},
    "commands": {"greet": {"description": "Greets.", "prompt": "say greeting"}},
    "agents": {"reviewer": {"description": "Finds mistakes.", "prompt": "You look for mistakes."}},
    "agent": "reviewer",
    "skills": ["../skills"],
    "hooks": {"userPromptSubmitted": [{"command": ["../hook.sh"]}]},
}
ENTRY: dict[str, Any] = {
    "models": {"driving": {"id": "house/stand-in", "reasoningEffort": "low"}},
    "promptVariables": {},
    "tasks": {"wait": {"prompt": ["wait a moment"], "requireUserInput": False}},
    "jobs": {
        "wait": {
            "work": {"kind": "Ref", "taskId": "wait", "modelOverride": {"category": "driving"}}
        }
    },
    "grid": [],
    "systemMessage": {"append": ["Use tabs."]},
    "tools": {"deny": ["bash"]},
}


class BarePortal(Portal):
    """A server without `--rehearsal`."""

    def launch(self, words: list[str], log: Path) -> Process:
        place = words.index("--rehearsal")
        return super().launch([*words[:place], *words[place + 2 :]], log)


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    async with on_stage(Stage()) as stage:
        yield stage


@pytest.fixture
async def portal(stage: Stage, tmp_path: Path) -> AsyncGenerator[Portal]:
    entry = tmp_path / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    (tmp_path / "beside").mkdir()
    (tmp_path / "skills" / "owl").mkdir(parents=True)
    (tmp_path / "skills" / "owl" / "SKILL.md").write_text(OWL, "utf-8")
    (tmp_path / "hook.sh").write_text(HOOK, "utf-8")
    (tmp_path / "hook.sh").chmod(0o755)
    options = ("--root", str(tmp_path), "--entry", str(entry))
    portal = BarePortal(tmp_path, options)
    portal.data.mkdir()
    write_settings(portal, SESSION.format(provider=PROVIDER.format(address=stage.address)))
    await asyncio.to_thread(portal.start)
    yield portal
    await asyncio.to_thread(portal.stop)


def write_settings(portal: Portal, text: str) -> None:
    # On a busy machine a server starts more slowly than people want to wait.
    whole = f"mcp_wait_seconds = 60\n{text}"
    (portal.data / "settings.toml").write_text(whole, "utf-8")


def facts(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What can be seen of a setup in a request."""
    told = str(request["messages"])
    return {
        "effort": request.get("reasoning_effort"),
        "tools": {tool["function"]["name"] for tool in request["tools"]},
        "terse": "Be terse." in told,
        "tabs": "Use tabs." in told,
        "please": "Say please." in told,
        "beside": str(folder / "beside") in told,
        "is reviewer": "You look for mistakes." in told,
        "has skill": "All about owls" in str(request),
        "is hooked": "Mind the owl." in str(request),
    }


async def until(met: Any, seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        pause = pauses()
        while not await met():  # noqa: ASYNC110 - asked over HTTP
            await asyncio.sleep(next(pause))


async def has_turns(client: httpx2.AsyncClient, session: str, turns: int) -> bool:
    return (await show(client, session))["turns"] == turns


async def test_a_session_has_all_of_it_again_and_no_more_tools(
    portal: Portal, stage: Stage, tmp_path: Path
) -> None:
    async with portal.client() as client:
        asked = {"cwd": str(portal.work), "model": "house/stand-in", **KEYS}
        answer = await client.post("/api/v1/sessions", json=asked)
        assert answer.status_code == 201, answer.text
        session = answer.json()["id"]
        replaced = {"cwd": str(portal.work), "model": "house/stand-in", "systemMessage": REPLACED}
        other = (await client.post("/api/v1/sessions", json=replaced)).json()["id"]
        for asked_too in (other, session):
            words = {"text": "say hello"}
            await client.post(f"/api/v1/sessions/{asked_too}/prompts", json=words)
            await until(partial(has_turns, client, asked_too, 1))
        before = (await client.get(f"/api/v1/sessions/{session}/setup")).json()["setup"]
    first = facts(stage.requests[-1], tmp_path)
    assert first["tools"] == {"view", "edit", "skill", "files-meta", *OURS}
    assert (first["is reviewer"], first["has skill"], first["is hooked"]) == (True, True, True)
    assert (first["effort"], first["terse"], first["beside"]) == ("high", True, True)
    assert first["please"]
    assert (before["tools"]["github"], before["context"]["block_at"]) == (True, 0.9)
    await asyncio.sleep(1)  # the runtime writes its history a moment later
    await asyncio.to_thread(portal.kill)
    write_settings(portal, PROVIDER.format(address=stage.address))  # all tools, for new ones
    await asyncio.to_thread(portal.start)
    async with portal.client() as client:
        for resumed in (other, session):
            answer = await client.post(f"/api/v1/sessions/{resumed}/resume")
            assert answer.status_code == 200, answer.text
        await client.post(f"/api/v1/sessions/{other}/prompts", json={"text": "say hello"})
        await until(partial(has_turns, client, other, 2))
        message = stage.requests[-1]["messages"][0]
        assert str(message["content"]).startswith("Only this.")
        await client.post(f"/api/v1/sessions/{session}/commands", json={"name": "greet"})
        await until(partial(has_turns, client, session, 2))
        assert "say greeting" in str(stage.requests[-1]["messages"][-1])
        after = (await client.get(f"/api/v1/sessions/{session}/setup")).json()["setup"]
    assert facts(stage.requests[-1], tmp_path) == first
    assert after == before


async def test_the_task_of_a_run_has_what_its_entry_says_also_behind_a_kill(
    portal: Portal, stage: Stage, tmp_path: Path
) -> None:
    async with portal.client() as client:
        answer = await client.post("/api/v1/runs", json={"job": "wait", "cwd": str(portal.work)})
        assert answer.status_code in (201, 202), answer.text

        async def is_asked() -> bool:
            return bool(stage.requests)

        await until(is_asked)
    first = facts(stage.requests[-1], tmp_path)
    read = {"view", "glob", "grep"}
    assert first["tools"] == {*read, *OURS_IN_TASKS}
    assert (first["effort"], first["tabs"], first["terse"]) == ("low", True, False)
    await asyncio.sleep(1)
    stage.requests.clear()
    await asyncio.to_thread(portal.kill)
    await asyncio.to_thread(portal.start)
    await until(is_asked)
    assert facts(stage.requests[-1], tmp_path) == first
