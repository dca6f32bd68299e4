"""The agent's own tools: to scaffold, edit, reload, have it trusted and use it, all in one turn."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.extension_settings import ExtensionSettings
from airboss.extensions.content import read
from airboss.extensions.differences import MOST_SHOWN
from airboss.model.events import MessageEnded, PermissionDecided, ToolEnded
from airboss.model.extension_events import ExtensionStarted
from airboss.model.inbox_events import ApprovalAsked
from tests.extensions.hosted import GOOD, KIT, Hosted, hosted_in, results_in, tools_in
from tests.service.house import ME

NEW = GOOD.replace("good", "brand_new")
SCRIPT: dict[str, Any] = {
    "models": [{"id": "rehearsal", "name": "Rehearsal", "multiplier": 0}],
    "rules": [
        {
            "when": "make one",
            "steps": [
                {
                    "call": {
                        "tool": "extensions_manage",
                        "arguments": {"operation": "scaffold", "name": "fresh"},
                    }
                },
                {
                    "call": {
                        "tool": "bash",
                        "arguments": {
                            "command": "cp NEW .github/extensions/fresh/extension.py",
                            "description": "edit",
                        },
                    }
                },
                {"call": {"tool": "extensions_reload", "arguments": {}}},
                {"call": {"tool": "brand_new", "arguments": {"word": "tool"}}},
                {"say": "It works."},
            ],
        }
    ],
}


async def test_the_words_of_the_tools_are_few_for_each_session_pays_for_them(
    tmp_path: Path,
) -> None:
    async with hosted_in(tmp_path) as hosted:
        offers = hosted.host(await hosted.open()).own.offers
        assert len(offers) == 2
        assert sum(len(offer.description + json.dumps(offer.parameters)) for offer in offers) < 700


async def test_one_turn_scaffolds_edits_reloads_is_trusted_and_calls_the_new_tool(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(json.dumps(SCRIPT), "utf-8")
    async with hosted_in(tmp_path, rehearsal=script) as hosted:
        (hosted.work / "NEW").write_text(KIT + NEW, "utf-8")
        sessions = hosted.house.sessions
        session = (await sessions.start("rehearsal", str(hosted.work), ME)).id
        await sessions.prompt(session, "make one", ME)
        item = await hosted.asked_in_inbox(session)
        asked = item.asked
        assert isinstance(asked, ApprovalAsked)
        assert (asked.wish, asked.choices) == ("extension", ("allow-once", "deny"))
        assert "brand_new" in (asked.subject.diff or "")
        # Not a byte of it ran before, under a policy that allows everything.
        assert hosted.host(session).extensions == []
        with pytest.raises(Invalid):
            await hosted.house.services.decisions.decide(item.id, "allow-always", ME)
        await hosted.house.services.decisions.decide(item.id, "allow-once", ME)
        await hosted.house.until(session, "idle", turns=1)
        ends = await hosted.said(session, ToolEnded)
        assert [one.error for one in ends] == [None] * 4
        assert ends[-1].text == "good tool".replace("good", "brand_new")
        assert [one.text for one in await hosted.said(session, MessageEnded)][-1] == "It works."
        decided = await hosted.said(session, PermissionDecided)
        assert {one.wish for one in decided} == {"write", "shell", "custom-tool"}


async def test_what_was_swapped_between_look_and_start_does_not_run(hosted: Hosted) -> None:
    folder = hosted.write("swapped", "note('ran', 'first')\n" + GOOD)
    session = await hosted.open()
    assert (await hosted.shown(session))["swapped"].state == "untrusted"
    asking = asyncio.create_task(hosted.ask(session, "call extensions_reload {}"))
    item = await hosted.asked_in_inbox(session)
    (folder / "extension.py").write_text("note('ran', 'second')", "utf-8")
    await hosted.house.services.decisions.decide(item.id, "allow-once", ME)
    result = results_in(await asking)[-1]
    assert "has changed since you reviewed it" in result
    assert hosted.noted("ran") == []
    assert await hosted.said(session, ExtensionStarted) == []


async def test_a_second_one_is_shown_as_it_is_when_it_is_asked_about(hosted: Hosted) -> None:
    hosted.write("first", "note('ran', 'first')\n" + GOOD)
    second = hosted.write("second", "note('twice', 'harmless')\n")
    session = await hosted.open()
    decide = hosted.house.services.decisions.decide
    asking = asyncio.create_task(hosted.ask(session, "call extensions_reload {}"))
    item = await hosted.asked_in_inbox(session)
    (second / "extension.py").write_text(KIT + "note('twice', 'other')\n", "utf-8")
    await decide(item.id, "deny", ME)
    item = await hosted.asked_in_inbox(session)
    asked = item.asked
    assert isinstance(asked, ApprovalAsked)
    # Whoever reads one text must not trust another.
    assert "note('twice', 'other')" in (asked.subject.diff or "")
    assert read(second).digest in (asked.subject.arguments or "")
    await decide(item.id, "allow-once", ME)
    await asking
    assert hosted.noted("twice")[-1] == "other"


async def test_nobody_is_asked_about_what_cannot_be_shown_whole(hosted: Hosted) -> None:
    folder = hosted.write("endless", "note('endless')\n" + GOOD)
    (folder / "a.txt").write_text("a\n" * MOST_SHOWN, "utf-8")
    session = await hosted.open()
    result = results_in(await hosted.ask(session, "call extensions_reload {}"))[-1]
    assert "a person cannot be shown all of it: a.txt is too long" in result
    assert f"airboss trust {folder}" in result
    assert await hosted.said(session, ApprovalAsked) == []
    (folder / "a.txt").unlink()
    asking = asyncio.create_task(hosted.ask(session, "call extensions_reload {}"))
    item = await hosted.asked_in_inbox(session)
    await hosted.house.services.decisions.decide(item.id, "deny", ME)
    await asking


async def test_a_no_is_a_no_and_is_not_asked_twice_about_the_same(hosted: Hosted) -> None:
    hosted.write("unwanted", "note('ran')\n" + GOOD)
    session = await hosted.open()
    asking = asyncio.create_task(hosted.ask(session, "call extensions_reload {}"))
    item = await hosted.asked_in_inbox(session)
    await hosted.house.services.decisions.decide(item.id, "deny", ME)
    assert "nobody trusts what is there now" in results_in(await asking)[-1]
    result = results_in(await hosted.ask(session, "call extensions_reload {}"))[-1]
    assert result.startswith("unwanted (project, python): untrusted")
    assert len(await hosted.said(session, ApprovalAsked)) == 1
    assert hosted.noted("ran") == []


async def test_it_lists_inspects_and_tells_how_to_write_one(hosted: Hosted) -> None:
    await hosted.add("helper", GOOD)
    await hosted.bring("hostile/crashes-at-import")
    session = await hosted.open()
    result = results_in(await hosted.ask(session, 'call extensions_manage {"operation": "list"}'))
    assert "helper (project, python): running; tools: good" in result[-1]
    asked = {"operation": "inspect", "name": "crashes-at-import"}
    request = await hosted.ask(session, f"call extensions_manage {json.dumps(asked)}")
    assert "KeyError" in results_in(request)[-1]
    request = await hosted.ask(session, 'call extensions_manage {"operation": "guide"}')
    assert "from airboss.extension import" in results_in(request)[-1]


async def test_one_for_all_repositories_of_the_user_works_as_it_is_written(hosted: Hosted) -> None:
    session = await hosted.open()
    asked = {"operation": "scaffold", "name": "mine", "location": "user", "language": "javascript"}
    request = await hosted.ask(session, f"call extensions_manage {json.dumps(asked)}")
    folder = hosted.host(session).room.shelf.user_folder / "mine"
    try:
        assert f"Wrote {folder / 'extension.mjs'}" in results_in(request)[-1]
        asking = asyncio.create_task(hosted.ask(session, "call extensions_reload {}"))
        item = await hosted.asked_in_inbox(session)
        await hosted.house.services.decisions.decide(item.id, "allow-once", ME)
        assert "mine (user, javascript): running; tools: mine_hello" in results_in(await asking)[-1]
        request = await hosted.ask(session, 'call mine_hello {"name": "you"}')
        assert results_in(request)[-1] == "Hello, you!"
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)


async def test_to_scaffold_is_a_wish_to_write(shared: Hosted, hosted: Hosted) -> None:
    session = await hosted.open(policy="read-only")
    asked = {"operation": "scaffold", "name": "new-one"}
    request = await hosted.ask(session, f"call extensions_manage {json.dumps(asked)}")
    assert "allows reading" in results_in(request)[-1]
    [decided] = await hosted.said(session, PermissionDecided)
    assert (decided.wish, decided.allowed) == ("write", False)
    assert not hosted.root.exists()


async def test_none_is_written_where_a_link_leads_out_of_the_project(
    hosted: Hosted, tmp_path: Path
) -> None:
    (hosted.work / ".github").symlink_to(tmp_path)
    session = await hosted.open()
    asked = {"operation": "scaffold", "name": "outside"}
    request = await hosted.ask(session, f"call extensions_manage {json.dumps(asked)}")
    assert "leads out of the project" in results_in(request)[-1]
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


async def test_none_is_written_where_a_link_leads_that_came_while_a_person_was_asked(
    hosted: Hosted, tmp_path: Path
) -> None:
    session = await hosted.open(policy="ask")
    wish = {"operation": "scaffold", "name": "outside"}
    asking = asyncio.create_task(hosted.ask(session, f"call extensions_manage {json.dumps(wish)}"))
    item = await hosted.asked_in_inbox(session)
    (hosted.work / ".github").symlink_to(tmp_path)
    await hosted.house.services.decisions.decide(item.id, "allow-once", ME)
    assert "could not be written" in results_in(await asking)[-1]
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


async def test_a_link_inside_of_the_project_is_followed(hosted: Hosted) -> None:
    (hosted.work / "shared").mkdir()
    (hosted.work / ".github").symlink_to("shared")
    session = await hosted.open()
    wish = {"operation": "scaffold", "name": "linked"}
    await hosted.ask(session, f"call extensions_manage {json.dumps(wish)}")
    assert (hosted.work / "shared/extensions/linked/extension.py").is_file()


async def test_tasks_have_extensions_and_not_the_tools_to_make_them(
    tmp_path: Path,
) -> None:
    async with hosted_in(tmp_path) as hosted:
        await hosted.add("helper", GOOD)
        request = await hosted.watched.run()
        assert "good" in tools_in(request)
        assert "extensions_reload" not in tools_in(request)
        session = await hosted.open()
        chat = await hosted.ask(session)
        assert {"extensions_manage", "extensions_reload"} <= set(tools_in(chat))
        # The settings say otherwise.
        shelf = hosted.host(session).room.shelf
        shelf.settings = ExtensionSettings(in_tasks=True)
        assert "extensions_reload" in tools_in(await hosted.watched.run())
        shelf.settings = ExtensionSettings(agents=False, in_tasks=True, hook_seconds=0.5)
        assert "extensions_reload" not in tools_in(await hosted.watched.run())
        await hosted.add(
            "late",
            """
            @hook.pre_tool_use(tools=["good"])
            async def check(use):
                await asyncio.sleep(20)
            """,
        )
        other = await hosted.open()
        request = await hosted.ask(other, 'call good {"word": "x"}')
        assert "extensions_manage" not in tools_in(request)
        assert "it did not answer within 0.5 s" in results_in(request)[-1]
