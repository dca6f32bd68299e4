"""The samples of the authoring guide work on the same wire, unchanged in JavaScript and in the
kit's words in Python."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.extension.peer import FIXTURES, SESSION, Peer
from tests.trials import sampled

LANGUAGES = {"py": "extension.py", "mjs": "extension.mjs"}


def sample(name: str, language: str) -> Path:
    folder = f"{name}-py" if language == "py" else name
    return FIXTURES / folder / LANGUAGES[language]


@pytest.fixture(scope="module", params=LANGUAGES)
def tools(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Peer]:
    with Peer(sample("seed-tools", request.param), tmp_path_factory.mktemp("tools")).join() as peer:
        yield peer


@pytest.fixture(scope="module", params=LANGUAGES)
def hooks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Peer]:
    with Peer(sample("seed-hooks", request.param), tmp_path_factory.mktemp("hooks")).join() as peer:
        yield peer


def test_the_skeleton_joins(tmp_path: Path) -> None:
    with Peer(FIXTURES / "seed-skeleton" / "extension.mjs", tmp_path).join() as peer:
        assert peer.joined["tools"] == []
        assert peer.joined["hooks"] is False
        assert "error" in peer.ask("ping", {}), "a reply all the same"


def test_tools_are_declared_and_called(tools: Peer) -> None:
    [first] = [one for one in tools.joined["tools"] if one["name"] == "tool_name"]
    assert first["description"] == "What it does"
    assert first["parameters"]["properties"] == {"arg1": {"type": "string", "description": "..."}}
    assert first["parameters"]["required"] == ["arg1"]
    assert tools.call("tool_name", {"arg1": "x"}) == ("Result: x", "success")
    assert tools.call("tool_invocation", call="c1")[0] == f"{SESSION} c1 tool_invocation"
    assert tools.call("tool_nothing") == ("", "success")
    assert tools.call("tool_throws") == ("It went wrong.", "failure")
    for kind in ("success", "failure", "rejected", "denied"):
        assert tools.call("tool_result", {"resultType": kind}) == (f"It is {kind}", kind)


@pytest.mark.parametrize(
    ("kind", "given", "output"),
    [
        (
            "userPromptSubmitted",
            {"prompt": "change-prompt"},
            {"modifiedPrompt": "The prompt was changed."},
        ),
        (
            "userPromptSubmitted",
            {"prompt": "add-context"},
            {"additionalContext": f"Context of a prompt in {SESSION}."},
        ),
        ("userPromptSubmitted", {"prompt": "hello"}, None),
        (
            "preToolUse",
            {"command": "deny-this"},
            {
                "permissionDecision": "deny",
                "permissionDecisionReason": "The extension denies it.",
            },
        ),
        (
            "preToolUse",
            {"command": "ask-about-this"},
            {"permissionDecision": "ask", "permissionDecisionReason": "The extension asks."},
        ),
        (
            "preToolUse",
            {"command": "allow-this"},
            {
                "permissionDecision": "allow",
                "permissionDecisionReason": "The extension allows it.",
            },
        ),
        (
            "preToolUse",
            {"command": "change-arguments", "more": 1},
            {"modifiedArgs": {"command": "echo the arguments were changed", "more": 1}},
        ),
        (
            "preToolUse",
            {"command": "context-before"},
            {"additionalContext": "Context before a tool."},
        ),
        ("preToolUse", {"command": "ls"}, None),
        (
            "postToolUse",
            {"command": "change-result"},
            {
                "modifiedResult": {
                    "textResultForLlm": "The result was changed.",
                    "resultType": "success",
                }
            },
        ),
        (
            "postToolUse",
            {"command": "context-after"},
            {"additionalContext": "Context after a tool."},
        ),
        (
            "postToolUseFailure",
            {"command": "context-failure"},
            {"additionalContext": "Context of a failure."},
        ),
        ("sessionStart", {"source": "new"}, {"additionalContext": "Context of the start (new)."}),
        ("sessionEnd", {"reason": "complete"}, {"sessionSummary": "It ended: complete."}),
        (
            "errorOccurred",
            {"error": "abort-this"},
            {"errorHandling": "abort", "userNotification": "The extension aborts."},
        ),
        ("errorOccurred", {"error": "skip-this"}, {"errorHandling": "skip"}),
        ("errorOccurred", {"error": "retry-this"}, {"errorHandling": "retry"}),
        ("errorOccurred", {"error": "other"}, {"userNotification": "It failed: model_call."}),
    ],
)
def test_every_hook_has_every_output(hooks: Peer, kind: str, given: Any, output: Any) -> None:
    facts: dict[str, Any] = {"errorContext": "model_call", "recoverable": False}
    if "ToolUse" in kind:
        result = {"textResultForLlm": "done", "resultType": "success"}
        facts = {"toolName": "bash", "toolArgs": given, "toolResult": result, "error": "it failed"}
        given = {}
    said = hooks.hook(kind, **facts, **given)
    if said and "modifiedResult" in said:  # the kit's takes the place of images, too
        assert said["modifiedResult"].pop("binaryResultsForLlm", []) == []
    only_in_javascript = {"cleanupActions", "retryCount"}
    assert (said and {key: said[key] for key in said.keys() - only_in_javascript}) == output


@pytest.mark.parametrize("language", sampled(2, LANGUAGES))
def test_the_samples_about_the_session_work(language: str, tmp_path: Path) -> None:
    with Peer(sample("seed-session", language), tmp_path).join() as peer:
        peer.call("sample_send")
        peer.call("sample_send_attachment")
        first, second = peer.asked("session.send")
        assert first["prompt"] == "Analyze the test results."
        assert second["attachments"] == [{"type": "file", "path": "./src/index.ts"}]
        peer.call("sample_log")
        assert [
            (one["message"], one.get("level", "info"), one.get("ephemeral", False))
            for one in peer.asked("session.log")
        ] == [
            ("Extension ready", "info", False),
            ("Rate limit approaching", "warning", False),
            ("Connection failed", "error", False),
            ("Processing...", "info", True),
        ]
        assert peer.call("sample_workspace")[0] == str(tmp_path / "workspace")
        for success in (True, False, True, True):
            peer.event("tool.execution_complete", success=success)
        peer.until(lambda: peer.call("sample_seen")[0] == "true false true")
        peer.call("sample_send_and_wait")
        peer.until(lambda: len(peer.asked("session.send")) == 3)
        peer.event("user.message", messageId="m1")
        peer.event("assistant.message", content="4")
        peer.event("session.idle")
        peer.until(lambda: peer.asked("session.log")[-1]["message"] == "It said: 4")
