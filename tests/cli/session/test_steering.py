"""What a person says while the agent works: asked, listed and changed from the command line."""

import json
import time
from collections.abc import Iterator

import pytest

from airboss.cli.session.typed import Typed, typed
from tests.cli.running import running
from tests.cli.terminal import Terminal
from tests.portal import Portal


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hello", Typed("queue", "hello")),
        ("/steer  to the left ", Typed("steer", "to the left")),
        ("/interrupt stop that", Typed("interrupt", "stop that")),
        ("/btw which file?", Typed("btw", "which file?")),
        (" /queue ", Typed("list")),
        ("/model other", Typed("model", "other")),
        ("/model", Typed("unknown", "/model")),
        ("/compact", Typed("compact")),
        ("/compact keep the names", Typed("compact", "keep the names")),
        ("/steer", Typed("unknown", "/steer")),
        ("/etc/hosts is wrong", Typed("queue", "/etc/hosts is wrong")),
    ],
)
def test_a_few_words_behind_a_slash_mean_something(line: str, said: Typed) -> None:
    assert typed(line) == said


def test_a_question_beside_the_work_is_answered_on_the_output_alone(portal: Portal) -> None:
    session = portal.new_session()
    done = portal.run("ask", session, "which file")
    assert (done.returncode, done.stdout) == (0, "Rehearsed: “which file”\n")
    done = portal.run("ask", session, "trap", "--json")
    assert json.loads(done.stdout)["answer"].startswith("A \x1b[31mred")
    assert "⟨U+001B⟩" in portal.run("ask", session, "trap").stdout
    view = next(item for item in portal.sessions() if item["id"] == session)
    assert view["turns"] == 1
    done = portal.run("ask", "ses_nobody", "which file")
    assert (done.returncode, done.stderr) == (2, "error: There is no session ses_nobody.\n")


def test_the_history_is_compacted_from_the_command_line(portal: Portal) -> None:
    session = portal.new_session()
    portal.run("chat", "--session", session, "which file")
    done = portal.run("compact", session, "--instructions", "Keep the names.", "--json")
    assert (done.returncode, json.loads(done.stdout)["compacted"]) == (0, True), done.stderr
    done = portal.run("compact", session)
    assert (done.returncode, done.stdout) == (0, "There is nothing to compact.\n")
    done = portal.run("compact", "ses_nobody")
    assert (done.returncode, done.stderr) == (2, "error: There is no session ses_nobody.\n")


def test_a_session_goes_on_with_another_policy_and_model(portal: Portal) -> None:
    session = portal.new_session()
    done = portal.run("switch", session, "--permissions", "deny-all")
    words = "From the next turn on: rehearsal, permissions deny-all.\n"
    assert (done.returncode, done.stdout) == (0, words), done.stderr
    done = portal.run("switch", session, "--model", "nobody")
    assert (done.returncode, "The model nobody is not available." in done.stderr) == (2, True)
    done = portal.run("switch", session)
    assert (done.returncode, "--permissions" in done.stderr) == (2, True)
    done = portal.run("chat", "--session", session, "--model", "rehearsal", "which file")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def busy(portal: Portal) -> Iterator[str]:
    """A session whose agent takes its time."""
    session = portal.new_session()
    with running(portal, "chat", "--session", session, "take your time") as chatting:
        chatting.wait_for("One moment.")
        yield session


def waiting(portal: Portal, session: str, *words: str) -> list[tuple[str, str]]:
    done = portal.run("queue", session, *words, "--json")
    assert done.returncode == 0, done.stderr
    return [(item["prompt"], item["text"]) for item in json.loads(done.stdout)["items"]]


def test_the_queue_is_listed_and_changed(portal: Portal, busy: str) -> None:
    assert portal.run("queue", busy).stderr == "No messages are queued.\n"
    with (
        running(portal, "chat", "--session", busy, "number 1") as one,
    ):
        one.wait_for("Session", beside=True)
        until = time.monotonic() + 10
        while not waiting(portal, busy) and time.monotonic() < until:
            time.sleep(0.05)
        with running(portal, "chat", "--session", busy, "number 2"):
            while len(waiting(portal, busy)) < 2 and time.monotonic() < until:
                time.sleep(0.05)
            (first, _), (second, _) = waiting(portal, busy)
            line = portal.run("queue", busy).stdout.splitlines()[0]
            assert line == f"{first}\towner\tnumber 1"
            names = [prompt for prompt, _ in waiting(portal, busy, "--first", second)]
            assert names == [second, first]
            changed = waiting(portal, busy, "--change", first, "number 11")
            assert changed == [(second, "number 2"), (first, "number 11")]
            unsure = portal.run("queue", busy, "--drop", second)
            assert (unsure.returncode, unsure.stderr) == (
                2,
                "error: “number 2” will not be sent. Pass --yes to confirm.\n",
            )
            assert waiting(portal, busy, "--drop", second, "--yes") == [(first, "number 11")]
            refused = portal.run("queue", busy, "--drop", second)
            assert refused.returncode == 2
            assert "This message is no longer queued" in refused.stderr
            assert waiting(portal, busy, "--clear", "--yes") == []
            assert one.end() == 1, "what it waits for was dropped"


def test_what_is_typed_while_the_agent_works_waits_steers_or_asks(portal: Portal) -> None:
    with Terminal(portal, "chat") as terminal:
        terminal.rest_at("> ")
        terminal.type("take your time\n")
        terminal.see("One moment.")
        terminal.type("number 1\n")
        terminal.see("Queued: number 1")
        terminal.type("/queue\n")
        terminal.see("number 1")
        terminal.type("/btw which filx\x7fe\x1b[D\n")
        terminal.see("Rehearsed: “which file”")
        terminal.type("/steer number 2\n")
        terminal.see("Steering: number 2")
        terminal.type("/interrupt number 3\n")
        terminal.see("The turn was stopped.")
        terminal.see("Rehearsed: “number 3”")
        terminal.see("Rehearsed: “number 2”")
        terminal.see("Rehearsed: “number 1”")
        terminal.rest_at("> ")
        terminal.type("/btw and now\n")
        terminal.see("Rehearsed: “and now”")
        terminal.rest_at("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0
    assert portal.sessions()[0]["turns"] == 4


def test_a_line_that_was_begun_while_the_agent_worked_is_finished_behind(portal: Portal) -> None:
    with Terminal(portal, "chat") as terminal:
        terminal.rest_at("> ")
        terminal.type("take your time\n")
        terminal.see("One moment.")
        terminal.type("hel")
        terminal.see("> hel")
        terminal.press_ctrl_c()
        terminal.see("The turn was stopped.")
        terminal.rest_at("> hel")
        terminal.type("lo\n")
        terminal.see("Hello, captain.")
        terminal.rest_at("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


def test_whoever_watches_sees_what_was_asked_beside(portal: Portal) -> None:
    session = portal.new_session()
    portal.run("ask", session, "which file")
    done = portal.run("watch", session, "--once")
    assert "owner, side question> which file" in done.stdout + done.stderr
    assert "Rehearsed: “which file”" in done.stdout + done.stderr
