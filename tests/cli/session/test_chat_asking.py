"""Agents that ask the person who talks with them: the next line that is typed answers."""

import json
import time
from collections.abc import Iterator

import pytest

from tests.cli.inboxes import close_all
from tests.cli.running import running
from tests.cli.terminal import Terminal
from tests.contract.asking import asking_portal_in
from tests.portal import Portal

ALLOW = "Type yes, always, or no with a reason."
ANSWER = "Type your answer, or /skip to decline."


@pytest.fixture(scope="module")
def asking_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = asking_portal_in(tmp_path_factory.mktemp("asking"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def asking(asking_portal: Portal) -> Portal:
    """With nothing left that waits from the test before."""
    close_all(asking_portal)
    return asking_portal


def waiting(portal: Portal) -> list[str]:
    told = json.loads(portal.run("inbox", "--json").stdout)
    return [item["id"] for item in told["items"]]


def test_the_next_line_allows_or_denies(asking: Portal) -> None:
    made = asking.work / "made.txt"
    made.unlink(missing_ok=True)
    with Terminal(asking, "chat") as terminal:
        terminal.see("> ")
        terminal.type("touch it\n")
        terminal.see(f"Command  touch {asking.work}/made.txt")
        terminal.see("Always   would allow kind shell")
        terminal.see(ALLOW)
        terminal.type("perhaps\n")
        terminal.see(ALLOW)
        terminal.type("no, not now\n")
        terminal.see("✗ Denied: shell")
        terminal.see("owner denied it: not now")
        terminal.see("Done.")
        terminal.see("> ")
        assert not made.exists()
        terminal.type("touch it\n")
        terminal.see(ALLOW)
        terminal.read()
        terminal.type("y\n")
        terminal.see("owner allowed it once")
        terminal.see("✓ bash")
        terminal.see("Done.")
        terminal.see("> ")
        assert made.exists()
        terminal.type("hello\n")
        terminal.see("Hello, captain.")
        terminal.see("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


def test_what_is_always_allowed_is_not_asked_again(asking: Portal) -> None:
    with Terminal(asking, "chat") as terminal:
        terminal.see("> ")
        terminal.type("touch it\n")
        terminal.see(ALLOW)
        terminal.read()
        terminal.type("always\n")
        terminal.see("owner allowed it from now on")
        terminal.see("Done.")
        terminal.see("> ")
        terminal.type("touch it\n")
        terminal.see("✓ bash")
        assert ALLOW not in terminal.seen
        terminal.see("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0
    for rule in json.loads(asking.run("rules", "--json").stdout)["items"]:
        assert asking.run("rules", "remove", rule["id"]).returncode == 0


def test_a_change_is_shown_with_its_colours_and_cannot_drive_the_terminal(asking: Portal) -> None:
    with Terminal(asking, "chat", "write it") as terminal:
        terminal.see("Change hello.txt?")
        terminal.see("+hi ⟨U+001B⟩[31mred")
        terminal.see(ALLOW)
        terminal.type("n\n")
        assert terminal.leave() == 0


def test_the_next_line_answers_a_question(asking: Portal) -> None:
    with Terminal(asking, "chat") as terminal:
        terminal.see("> ")
        terminal.type("which colour\n")
        terminal.see("Which colour?")
        terminal.see("1 Red")
        terminal.see("2 Blue")
        terminal.see(ANSWER)
        terminal.type("green\n")
        terminal.see("“green” is not one of the choices: 1 Red, 2 Blue.")
        terminal.type("2\n")
        terminal.see("owner answered: Blue")
        terminal.see("Thanks.")
        terminal.see("> ")
        terminal.type("what name\n")
        terminal.see(ANSWER)
        terminal.type("/skip\n")
        terminal.see("owner declined to answer")
        terminal.see("Thanks.")
        terminal.see("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


def test_what_was_typed_before_it_was_seen_allows_nothing(asking: Portal) -> None:
    """A line is a message then, and a half one is there again afterwards."""
    with Terminal(asking, "chat") as terminal:
        terminal.see("> ")
        # Both lines are there before the agent has asked anything.
        terminal.type("touch it\nyes\n")
        terminal.see("Queued: yes")
        terminal.type("hel")
        terminal.see(ALLOW)
        time.sleep(0.5)
        (item,) = waiting(asking)
        assert asking.run("deny", item).returncode == 0
        terminal.see("✗ Denied: shell")
        terminal.type("lo\n")
        terminal.see("Hello, captain.")
        terminal.rest_at("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


def test_what_was_typed_into_a_single_turn_before_it_was_seen_allows_nothing(
    asking: Portal,
) -> None:
    with Terminal(asking, "chat", "touch it") as terminal:
        terminal.type("yes\n")
        terminal.see(ALLOW)
        time.sleep(0.5)
        assert len(waiting(asking)) == 1
        terminal.type("n\n")
        terminal.see("✗ Denied: shell")
        assert terminal.leave() == 0


def test_a_yes_that_ends_just_as_it_is_shown_allows_nothing(asking: Portal) -> None:
    """Such as the second of two, or the end of a message: “try”."""
    made = asking.work / "made.txt"
    made.unlink(missing_ok=True)
    with Terminal(asking, "chat", "touch it") as terminal:
        terminal.see(ALLOW)
        terminal.type("y\n")
        terminal.see("This request appeared while you were typing")
        assert len(waiting(asking)) == 1
        terminal.type("n\n")
        terminal.see("✗ Denied: shell")
        assert terminal.leave() == 0
    assert not made.exists()


def test_ctrl_c_stops_the_turn_and_withdraws_what_was_asked(asking: Portal) -> None:
    """APR-4."""
    with Terminal(asking, "chat") as terminal:
        terminal.see("> ")
        terminal.type("touch it\n")
        terminal.see(ALLOW)
        terminal.press_ctrl_c()
        terminal.see("The turn was stopped.", seconds=10)
        terminal.see("> ")
        assert waiting(asking) == []
        terminal.type("hello\n")
        terminal.see("Hello, captain.")
        terminal.see("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["words", "json"])
def test_in_a_pipe_it_says_what_waits_and_how_to_decide_it(
    asking: Portal, options: tuple[str, ...]
) -> None:
    with running(asking, "chat", "touch it", *options) as chat:
        chat.wait_for("The agent is waiting for a person: Run touch", beside=True)
        (item,) = waiting(asking)
        chat.wait_for(f"Decide with: airboss approve {item}", beside=True)
        assert asking.run("approve", item).returncode == 0
        assert chat.end() == 0
        assert "Done." in chat.told()


def test_whoever_goes_on_with_a_session_is_shown_what_it_asks(asking: Portal) -> None:
    with running(asking, "chat", "--keep", "what name") as chat:
        chat.wait_for("The agent is waiting for a person", beside=True)
        session = str(asking.sessions()[0]["id"])
        with Terminal(asking, "chat", "--session", session, "hello") as terminal:
            terminal.see("What name?")
            terminal.see(ANSWER)
            terminal.type("Ada\n")
            terminal.see("Hello, captain.")
            assert terminal.leave() == 0
        assert chat.end() == 0


def test_whoever_watches_is_told_what_waits(asking: Portal) -> None:
    with running(asking, "chat", "--keep", "touch it") as chat:
        chat.wait_for("The agent is waiting for a person", beside=True)
        session = str(asking.sessions()[0]["id"])
        (item,) = waiting(asking)
        with running(asking, "watch", session, "--once") as watching:
            watching.wait_for("! Waiting for a person: Run touch")
            watching.wait_for(f"airboss approve {item}")
            assert asking.run("deny", item, "no need").returncode == 0
            watching.wait_for("owner denied it: no need")
            assert watching.end() == 0
        assert chat.end() == 0
