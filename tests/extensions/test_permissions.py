"""What an extension's yes counts for, and what it does not: it is the last rule, and widens `ask`
only."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator

import pytest

from airboss.extensions.launch import OUR_SDK, SDK, sdk_package
from airboss.model.events import PermissionDecided
from airboss.model.extension_events import ExtensionHooked
from airboss.model.inbox_events import ApprovalAsked
from airboss.model.rules import Rule
from tests.extensions.hosted import Hosted, hosted_in, results_in, until
from tests.service.house import ME

ALLOWS = """
@hook.pre_tool_use
def allow(use):
    return Allow("I know it.") if "fine" in str(use.arguments) else None
@tool
def own_tool(word: str) -> str:
    "Says it back."
    return f"own {word}"
"""


def shell(words: str) -> str:
    return f"call bash {json.dumps({'command': f'echo {words}', 'description': 'x'})}"


@pytest.fixture(scope="module")
async def shared(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[Hosted]:
    folder = tmp_path_factory.mktemp("asking")
    async with hosted_in(folder, permissions="ask", approval_seconds=0.7) as hosted:
        yield hosted


async def test_an_allow_answers_what_the_policy_would_ask_and_is_written_down(
    hosted: Hosted,
) -> None:
    await hosted.add("sure", ALLOWS)
    session = await hosted.open()
    request = await hosted.ask(session, shell("fine"))
    assert "fine" in results_in(request)[-1]
    decided = await hosted.said(session, PermissionDecided)
    assert {(one.allowed, one.by) for one in decided} == {(True, "extension sure")}
    assert await hosted.said(session, ApprovalAsked) == []


async def test_without_it_a_person_is_asked_also_about_the_extensions_own_tool(
    hosted: Hosted,
) -> None:
    await hosted.add("sure", ALLOWS)
    session = await hosted.open()
    await hosted.ask(session, 'call own_tool {"word": "x"}')
    [asked] = await hosted.said(session, ApprovalAsked)
    assert (asked.wish, asked.tool) == ("custom-tool", "own_tool")
    [decided] = await hosted.said(session, PermissionDecided)
    assert (decided.allowed, decided.by) == (False, "nobody")
    # What was allowed before is another call.
    await hosted.ask(session, shell("fine"))
    await hosted.ask(session, shell("other"))
    assert len(await hosted.said(session, ApprovalAsked)) == 2


@pytest.mark.parametrize("verdict", ["deny", "ask"])
async def test_no_rule_is_widened(hosted: Hosted, verdict: str) -> None:
    await hosted.add("sure", ALLOWS)
    session = await hosted.open()
    rules = hosted.house.services.rules
    rule = Rule.model_validate(
        {"verdict": verdict, "wish": "shell", "command": "echo *", "folder": str(hosted.work)}
    )
    kept = await rules.add(rule, ME)
    try:
        await hosted.ask(session, shell("fine"))
        decided = await hosted.said(session, PermissionDecided)
    finally:
        await rules.remove(kept.id, ME)
    assert [one.allowed for one in decided] == [False]
    assert not decided[0].by.startswith("extension")


@pytest.mark.parametrize("policy", ["read-only", "deny-all"])
async def test_no_narrower_policy_is_widened(hosted: Hosted, policy: str) -> None:
    await hosted.add("sure", ALLOWS)
    session = await hosted.open(policy=policy)
    await hosted.ask(session, shell("fine"))
    decided = await hosted.said(session, PermissionDecided)
    assert {(one.allowed, one.by) for one in decided} == {(False, f"policy {policy}")}


async def test_anothers_no_or_ask_is_not_widened(hosted: Hosted) -> None:
    await hosted.add("a-sure", ALLOWS)
    await hosted.add(
        "b-careful",
        """
        @hook.pre_tool_use(tools=["bash"])
        def careful(use):
            return Deny("Not today.") if "no" in use.arguments["command"] else Ask("Really?")
        """,
    )
    session = await hosted.open()
    request = await hosted.ask(session, shell("fine no"))
    assert "Not today." in results_in(request)[-1]
    await hosted.ask(session, shell("fine"))
    [asked] = await hosted.said(session, ApprovalAsked)
    assert "Really?" in asked.description
    assert all(not one.allowed for one in await hosted.said(session, PermissionDecided))


@pytest.mark.parametrize("name", ["seed-hooks-py", "seed-hooks"])
async def test_a_decision_of_either_language_counts(hosted: Hosted, name: str) -> None:
    await hosted.bring(name)
    session = await hosted.open()
    assert "allow-this" in results_in(await hosted.ask(session, shell("allow-this")))[-1]
    [allowed] = await hosted.said(session, PermissionDecided)
    assert (allowed.allowed, allowed.by) == (True, f"extension {name}")
    await hosted.ask(session, shell("ask-about-this"))
    [asked] = await hosted.said(session, ApprovalAsked)
    assert "The extension asks." in asked.description
    hooked = {one.outcome: one.text for one in await hosted.said(session, ExtensionHooked)}
    assert hooked["allowed"] == "The extension allows it."
    assert hooked["asked"] == "The extension asks."


async def test_the_sdks_permission_handler_is_never_asked(hosted: Hosted) -> None:
    await hosted.add(
        "eager",
        """
        import { joinSession } from "@github/copilot-sdk/extension";
        import { appendFileSync } from "node:fs";
        const note = (name) => appendFileSync(`${process.env.NOTES}/${name}`, "x\\n");
        const session = await joinSession({
          onPermissionRequest: async () => {
            note("permission-asked");
            return { kind: "approved" };
          },
        });
        session.on("permission.requested", () => note("permission-seen"));
        """,
        "extension.mjs",
    )
    session = await hosted.open()
    await hosted.ask(session, shell("x"))
    await until(lambda: hosted.noted("permission-seen"))
    await asyncio.sleep(0.3)
    assert hosted.noted("permission-asked") == []
    assert [one.by for one in await hosted.said(session, PermissionDecided)] == ["nobody"]


IMPORTED = """
        import { joinSession } from "@github/copilot-sdk/extension";
        import * as rest from "@github/copilot-sdk";
"""
REQUIRED = """
        import { createRequire } from "node:module";
        const require = createRequire(import.meta.url);
        const { joinSession } = require("@github/copilot-sdk/extension");
        const rest = require("@github/copilot-sdk");
"""


@pytest.mark.parametrize("lines", [IMPORTED, REQUIRED], ids=["imports", "requires"])
async def test_a_guard_in_javascript_that_throws_refuses_and_says_so(
    hosted: Hosted, lines: str
) -> None:
    await hosted.add(
        "throws",
        lines
        + """
        await joinSession({
          hooks: {
            onPreToolUse({ toolArgs, cwd }) {
              if (this.onPreToolUse === undefined || rest.CopilotClient === undefined) return;
              if (toolArgs.command.includes("boom")) throw new Error(`no idea in ${cwd}`);
            },
            onUserPromptSubmitted: async () => { throw new Error("not a word"); },
          },
        });
        """,
        "extension.mjs",
    )
    session = await hosted.open()
    asked = {"command": "echo boom", "description": "x"}
    result = results_in(await hosted.ask(session, f"call bash {json.dumps(asked)}"))[-1]
    assert f"The extension throws refuses it: its hook failed: no idea in {hosted.work}" in result
    log = hosted.extension(session, "throws").log
    assert "not a word" in log


def test_all_that_the_sdk_offers_can_be_imported() -> None:
    for name in ("extension.js", "index.js"):
        real = (sdk_package(None) / SDK / name).read_text("utf-8")
        offered = set(re.findall(r"\w+", real.rpartition("export {")[2].partition("}")[0]))
        ours = set(re.findall(r"\w+", (OUR_SDK / name).read_text("utf-8")))
        assert "Canvas" in offered
        assert offered <= ours
