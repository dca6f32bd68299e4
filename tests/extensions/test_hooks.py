"""Every hook and every output of the authoring guide has its effect, in both languages."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.setup import Said
from airboss.model.events import PermissionDecided, SessionError, ToolEnded, TurnEnded
from airboss.model.excerpt import MOST_OF_A_REASON
from airboss.model.extension_events import ExtensionHooked, ExtensionSaid
from airboss.model.gate_events import ToolVetoed
from airboss.session_keys import SessionKeys
from tests.extensions.hosted import Hosted, results_in
from tests.service.house import ME

# A program that a session's keys name.
FIRST = """
import json, sys
given = json.load(sys.stdin)["toolArgs"]
if "refuse" in given["command"]:
    print(json.dumps({"decision": "block", "reason": "not this"}))
else:
    print(json.dumps({"modifiedArgs": {**given, "command": "echo changed"}}))
"""
SCRIPT = """
import { joinSession } from "@github/copilot-sdk/extension";
await joinSession({ hooks: { %s } });
"""
BOTH = pytest.mark.parametrize("name", ["seed-hooks-py", "seed-hooks"])


def shell(words: str) -> str:
    return f"call bash {json.dumps({'command': f'echo {words}', 'description': 'x'})}"


def whole(request: dict[str, Any]) -> str:
    return str(request["messages"])


async def outcomes(hosted: Hosted, session: str) -> list[tuple[str, str]]:
    return [(one.hook, one.outcome) for one in await hosted.said(session, ExtensionHooked)]


@BOTH
async def test_prompts_and_results_are_changed_and_added_to(hosted: Hosted, name: str) -> None:
    await hosted.bring(name)
    session = await hosted.open()
    request = await hosted.ask(session, "say add-context")
    assert f"Context of a prompt in {session}." in whole(request)
    assert "Context of the start (" in whole(request)
    assert "The prompt was changed." in whole(await hosted.ask(session, "say change-prompt"))
    request = await hosted.ask(session, shell("change-result"))
    assert "The result was changed." in results_in(request)[-1]
    assert "Context after a tool." in whole(await hosted.ask(session, shell("context-after")))
    request = await hosted.ask(session, 'call view {"path": "/context-failure"}')
    assert "Context of a failure." in whole(request)
    await hosted.house.sessions.close(session, ME)
    found = await outcomes(hosted, session)
    assert ("userPromptSubmitted", "context") in found
    assert ("userPromptSubmitted", "changed") in found
    assert ("postToolUse", "changed") in found
    assert ("sessionEnd", "changed") in found
    ended = [one for one in await hosted.said(session, ExtensionHooked) if one.hook == "sessionEnd"]
    lines = ended[-1].text.splitlines()
    assert lines[0] == "It ended: user_exit."
    assert lines[1:] == ([] if name.endswith("-py") else ["nothing to clean up"])


@BOTH
async def test_calls_are_denied_changed_and_commented(hosted: Hosted, name: str) -> None:
    await hosted.bring(name)
    session = await hosted.open()
    request = await hosted.ask(session, shell("deny-this"))
    assert "The extension denies it." in results_in(request)[-1]
    [vetoed] = await hosted.said(session, ToolVetoed)
    assert (vetoed.denied, name in vetoed.reason) == ("hook", True)
    request = await hosted.ask(session, shell("change-arguments"))
    assert "the arguments were changed" in results_in(request)[-1]
    assert "Context before a tool." in whole(await hosted.ask(session, shell("context-before")))
    found = await outcomes(hosted, session)
    assert found.count(("preToolUse", "denied")) == 1
    assert ("preToolUse", "changed") in found
    assert ("preToolUse", "context") in found


@BOTH
async def test_errors_are_told_to_people(hosted: Hosted, name: str) -> None:
    await hosted.bring(name)
    session = await hosted.open()
    await hosted.ask(session, "fail 400")
    words = [one.text for one in await hosted.said(session, ExtensionSaid)]
    assert "It failed: model_call." in words
    assert await hosted.said(session, SessionError)


async def test_an_abort_of_the_error_hook_ends_the_turn_that_the_runtime_would_try_again(
    hosted: Hosted,
) -> None:
    await hosted.add(
        "impatient",
        """
        @hook.error_occurred
        def enough(given):
            note("errors", given.error_context)
            return "abort"
        """,
    )
    session = await hosted.open()
    await hosted.ask(session, "fail 500")
    [ended] = await hosted.said(session, TurnEnded)
    assert ended.outcome in ("aborted", "failed")
    assert hosted.noted("errors") == ["model_call"]


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ("{ textResultForLlm: 7 }", "should have a text"),
        ("{ textResultForLlm: 'x', resultType: 'splendid' }", "should have a text"),
        ("'x'.repeat(2 << 20)", "more than 1 MiB"),
    ],
)
async def test_a_result_that_is_none_leaves_the_tools_own(
    hosted: Hosted, result: str, why: str
) -> None:
    hook = f"onPostToolUse: async () => ({{ modifiedResult: {result} }})"
    await hosted.add("odd", SCRIPT % hook, "extension.mjs")
    session = await hosted.open()
    assert "fine" in results_in(await hosted.ask(session, shell("fine")))[-1]
    [hooked] = await hosted.said(session, ExtensionHooked)
    assert (hooked.hook, hooked.outcome) == ("postToolUse", "failed")
    assert why in hooked.text


async def test_a_reason_has_no_end_for_nobody(hosted: Hosted) -> None:
    await hosted.add(
        "wordy",
        """
        @hook.pre_tool_use
        def no(use):
            return Deny("no " * 1_000_000)
        """,
    )
    session = await hosted.open()
    told = results_in(await hosted.ask(session, shell("fine")))[-1]
    assert "The extension wordy refuses it: no no " in told
    assert len(told) < MOST_OF_A_REASON + 200


async def test_a_hook_about_other_tools_is_not_asked(hosted: Hosted) -> None:
    await hosted.add(
        "narrow",
        """
        @hook.pre_tool_use(tools=["view"])
        def never(use):
            note("asked", use.tool)
            return Deny("no")
        """,
    )
    session = await hosted.open()
    request = await hosted.ask(session, shell("fine"))
    assert "fine" in results_in(request)[-1]
    assert hosted.noted("asked") == []
    request = await hosted.ask(session, 'call view {"path": "/etc/hostname"}')
    assert "no" in results_in(request)[-1]


async def test_each_before_hook_sees_what_the_last_one_changed(hosted: Hosted) -> None:
    add = """
        @hook.pre_tool_use(tools=["bash"])
        def add(use):
            command = use.arguments["command"] + " {0}"
            return Change(arguments={{**use.arguments, "command": command}})
        """
    await hosted.add("a-first", add.format("one"))
    await hosted.add("b-second", add.format("two"))
    session = await hosted.open()
    request = await hosted.ask(session, shell("zero"))
    assert "zero one two" in results_in(request)[-1]
    [ended] = await hosted.said(session, ToolEnded)
    assert ended.extension is None


async def test_before_hooks_stand_behind_those_of_the_session(
    hosted: Hosted, tmp_path: Path
) -> None:
    """They see what those have changed, and nothing of what those refuse."""
    program = tmp_path / "first.py"
    program.write_text(FIRST, "utf-8")
    first = {"command": [sys.executable, str(program)]}
    keys = SessionKeys.model_validate({"hooks": {"preToolUse": [first]}})
    await hosted.add(
        "second",
        """
        @hook.pre_tool_use(tools=["bash"])
        def check(use):
            note("second", use.arguments["command"])
            return None
        """,
    )
    session = await hosted.open(said=(Said(keys, may_widen=True),))
    assert "changed" in results_in(await hosted.ask(session, shell("fine")))[-1]
    assert "not this" in results_in(await hosted.ask(session, shell("refuse-this")))[-1]
    assert hosted.noted("second") == ["echo changed"]


async def test_a_before_hook_that_raises_refuses_and_others_that_do_are_passed_over(
    hosted: Hosted,
) -> None:
    await hosted.add(
        "broken",
        """
        @hook.pre_tool_use(tools=["bash"])
        def before(use):
            raise ValueError("I am broken")
        @hook.user_prompt_submitted
        def prompt(given):
            raise ValueError("I am broken, too")
        """,
    )
    session = await hosted.open()
    request = await hosted.ask(session, shell("x"))
    assert "could not check this call" in results_in(request)[-1]
    found = await outcomes(hosted, session)
    assert ("preToolUse", "failed") in found
    assert ("userPromptSubmitted", "failed") in found
    assert [one.by for one in await hosted.said(session, PermissionDecided)] == []
