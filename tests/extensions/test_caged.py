"""Extensions of a session in a cage: inside it, unless its user's own is named as the host's."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from airboss.cage_keys import CageKeys
from airboss.extension_settings import ExtensionSettings
from airboss.harness.setup import Said
from airboss.model.events import ToolEnded
from airboss.model.extension_events import ExtensionStarted
from airboss.model.inbox_events import ApprovalAsked
from airboss.runtime.cage.ability import ability
from airboss.session_keys import SessionKeys
from airboss.settings import Policy
from tests.extensions.hosted import Hosted, hosted_in
from tests.service.house import ME

strong = pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here")

LOOK = """
from pathlib import Path

from airboss.extension import tool

import beside


@tool
def {name}() -> str:
    "Says what it can see."
    outside = Path("{secret}").exists()
    written = Path("here.txt").write_text("x") == 1
    return f"sees outside: {{outside}}, writes: {{written}}, {{beside.WORD}}"
"""
LOOK_MJS = """
import {{ defineTool }} from "@github/copilot-sdk";
import {{ existsSync }} from "node:fs";
import {{ createRequire }} from "node:module";
const {{ joinSession }} = createRequire(import.meta.url)("@github/copilot-sdk/extension");
await joinSession({{
  tools: [defineTool("{name}", {{ description: "x", handler: async () =>
    `sees outside: ${{existsSync("{secret}")}}` }})],
}});
"""
WRITES_ONE = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "make"
    steps:
      - call:
          tool: extensions_manage
          arguments: {operation: scaffold, name: mine, location: user}
      - {say: "Done."}
"""
SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "look"
    steps:
      - {call: {tool: inside}}
      - {call: {tool: outside}}
      - {call: {tool: inside_js}}
      - {say: "Done."}
"""


CAGED = (Said(SessionKeys(cage=CageKeys(profile="default")), may_widen=True),)


def put(root: Path, name: str, text: str, file: str = "extension.py") -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / file).write_text(text, "utf-8")
    (folder / "beside.py").write_text("WORD = 'with its folder'\n", "utf-8")
    return folder


async def texts(hosted: Hosted, session: str) -> list[str]:
    return [one.text or str(one.error) for one in await hosted.said(session, ToolEnded)]


@strong
async def test_they_run_behind_its_walls_and_only_the_users_own_outside(tmp_path: Path) -> None:
    secret, script = tmp_path / "secret.txt", tmp_path / "script.yaml"
    secret.write_text("x", "utf-8")
    script.write_text(SCRIPT, "utf-8")
    settings: dict[str, Any] = {"rehearsal": script, "permissions": "ask"}
    on_host = ExtensionSettings(on_host=("b-outside",))
    async with hosted_in(tmp_path, extensions=on_host, **settings) as hosted:
        room = hosted.house.sessions.extensions
        assert room is not None
        user, js = room.shelf.user_folder, LOOK_MJS.format(name="inside_js", secret=secret)
        await hosted.trust(put(hosted.root, "a-in", LOOK.format(name="inside", secret=secret)))
        await hosted.trust(put(hosted.root, "c-js", js, "extension.mjs"))
        theirs = LOOK.format(name="outside", secret=secret)
        await hosted.trust(put(user, "b-outside", theirs))
        sessions = hosted.house.sessions
        view = await sessions.start("rehearsal", str(hosted.work), ME, "caged", said=CAGED)
        states = {
            name: (one.state, one.reason) for name, one in (await hosted.shown(view.id)).items()
        }
        assert states == dict.fromkeys(("a-in", "c-js", "b-outside"), ("running", ""))
        await sessions.prompt(view.id, "look", ME)
        await hosted.house.until(view.id, "idle", turns=1, seconds=60)
        inside, outside, inside_js = await texts(hosted, view.id)
        assert inside == "sees outside: False, writes: True, with its folder"
        assert outside.startswith("sees outside: True")
        assert inside_js == "sees outside: false"
        assert len(await hosted.said(view.id, ExtensionStarted)) == 3
        assert hosted.host(view.id).is_in_cage
        async with asyncio.timeout(20):
            await sessions.close(view.id, ME)


@strong
@pytest.mark.parametrize("policy", ["caged", "approve-all"])
async def test_an_agent_writes_one_outside_of_its_cage_only_where_a_person_allows_it(
    tmp_path: Path, policy: Policy
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(WRITES_ONE, "utf-8")
    settings: dict[str, Any] = {"rehearsal": script, "approval_seconds": 0.7}
    async with hosted_in(tmp_path, **settings) as hosted:
        room = hosted.house.sessions.extensions
        assert room is not None
        sessions, work = hosted.house.sessions, str(hosted.work)
        view = await sessions.start("rehearsal", work, ME, policy, said=CAGED)
        await sessions.prompt(view.id, "make", ME)
        await hosted.house.until(view.id, "idle", turns=1, seconds=60)
        [asked] = await hosted.said(view.id, ApprovalAsked)
        assert asked.subject.path == str(room.shelf.user_folder / "mine" / "extension.py")
        assert not room.shelf.user_folder.exists()
