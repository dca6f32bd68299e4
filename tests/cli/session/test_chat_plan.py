"""`airboss chat --plan --file`, and a plan that is approved with words or rejected."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.terminal import Terminal
from tests.e2e.visit import asked
from tests.portal import Portal

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "build"
    steps:
      - call: {tool: exit_plan_mode, arguments: {summary: "- make {last}.txt"}}
      - call: {tool: create, arguments: {path: "{cwd}/{last}.txt", file_text: "x"}}
      - say: "Over."
"""


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("plan"), ("--permissions", "approve-all"), SCRIPT)
    portal.start()
    yield portal
    portal.stop()


def events(portal: Portal, kind: str) -> list[dict[str, Any]]:
    """Of the one session."""
    [session] = asked(portal, "GET", "/api/v1/sessions").json()["items"]
    path = f"/api/v1/sessions/{session['id']}/events?limit=500"
    said = [one["event"] for one in asked(portal, "GET", path).json()["items"]]
    return [event for event in said if event["kind"] == kind]


def test_a_plan_is_shown_in_the_chat_and_approved_with_changes(portal: Portal) -> None:
    notes = portal.work / "notes.txt"
    notes.write_text("Mind the gap.", "utf-8")
    words = ("chat", "--keep", "--plan", "--file", str(notes), "--cwd", str(portal.work))
    with Terminal(portal, *words) as terminal:
        terminal.see("Session ")
        terminal.see("> ")
        terminal.type("build-one\n")
        terminal.see("make build-one.txt")
        terminal.see("Type yes, yes with changes, or no with a reason.")
        assert not (portal.work / "build-one.txt").exists()
        terminal.read()
        terminal.type("yes, use tabs\n")
        terminal.see("Over.")
        assert (portal.work / "build-one.txt").exists()
        [prompt] = events(portal, "prompt.accepted")
        assert (prompt["mode"], prompt["files"]) == ("plan", [str(notes)])
        [settled] = events(portal, "item.settled")
        assert (settled["outcome"], settled["answer"]) == ("approved", "use tabs")
    missing = portal.run("chat", "--file", "nowhere.txt", "--cwd", str(portal.work), "hello")
    assert missing.returncode != 0
    assert "there is no file" in missing.stderr
