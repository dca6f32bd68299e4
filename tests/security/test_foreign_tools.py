"""A tool that is neither the runtime's own nor ours runs only as policy and rules say, whatever its
MCP server hints about it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from airboss.model.events import PermissionDecided, ToolEnded
from airboss.model.inbox_events import INBOX, ApprovalAsked, InboxItem
from airboss.model.rules import Rule
from airboss.runtime import session as session_module
from airboss.runtime.options import options_of
from airboss.runtime.runtime_process import RuntimeProcess
from airboss.runtime.session_request import SessionRequest
from airboss.settings import Policy
from tests.runtime import mcp_server
from tests.service.house import ME, House, house_in
from tests.trials import sampled

pytestmark = pytest.mark.anyio

SCRIPT = """
rules:
  - when: "have a helper peek"
    steps: [{call: {tool: task, arguments: {<<: &helper HELPER, prompt: "peek"}}}, {say: "Done."}]
  - when: "have a helper poke"
    steps: [{call: {tool: task, arguments: {<<: *helper, prompt: "poke"}}}, {say: "Done."}]
  - when: "peek"
    steps: [{call: {tool: files-peek, arguments: {what: "it"}}}, {say: "Done."}]
  - when: "poke"
    steps: [{call: {tool: files-poke, arguments: {what: "it"}}}, {say: "Done."}]
  - when: "search"
    steps: [{call: {tool: semantic_code_search, arguments: {query: q, repo: a/b}}}, {say: "Done."}]
  - when: "fly"
    steps: [{call: {tool: files-fly, arguments: {what: "it"}}}, {say: "I cannot."}]
""".replace("HELPER", "{agent_type: general-purpose, name: h, description: h, mode: sync}")
PROMPTS = ("peek", "poke", "have a helper peek", "have a helper poke")


@dataclass
class Scene:
    """A server whose sessions have an MCP server, and what was called of that."""

    house: House
    notes: Path

    async def told(self, text: str) -> tuple[list[PermissionDecided], ToolEnded]:
        """What was decided in a new session, and how its first call ended."""
        session = (await self.house.start()).id
        await self.house.sessions.prompt(session, text, ME)
        await self.house.until(session, "idle", turns=1)
        story = await self.house.story(session)
        ended = next(event for event in story if isinstance(event, ToolEnded))
        return [event for event in story if isinstance(event, PermissionDecided)], ended

    def called(self) -> list[str]:
        return self.notes.read_text("utf-8").splitlines() if self.notes.exists() else []

    async def item(self, text: str) -> InboxItem:
        """What a person is asked in a new session."""
        session = (await self.house.start()).id
        await self.house.sessions.prompt(session, text, ME)
        async with asyncio.timeout(15), self.house.services.log.follow(INBOX, 0) as follower:
            while not (items := (await self.house.services.inbox.show()).items):
                await follower.next(1)
        return items[0]


@asynccontextmanager
async def scene(
    folder: Path, monkeypatch: pytest.MonkeyPatch, policy: Policy
) -> AsyncGenerator[Scene]:
    notes = folder / "notes"

    def with_a_server(asked: SessionRequest, process: RuntimeProcess) -> dict[str, Any]:
        servers = {"files": mcp_server.stdio(notes)}
        return {**options_of(asked, process), "mcp_servers": servers}

    monkeypatch.setattr(session_module, "options_of", with_a_server)
    (folder / "script.yaml").write_text(SCRIPT, "utf-8")
    script = folder / "script.yaml"
    async with house_in(folder, permissions=policy, rehearsal=script) as house:
        yield Scene(house, notes)


@pytest.mark.parametrize("policy", ["deny-all", "read-only"])
async def test_no_tool_of_a_server_runs_where_the_policy_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: Policy
) -> None:
    async with scene(tmp_path, monkeypatch, policy) as on:
        for text in (
            *PROMPTS,
            "search",
        ):  # the last is built in, and the runtime asks nobody for it
            [decided], ended = await on.told(text)
            assert (decided.wish, decided.allowed, decided.by) == ("mcp", False, f"policy {policy}")
            assert ended.error is not None, text
            assert decided.reason in ended.error.message
        assert on.called() == []


async def test_every_tool_of_a_server_is_decided_once_where_the_policy_allows_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch, "approve-all") as on:
        for text in PROMPTS:
            [decided], ended = await on.told(text)
            tool = text.split()[-1]
            assert (decided.wish, decided.about, decided.allowed) == ("mcp", f"files-{tool}", True)
            assert ended.error is None
            assert ended.text == f"{tool} was here"
        assert on.called() == ["peek it", "poke it"] * 2


@pytest.mark.parametrize("text", sampled(1, ["peek", "poke", "have a helper peek"]))
async def test_a_person_is_asked_once_and_sees_server_tool_and_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    async with scene(tmp_path, monkeypatch, "ask") as on:
        item, tool = await on.item(text), text.split()[-1]
        asked = item.asked
        assert isinstance(asked, ApprovalAsked)
        assert (asked.wish, asked.title) == ("mcp", f"Call files-{tool} of files?")
        assert '"what": "it"' in (asked.subject.arguments or "")
        assert asked.rule == Rule(verdict="allow", wish="mcp", tool=f"files/files-{tool}")
        assert on.called() == [], "it waits"
        await on.house.services.decisions.decide(item.id, "allow-always", "ada")
        await on.house.until(item.session, "idle", turns=1)
        assert on.called() == [f"{tool} it"]
        [decided], _ = await on.told(tool)
        assert (decided.allowed, decided.by.split()[0]) == (True, "rule"), "the rule fits the next"
        assert on.called() == [f"{tool} it"] * 2


async def test_a_rule_against_a_server_holds_for_tools_that_it_hints_to_be_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path, monkeypatch, "approve-all") as on:
        await on.house.services.rules.add(Rule(verdict="deny", tool="files/*"), ME)
        for text in PROMPTS:
            [decided], ended = await on.told(text)
            assert (decided.allowed, decided.by.split()[0]) == (False, "rule")
            assert ended.error is not None
        assert on.called() == []


@pytest.mark.parametrize("policy", ["ask", "deny-all", "approve-all"])
async def test_nobody_is_asked_for_a_tool_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: Policy
) -> None:
    async with scene(tmp_path, monkeypatch, policy) as on:
        decided, ended = await on.told("fly")
        assert decided == []
        assert ended.error is not None
        assert "Tool 'files-fly' does not exist." in ended.error.message
        assert "files-peek" in ended.error.message, "the model is told what there is"
