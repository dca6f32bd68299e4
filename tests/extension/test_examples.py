"""The examples do what their README says."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from airboss.extension import Context, Deny, Notify, Result
from airboss.extension.testing import Loaded, SaidText, load
from tests.extension.peer import EXAMPLES, Peer


def example(name: str, cwd: Path) -> Loaded:
    return load(EXAMPLES / name, cwd=cwd)


def test_every_example_is_listed_and_explained() -> None:
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    for folder in (one for one in EXAMPLES.iterdir() if one.is_dir()):
        assert f"({folder.name}/README.md)" in listed
        assert len(list(folder.glob("extension.*"))) == 1
        assert (folder / "README.md").read_text("utf-8").count("\n") > 3


@pytest.mark.parametrize(
    ("command", "is_refused"),
    [
        ("git push", True),
        ("git push --force origin main", True),
        ("cd x && git -C y -c a=b push", True),
        ("/usr/bin/git --no-pager push", True),
        ('sh -c "git push"', True),
        ("""bash -c 'cd x; bash -c "git push"'""", True),
        ("echo hi; sudo git push|cat", True),
        ("(git push)", True),
        ("git status\ngit push", True),
        ("git push 'unfinished", True),
        ("git status", False),
        ('git commit -m "push it"', False),
        ('git commit -m "git push is not for agents"', True),  # rather a no too many
        ("git log --grep push", False),
        ("git stash push", False),
        ("echo push", False),
        ("", False),
    ],
)
def test_no_push_refuses_what_pushes(tmp_path: Path, command: str, is_refused: bool) -> None:
    with example("no-push", tmp_path) as extension:
        answers = extension.fire("pre_tool_use", tool="bash", arguments={"command": command})
        assert [type(one) for one in answers] == ([Deny] if is_refused else [])
        assert extension.fire("pre_tool_use", tool="edit", arguments={"path": "git push"}) == []


def test_tests_run_after_edits_and_failures_are_sent_three_times(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@echo it is red; exit 1\n", encoding="utf-8")
    edit = {"tool": "edit", "arguments": {"path": "a.py"}, "result": Result("")}
    with example("tests-after-edit", tmp_path) as extension:
        extension.emit("session.idle")
        assert extension.sent == []
        for _ in range(4):
            assert extension.fire("post_tool_use", **edit) == []
            extension.emit("session.idle")
        assert len(extension.sent) == 3
        assert extension.sent[0].prompt.startswith("`make test` fails after your edits. Fix it.")
        assert "it is red" in extension.sent[0].prompt
        assert extension.said == [SaidText("The tests still fail after 3 tries.", "warning")]
        (tmp_path / "Makefile").write_text("test:\n\t@true\n", encoding="utf-8")
        extension.fire("post_tool_use", **edit)
        extension.emit("session.idle")
        assert extension.said[1:] == [SaidText("make test: the tests pass.")]


def test_tests_are_found_by_what_a_folder_has(tmp_path: Path) -> None:
    with example("tests-after-edit", tmp_path) as extension:
        tests_of: Callable[[Path], list[str]] = extension.module.tests_of
        assert tests_of(tmp_path) == []
        (tmp_path / "tests").mkdir()
        assert tests_of(tmp_path) == (["pytest", "-q"] if shutil.which("pytest") else [])
        (tmp_path / "package.json").write_text('{"scripts": {"test": "x"}}', encoding="utf-8")
        assert tests_of(tmp_path) == ["npm", "test"]
        (tmp_path / "Makefile").write_text("latest:\n", encoding="utf-8")
        assert tests_of(tmp_path) == ["npm", "test"]


def test_tickets_are_added_once_listed_read_and_closed(tmp_path: Path) -> None:
    with example("tickets", tmp_path) as extension:
        assert extension.fire("session_start") == []
        assert extension.call("tickets").text == "There is no ticket that is open."
        new = {"title": "It is\nslow", "text": "Very."}
        for _ in range(2):
            assert extension.call("add_ticket", new, id="c1").text == "Ticket 1 is there."
        assert extension.call("add_ticket", new, id="c2").text == "Ticket 2 is there."
        assert extension.call("tickets").text == "1: It is slow\n2: It is slow"
        assert extension.call("close_ticket", {"number": 1, "note": "Fast."}).type == "success"
        assert extension.call("tickets").text == "2: It is slow"
        assert extension.call("tickets", {"state": "done"}).text == "1: [done] It is slow"
        assert "Done: Fast." in extension.call("ticket", {"number": 1}).text
        assert extension.call("ticket", {"number": 9}).text == "LookupError: there is no ticket 9"
        [context] = extension.fire("session_start")
        assert context == Context("This repository has 1 open tickets: use `tickets`.")


def test_tell_me_tells_and_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = tmp_path / "shown"
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\necho "$@" >>{shown}\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with example("tell-me", tmp_path) as extension:
        extension.call("tell_me", {"text": "It works.", "urgent": True})
        assert extension.said == [SaidText("It works.", "warning")]
        extension.answers = ["red"]
        asked = {"question": "Which?", "choices": ["red", "blue"]}
        assert extension.call("ask_me", asked) == Result("red")
        assert extension.call("ask_me", {"question": "Which?"}).type == "failure"
        assert extension.asked == ["Which?", "Which?"]
        assert extension.fire("error_occurred", error="no model") == [
            Notify("The agent cannot go on: no model")
        ]
        assert extension.fire("error_occurred", error="x", recoverable=True) == []
        extension.emit("user.message")
        extension.emit("session.idle")
        assert len(extension.said) == 1, "a short turn is over in silence"
        vars(extension.module)["LONG"] = 0.0
        extension.emit("session.idle")
        assert extension.said[1].text == "Done after 0 min 0 s."
    lines = shown.read_text("utf-8").splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [
        "The agent says It works.",
        "The agent asks Which?",
        "The agent asks Which?",
        f"The agent is done {tmp_path}",
    ]


def test_hello_greets_in_javascript(tmp_path: Path) -> None:
    with Peer(EXAMPLES / "hello-mjs" / "extension.mjs", tmp_path).join() as peer:
        assert [tool["name"] for tool in peer.joined["tools"]] == ["hello"]
        assert peer.call("hello", {"name": "Ann"}) == ("Hello, Ann!", "success")
        context = peer.hook("userPromptSubmitted", prompt="Hello there")
        assert "greet them" in context["additionalContext"]
        assert peer.hook("userPromptSubmitted", prompt="Bye") is None
        peer.event("session.error", message="no model")
        peer.until(lambda: peer.asked("session.log"))
        assert peer.asked("session.log")[0]["message"] == "It failed: no model"
