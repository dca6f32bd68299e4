"""Programs that a caged session brings, on the real runtime: hooks and MCP servers, in its cage, or
outside of it where the settings say so."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from airboss.model.cage_events import EgressRefused
from airboss.model.events import ToolEnded
from airboss.model.hook_events import HookRan
from airboss.runtime.cage.ability import ability
from tests.runtime.conftest import running, soon
from tests.service import test_mcp_servers
from tests.service.house import ME
from tests.service.test_mcp_servers import PATIENT, SECRET, TRICKS, calling
from tests.service.test_session_setup import Watched, watched_in

pytestmark = pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here")

INSIDE = """#!/bin/sh
cat > told; id -un > who; cat "$1" > leaked 2>/dev/null; echo "{\\"additionalContext\\": \\"x\\"}"
"""
OUTSIDE = """#!/bin/sh
cat > /dev/null; id -u > "$1"
"""
PYTHON = """
import getpass
def check(given):
    if "secret" in given["toolArgs"].get("path", ""):
        return {"permissionDecision": "deny", "permissionDecisionReason": getpass.getuser()}
"""


def script(folder: Path, name: str, text: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    (folder / name).chmod(0o755)
    return str(folder / name)


@asynccontextmanager
async def caged(tmp_path: Path, **session: Any) -> AsyncGenerator[Watched]:
    settings: dict[str, Any] = {"permissions": "caged", "mcp_wait_seconds": PATIENT}
    async with watched_in(tmp_path, session=session, **settings) as watched:
        yield watched


async def test_hooks_run_in_the_cage_and_outside_only_where_the_settings_say_so(
    tmp_path: Path,
) -> None:
    hooks, secret = tmp_path / "hooks", tmp_path / "secret"
    secret.write_text("canary", "utf-8")
    inside = {"command": [script(hooks, "inside.sh", INSIDE), str(secret)], "seconds": 20}
    outside = {"command": [script(hooks, "out.sh", OUTSIDE), str(tmp_path / "ran")]}
    python = {"python": f"{script(hooks, 'check.py', PYTHON)}:check", "seconds": 20}
    said: dict[str, Any] = {
        "userPromptSubmitted": [inside],
        "preToolUse": [python, {**outside, "seconds": 20, "on_host": True}],
    }
    async with caged(tmp_path, hooks=said) as watched:
        work = watched.house.work
        (work / "a.txt").write_text("alpha", "utf-8")
        session = await watched.opened()
        await watched.asked(session, f"call view {json.dumps({'path': str(work / 'a.txt')})}")
        await watched.asked(session, f"call view {json.dumps({'path': str(work / 'secret')})}")
        story = await watched.house.story(session)
        ran = [(one.hook, one.decided, one.error) for one in story if isinstance(one, HookRan)]
        assert ran == [
            ("userPromptSubmitted", "changed", None),
            ("preToolUse", "nothing", None),
            ("preToolUse", "nothing", None),
            ("userPromptSubmitted", "changed", None),
            ("preToolUse", "blocked", None),
        ]
        first, second = [one for one in story if isinstance(one, ToolEnded)]
        assert "alpha" in first.text
        assert "agent" in str(second.error), "the user of the cage"
        assert json.loads((work / "told").read_text("utf-8"))["hook"] == "userPromptSubmitted"
        assert (work / "who").read_text("utf-8") == "agent\n"
        assert (work / "leaked").read_text("utf-8") == ""
        assert (tmp_path / "ran").read_text("utf-8").strip().isdecimal()


address = test_mcp_servers.address


async def approved(watched: Watched, session: str, text: str) -> ToolEnded:
    """A call that a person is asked about, and allows."""
    house = watched.house
    turns = (await house.sessions.show(session)).turns
    await house.sessions.prompt(session, text, ME)
    async with asyncio.timeout(60), house.sessions.follow(session, 0) as follower:
        while not (items := (await house.sessions.show(session)).items):
            await follower.next(1)
    [item] = items
    await house.services.decisions.decide(item.id, "allow-once", ME)
    await house.until(session, "idle", turns=turns + 1, seconds=60)
    return [one for one in await house.story(session) if isinstance(one, ToolEnded)][-1]


def files_with(folder: Path, *words: str) -> list[Path]:
    found = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in found if any(word.encode() in path.read_bytes() for word in words)]


async def test_a_server_on_the_host_is_asked_for_and_nothing_of_it_is_in_the_cage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("WIKI_SECRET", SECRET)
    # With a word of its own: others run the same server at the same time.
    program = [sys.executable, str(TRICKS), "serve", str(tmp_path)]
    servers = {
        "files": {"command": program, "env": {"KEY": "$WIKI_SECRET"}, "on_host": True},
        "wiki": {"url": address, "token_variable": "WIKI_SECRET", "on_host": True},
        "gone": {"command": [sys.executable, str(TRICKS), "die"], "on_host": True},
    }
    async with caged(tmp_path, mcp_servers=servers) as watched:
        session = await watched.opened(mcpServers={name: {} for name in servers})
        said = await approved(watched, session, calling("files-variable", name="HOME"))
        assert os.environ["HOME"] in said.text
        said = await approved(watched, session, calling("wiki-variable", name="HOME"))
        assert os.environ["HOME"] in said.text
        view = await watched.house.sessions.show(session)
        states = {one.name: (one.state, one.error) for one in view.mcp_servers}
        assert states["files"][0] == states["wiki"][0] == "connected"
        assert "out of coffee" in str(states["gone"])
        proxy: Any = watched.house.sessions.proxy
        assert files_with(tmp_path / "data/cages", SECRET, *proxy._lent) == []
        calls = json.dumps({"method": "tools/call", "id": 1, "params": {"name": "crashes"}})
        known = [f"http://127.0.0.1:17103/{nonce}/mcp" for nonce in proxy._lent]
        tries = "; ".join(f"curl -s -m5 {one} -d '{calls}'" for one in known)
        await watched.asked(session, f"shell {tries}")
        ends = [one for one in await watched.house.story(session) if isinstance(one, ToolEnded)]
        assert ends[-1].text.count("Nobody allowed this call.") == len(servers)
        knock = "curl -s -m5 http://127.0.0.1:17103/; curl -s -m5 http://127.0.0.1:17103/x/mcp"
        await watched.asked(session, f"shell {knock}; env; cat /proc/*/environ")
        shell = [one for one in await watched.house.story(session) if isinstance(one, ToolEnded)][
            -1
        ]
        assert shell.text.count("There is nothing here") == 2
        assert SECRET not in shell.text
        assert running(f"{TRICKS} serve {tmp_path}")
        await watched.house.sessions.close(session, ME)
        assert await soon(lambda: not running(f"{TRICKS} serve {tmp_path}"))


async def test_a_server_at_an_allowed_host_is_called_by_the_way_out(
    tmp_path: Path,
) -> None:
    async with caged(tmp_path, cage={"hosts": ["mcp.example.invalid"]}) as watched:
        docs = {"docs": {"url": "https://mcp.example.invalid/mcp"}}
        session = await watched.opened(mcpServers=docs)
        await watched.asked(session)
        story = await watched.house.story(session)
        refused = [one for one in story if isinstance(one, EgressRefused)]
        assert {one.host for one in refused} == {"mcp.example.invalid"}, story


async def test_hooks_of_an_entry_run_in_the_cage_of_its_task(
    tmp_path: Path,
) -> None:
    async with caged(tmp_path) as watched:
        work = watched.entry.parent
        noting = (
            "import getpass\ndef note(given):\n    open('noted', 'a').write(getpass.getuser())\n"
        )
        (work / "hooks.py").write_text(noting, "utf-8")
        hooks = {"agentStop": [{"python": "hooks.py:note", "seconds": 20}]}
        await watched.run(trusted=True, hooks=hooks, permissions="caged")
        assert (work / "noted").read_text("utf-8") == "agent"


async def test_a_hook_that_an_agent_made_a_link_brings_no_file_into_the_cage(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary", "utf-8")
    own = tmp_path / "work" / "hook.sh"
    hooks = {"userPromptSubmitted": [{"command": [str(own)]}]}
    async with caged(tmp_path, hooks=hooks) as watched:
        script(watched.house.work, own.name, INSIDE)
        session = await watched.opened()
        await watched.asked(session, f"shell ln -sf {secret} hook.sh")
        await watched.asked(session, "shell cat /run/programs/*/*")
        story = await watched.house.story(session)
        assert "canary" not in str([one for one in story if isinstance(one, ToolEnded)])
        first, *_, last = [one for one in story if isinstance(one, HookRan)]
        assert first.decided == "changed"
        assert "cannot be run" in str(last.error)
