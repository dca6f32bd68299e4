"""An agent that works above the data folder does not read what is in it unless a person says so."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from airboss.errors import WorkingDirectoryNotAllowed
from airboss.model.events import PermissionDecided
from airboss.service.folders import secret_places
from airboss.settings import Policy, Settings
from tests.service.house import ME, House, house_in

pytestmark = pytest.mark.anyio

SECRET = "the-secret-of-this-server-4711"
# Each of these would show the secret, or where it lies.
LOOKS = {
    "the file": '{tool: view, arguments: {path: "{cwd}/data/kept"}}',
    "the folder": '{tool: view, arguments: {path: "{cwd}/data"}}',
    "the folder above": '{tool: view, arguments: {path: "{cwd}"}}',
    "a link to it": '{tool: view, arguments: {path: "{cwd}/work/way/kept"}}',
    "the system's way": '{tool: view, arguments: {path: "/proc/self/root{cwd}/data/kept"}}',
    "a search in it": '{tool: grep, arguments: {pattern: secret, path: "{cwd}/data"}}',
    "a search from above": "{tool: grep, arguments: {pattern: secret, output_mode: content}}",
    "names from above": '{tool: glob, arguments: {pattern: "**/kep*"}}',
    "a file that settings name": '{tool: view, arguments: {path: "{cwd}/tls.key"}}',
    "a command": '{tool: bash, arguments: {command: "cat {cwd}/data/kept", description: d}}',
}
SCRIPT = "rules:\n" + "".join(
    f'  - when: "^{name}$"\n    steps: [{{call: {call}}}, {{say: "Done."}}]\n'
    for name, call in {
        **LOOKS,
        "a file of mine": '{tool: view, arguments: {path: "{cwd}/work/notes.txt"}}',
    }.items()
)


@asynccontextmanager
async def above(folder: Path, policy: Policy) -> AsyncGenerator[House]:
    """A server whose agents may work in the folder that its data folder lies in."""
    (folder / "script.yaml").write_text(SCRIPT, "utf-8")
    for file in ("tls.key", "tls.pem", "work/notes.txt", "data/kept"):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(f"{SECRET}\n", "utf-8")
    (folder / "work/notes.txt").write_text("my notes\n", "utf-8")
    (folder / "work/way").symlink_to(folder / "data")
    tls = {"tls_certificate": folder / "tls.pem", "tls_key": folder / "tls.key"}
    script, roots = folder / "script.yaml", (folder,)
    async with house_in(
        folder, permissions=policy, rehearsal=script, roots=roots, approval_seconds=0.3, **tls
    ) as house:
        yield house


@pytest.mark.parametrize("policy", ["read-only", "ask"])
async def test_nothing_of_it_reaches_an_agent_by_itself(tmp_path: Path, policy: Policy) -> None:
    async with above(tmp_path, policy) as house:
        session = (await house.sessions.start("rehearsal", str(tmp_path), ME)).id
        for turn, name in enumerate((*LOOKS, "a file of mine"), 1):
            await house.sessions.prompt(session, name, ME)
            await house.until(session, "idle", turns=turn)
        story = await house.story(session)
        decided = [event for event in story if isinstance(event, PermissionDecided)]
        *looks, mine = decided
        who = {"read-only": "policy read-only", "ask": "nobody"}[policy]
        assert [(one.allowed, one.by) for one in looks] == [(False, who)] * len(LOOKS)
        assert (mine.allowed, mine.by) == (True, f"policy {policy}")
        assert SECRET not in str(story)
        assert "my notes" in str(story)


async def test_no_session_works_in_such_a_place(tmp_path: Path) -> None:
    async with above(tmp_path, "ask") as house:
        for folder in ("data", "data/copilot-home", "work/way", "work/../data"):
            with pytest.raises(WorkingDirectoryNotAllowed, match="contains secrets"):
                await house.sessions.start("rehearsal", str(tmp_path / folder), ME)
        assert await house.sessions.start("rehearsal", str(tmp_path / "work"), ME)


def test_the_places_are_those_of_the_server_of_its_settings_and_of_the_signed_in_user(
    tmp_path: Path,
) -> None:
    settings = Settings(
        data=tmp_path / "data",
        tls_key=tmp_path / "tls.key",
        webhook_secret_file=tmp_path / "webhook",
    )
    environ = {"AIRBOSS_DATA": str(tmp_path / "usual"), "COPILOT_HOME": str(tmp_path / "copilot")}
    home = tmp_path / "home"
    assert set(secret_places(settings, environ, home).places) == {
        tmp_path / "data",
        tmp_path / "usual",
        tmp_path / "tls.key",
        tmp_path / "webhook",
        home / ".copilot",
        tmp_path / "copilot",
        home / ".config" / "github-copilot",
        home / ".config" / "gh",
        Path("/proc"),
    }
    moved = {**environ, "GH_CONFIG_DIR": str(tmp_path / "gh"), "XDG_CONFIG_HOME": str(tmp_path)}
    places = secret_places(settings, moved, home).places
    assert {tmp_path / "gh", tmp_path / "github-copilot"} <= set(places)
