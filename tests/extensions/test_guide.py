"""What the authoring guide says, on the real runtime: its samples work, and what it names is given
to hooks, events and handlers."""

import asyncio
import json
import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.setup import Said
from airboss.model.events import PromptAccepted, ToolEnded
from airboss.model.extension_events import ExtensionHooked, ExtensionSaid
from airboss.session_keys import SessionKeys
from tests.contract.test_v1_images import png
from tests.extensions.hosted import Hosted, results_in, until
from tests.service.house import ME

LANGUAGES = pytest.mark.parametrize("language", ["", "-py"], ids=["mjs", "py"])
VIEW = 'call view {"path": "/nowhere"}'
SHELL = f"call bash {json.dumps({'command': 'echo hi', 'description': 'x'})}"


@LANGUAGES
async def test_what_a_handler_returns_is_the_result(hosted: Hosted, language: str) -> None:
    await hosted.bring(f"seed-tools{language}")
    session = await hosted.open()
    offered = {
        tool["function"]["name"]: tool["function"] for tool in (await hosted.ask(session))["tools"]
    }
    assert offered["tool_name"]["description"] == "What it does"
    assert offered["tool_name"]["parameters"]["required"] == ["arg1"]
    for call, said in [
        ('tool_name {"arg1": "x"}', "Result: x"),
        ("tool_invocation {}", f"{session} call_1 tool_invocation"),
        ("tool_nothing {}", ""),
        ('tool_result {"resultType": "success"}', "It is success"),
    ]:
        assert results_in(await hosted.ask(session, f"call {call}"))[-1] == said
    for call, said in [
        ("tool_throws {}", "It went wrong."),
        ('tool_result {"resultType": "failure"}', "It is failure"),
        ('tool_result {"resultType": "denied"}', "It is denied"),
    ]:
        assert said in results_in(await hosted.ask(session, f"call {call}"))[-1]
    asked = len(hosted.watched.stage.requests)
    await hosted.ask(session, 'call tool_result {"resultType": "rejected"}')
    assert len(hosted.watched.stage.requests) == asked + 1, "the runtime ends the turn"
    ends = await hosted.said(session, ToolEnded)
    assert [one.error is None for one in ends] == [True] * 4 + [False] * 4
    assert {one.extension for one in ends} == {f"seed-tools{language}"}


@LANGUAGES
async def test_the_samples_about_the_session_work(hosted: Hosted, language: str) -> None:
    name = f"seed-session{language}"
    await hosted.bring(name)
    file = hosted.work / "src" / "index.ts"
    file.parent.mkdir()
    file.write_text("export {};\n", "utf-8")
    session = await hosted.open()

    async def call(sample: str) -> str:
        """And until what it sent has been worked on."""
        before = (await hosted.house.sessions.show(session)).turns
        result = results_in(await hosted.ask(session, f"call {sample} {{}}"))[-1]
        if "send" in sample:
            await hosted.house.until(session, "idle", turns=before + 2)
        return result

    await call("sample_send")
    await call("sample_send_attachment")
    assert "index.ts" in str(hosted.watched.stage.requests[-1]["messages"])
    sent = [one for one in await hosted.said(session, PromptAccepted) if one.who != ME]
    assert [(one.who, one.text) for one in sent] == [
        (f"extension {name}", "Analyze the test results."),
        (f"extension {name}", "Review this file"),
    ]
    assert [path.endswith("/src/index.ts") for path in sent[1].files or ()] == [True]
    await call("sample_send_and_wait")

    async def texts() -> list[str]:
        return [one.text for one in await hosted.said(session, ExtensionSaid)]

    async with asyncio.timeout(30):
        while "It said: Hello there" not in await texts():  # noqa: ASYNC110 - no event for this
            await asyncio.sleep(0.1)
    await call("sample_log")
    said = [(one.text, one.level) for one in await hosted.said(session, ExtensionSaid)]
    assert said[-3:] == [
        ("Extension ready", "info"),
        ("Rate limit approaching", "warning"),
        ("Connection failed", "error"),
    ]
    assert (await hosted.shown(session))[name].words == "Processing..."
    assert await call("sample_seen") == "true true true", "and then it has unsubscribed"
    workspace = Path(await call("sample_workspace"))
    assert workspace.name == session
    assert "checkpoints" in await asyncio.to_thread(os.listdir, workspace)


async def test_hooks_and_events_are_given_what_the_guide_names(hosted: Hosted) -> None:
    await hosted.bring("seed-fields", "seed-fields-py")
    session = await hosted.open()
    for prompt in (SHELL, VIEW, "fail 400"):
        await hosted.ask(session, prompt)
    refused = results_in(await hosted.ask(session, "call ask_rpc {}"))[-1]
    assert refused == "session.plan.read cannot be had in Airboss."
    await hosted.house.sessions.close(session, ME)

    def noted(name: str) -> Any:
        return json.loads(hosted.noted(name)[0])

    hooks: dict[str, dict[str, Any]] = {
        "prompt": {"prompt": SHELL},
        "before": {"toolName": "bash"},
        "after": {"toolName": "bash"},
        "failure": {"toolName": "view", "error": "Path does not exist"},
        "start": {"source": "new", "initialPrompt": SHELL},
        "end": {"reason": "user_exit"},
        "error": {"errorContext": "model_call", "recoverable": True},
    }
    snake = {"toolName": "tool", "initialPrompt": "initial_prompt", "errorContext": "error_context"}
    for hook, facts in hooks.items():
        mjs, py = noted(f"mjs-{hook}"), noted(f"py-{hook}")
        assert {key: mjs[key] for key in facts} == facts
        assert {key: py[snake.get(key, key)] for key in facts} == facts
        # The pinned SDK calls it otherwise.
        assert mjs["cwd"] == mjs["workingDirectory"] == py["cwd"] == str(hosted.work)
        assert mjs["sessionId"] == py["session"] == session
        assert mjs["timestamp"][:16] == py["at"][:16].replace(" ", "T")
    assert noted("mjs-before")["toolArgs"] == noted("py-before")["arguments"]
    assert noted("mjs-after")["toolResult"]["resultType"] == noted("py-after")["result"]["type"]
    assert "The service said no." in noted("mjs-error")["error"]
    events = {
        "assistant.message": {"content", "messageId"},
        "tool.execution_start": {"toolCallId", "toolName", "arguments"},
        "tool.execution_complete": {"toolCallId", "toolName", "success", "result"},
        "user.message": {"content", "messageId"},
        "session.idle": set[str](),
        "session.error": {"errorType", "message"},
        "permission.requested": {"requestId", "permissionRequest"},
        "session.shutdown": {"shutdownType"},
    }
    for kind, fields in events.items():
        for language in ("mjs", "py"):
            assert fields <= noted(f"{language}-{kind}").keys(), (language, kind)
    assert noted("mjs-permission.requested")["permissionRequest"]["kind"] == "shell"
    failed = json.loads(hosted.noted("py-tool.execution_complete")[1])
    assert (failed["toolName"], failed["success"]) == ("view", False)
    assert "error" in failed


@pytest.mark.parametrize(
    ("prompt", "facts"),
    [("say so long", {"finalMessage": "so long"}), ("fail 400", {"error": "The service said no."})],
)
async def test_the_last_hook_is_told_how_it_ended(
    hosted: Hosted, prompt: str, facts: dict[str, str]
) -> None:
    name = "mjs" + prompt[:4]
    text = """
    import { appendFileSync } from "node:fs";
    import { joinSession } from "@github/copilot-sdk/extension";
    const note = (ended) => appendFileSync(`${process.env.NOTES}/NAME`, JSON.stringify(ended));
    await joinSession({ hooks: { onSessionEnd: note } });
    """
    await hosted.add("last-js", text.replace("NAME", name), "extension.mjs")
    await hosted.add(
        "last-py",
        f"""
        @hook.session_end
        def over(ended):
            note("py{prompt[:4]}", f"{{ended.final_message}} {{ended.error}}")
        """,
    )
    session = await hosted.open()
    await hosted.ask(session, prompt)
    await hosted.house.sessions.close(session, ME)
    told = json.loads(hosted.noted(name)[0])
    for key, words in facts.items():
        assert words in told[key]
        assert words in hosted.noted(f"py{prompt[:4]}")[0]


async def test_a_resumed_session_says_so_and_each_session_has_a_memory_of_its_own(
    hosted: Hosted,
) -> None:
    await hosted.bring("seed-session-py")
    await hosted.add(
        "counting",
        """
        calls = []
        @tool
        def count() -> int:
            "x"
            calls.append(1)
            return len(calls)
        @hook.session_start
        def start(given):
            note("sources", given.source)
        """,
    )
    finite = Said(SessionKeys.model_validate({"context": {"infinite": False}}), may_widen=True)
    first, second = await hosted.open(said=(finite,)), await hosted.open()
    for session, count in ((first, "1"), (first, "2"), (second, "1")):
        assert results_in(await hosted.ask(session, "call count {}"))[-1] == count
    request = await hosted.ask(first, "call sample_workspace {}")
    assert results_in(request)[-1] == "None", "without infinite sessions there is none"
    await hosted.house.sessions.close(second, ME)
    await hosted.watched.resumed(first)
    assert results_in(await hosted.ask(first, "call count {}"))[-1] == "1"
    assert hosted.noted("sources") == ["new", "new", "resume"]


async def test_a_turn_that_failed_is_told_to_who_waits_for_it(hosted: Hosted) -> None:
    await hosted.add(
        "waiting",
        """
        async def later():
            try:
                note("waited", await session.send_and_wait("fail 400"))
            except HostError as error:
                note("waited", f"failed: {error}")
        @tool
        async def wait_for_it() -> str:
            "x"
            asyncio.get_running_loop().create_task(later())
            return "soon"
        """,
    )
    session = await hosted.open()
    await hosted.ask(session, "call wait_for_it {}")
    await until(lambda: hosted.noted("waited"))
    assert hosted.noted("waited") == ["failed: 400 The service said no."]


@pytest.mark.parametrize(
    ("file", "text", "output"),
    [
        (
            "extension.py",
            '@hook.error_occurred\ndef skip(given):\n    return "skip"\n',
            {"errorHandling": "skip"},
        ),
        (
            "extension.mjs",
            """
            import { joinSession } from "@github/copilot-sdk/extension";
            const onErrorOccurred = async () => ({ errorHandling: "retry", retryCount: 2 });
            await joinSession({ hooks: { onErrorOccurred } });
            """,
            {"errorHandling": "retry", "retryCount": 2},
        ),
    ],
)
async def test_how_to_go_on_after_an_error_is_handed_to_the_runtime(
    hosted: Hosted, file: str, text: str, output: dict[str, Any]
) -> None:
    await hosted.add("patient", text, file)
    session = await hosted.open()
    await hosted.ask(session, "fail 400")
    hooked = await hosted.said(session, ExtensionHooked)
    assert {(one.hook, one.outcome, one.text) for one in hooked} == {
        ("errorOccurred", "changed", output["errorHandling"])
    }
    told = {"error": "x", "errorContext": "model_call", "recoverable": True}
    assert await hosted.host(session).answer_hook("errorOccurred", told) == output


async def test_images_reach_the_model_and_a_hook_may_take_their_place(hosted: Hosted) -> None:
    old, new = png(), png(9)
    (hosted.notes / "old.png").write_bytes(old)
    (hosted.notes / "new.png").write_bytes(new)
    await hosted.add(
        "camera",
        """
        @tool
        def look() -> Result:
            "Looks."
            return Result("a dot", images=[Image((HERE / "old.png").read_bytes())])
        @hook.post_tool_use(tools=["look"])
        def seen(use):
            [image] = use.result.images
            note("seen", f"{image.mime_type} {len(image.data)}")
            if (HERE / "retouch").exists():
                return Result("another", images=[Image((HERE / "new.png").read_bytes())])
            return Result("none") if (HERE / "hide").exists() else None
        """,
    )
    session = await hosted.open()
    was, now = (f"data:image/png;base64,{b64encode(one).decode()}" for one in (old, new))
    assert was in str(await hosted.ask(session, "call look {}"))
    assert hosted.noted("seen") == [f"image/png {len(old)}"]
    for mark, shown in (("hide", False), ("retouch", True)):
        fresh = await hosted.open()
        (hosted.notes / mark).touch()
        asked = str(await hosted.ask(fresh, "call look {}"))
        assert (was in asked, now in asked) == (False, shown)
        await hosted.house.sessions.close(fresh, ME)
    await hosted.house.sessions.close(session, ME)
