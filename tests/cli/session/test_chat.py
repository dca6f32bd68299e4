"""A session in the terminal."""

import json
from typing import Any

import pytest

from tests.cli.running import running
from tests.cli.terminal import Terminal
from tests.portal import Portal


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line)["event"] for line in text.splitlines()]


def test_a_script_gets_the_reply_alone(portal: Portal) -> None:
    done = portal.run("chat", "hello")
    assert (done.returncode, done.stdout) == (0, "Hello, captain.\n")
    assert f"rehearsal · {portal.work} · permissions read-only" in done.stderr
    assert portal.sessions()[0]["state"] == "closed"


def test_a_conversation_has_the_limits_that_it_was_given(portal: Portal) -> None:
    done = portal.run("chat", "--limit", "tokens=50000", "--limit", "idleMinutes=2", "hello")
    assert done.returncode == 0
    limits = portal.sessions()[0]["limits"]
    assert (limits["tokens"], limits["idle_minutes"], limits["cost"]) == (50_000, 2, None)
    done = portal.run("chat", "--limit", "hours=1", "hello")
    assert done.returncode == 2
    assert "There is no limit hours." in done.stderr
    assert "needs a number" in portal.run("chat", "--limit", "turns=many", "hello").stderr


def test_a_conversation_thinks_as_long_as_one_says_and_show_tells_it(portal: Portal) -> None:
    done = portal.run("chat", "--effort", "high", "--keep", "hello")
    assert done.returncode == 0, done.stderr
    session = portal.sessions()[0]["id"]
    shown = portal.run("show", session)
    assert "Effort" in shown.stdout
    assert "high" in shown.stdout
    refused = portal.run("chat", "--effort", "huge", "hello")
    assert refused.returncode == 2
    assert "error: reasoningEffort: Input should be 'low'" in refused.stderr
    again = portal.run("chat", "--session", session, "--effort", "low", "hello")
    assert again.returncode == 0, again.stderr
    assert "low" in portal.run("show", session).stdout


def test_an_agent_that_nobody_describes_is_refused_by_name(portal: Portal) -> None:
    refused = portal.run("chat", "--agent", "reviewer", "hello")
    assert refused.returncode == 2
    assert 'agent: There is no agent "reviewer". None is described.' in refused.stderr


def test_an_option_without_a_word_is_refused_and_not_passed_over(portal: Portal) -> None:
    for option, words in (
        ("--effort", "error: reasoningEffort: Input should be 'low'"),
        ("--agent", "error: agent: Should have letters, digits"),
        ("--account", "error: account: Should have letters, digits"),
        ("--model", 'error: The model "" is not available.'),
    ):
        refused = portal.run("chat", option, "", "hello")
        assert (refused.returncode, words in refused.stderr) == (2, True), refused.stderr


def test_the_message_can_come_by_the_input(portal: Portal) -> None:
    done = portal.run("chat", said="hello\nfrom a pipe\n")
    assert (done.returncode, done.stdout) == (0, "Hello, captain.\n")
    done = portal.run("chat", said="  \n")
    assert done.returncode == 2
    assert "message is empty" in done.stderr


def test_tools_and_denials_are_told_beside_the_reply(portal: Portal) -> None:
    done = portal.run("chat", "look around")
    assert (done.returncode, done.stdout) == (0, "I will look.\nThat is all.\n")
    assert f"✓ view {portal.work}\n" in done.stderr
    done = portal.run("chat", "write it")
    assert (done.returncode, done.stdout) == (0, "I tried.\n")
    assert f"✗ Denied: write {portal.work}/hello.txt." in done.stderr
    assert "--permissions ask" in done.stderr
    assert f"✗ create {portal.work}/hello.txt: denied\n" in done.stderr


def test_a_models_escapes_do_not_reach_the_terminal(portal: Portal) -> None:
    done = portal.run("chat", "trap")
    assert done.stdout == "A ⟨U+001B⟩[31mred⟨U+001B⟩[0m ⟨U+202E⟩trap\n"
    lines = portal.run("chat", "--json", "trap").stdout
    assert lines.isascii()
    assert "\x1b" not in lines


def test_json_is_the_events(portal: Portal) -> None:
    done = portal.run("chat", "--json", "hello")
    events = events_of(done.stdout)
    assert [event["kind"] for event in events][:2] == ["session.opened", "session.ready"]
    assert events[-1]["kind"] == "session.idle"
    replies = [event["text"] for event in events if event["kind"] == "message.ended"]
    assert replies == ["Hello, captain."]


def test_a_turn_that_fails_is_a_failure(portal: Portal) -> None:
    done = portal.run("chat", "unlucky")
    assert done.returncode == 1
    assert "The turn failed." in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "no-such-model", "hello"],
        ["--cwd", "/no/such/folder", "hello"],
        ["--session", "ses_nobody", "hello"],
        ["--session", "ses_nobody", "--model", "rehearsal", "hello"],
    ],
    ids=" ".join,
)
def test_what_the_server_refuses_is_told_in_words(portal: Portal, words: list[str]) -> None:
    done = portal.run("chat", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_a_session_is_continued_and_stays(portal: Portal) -> None:
    session = portal.new_session()
    done = portal.run("chat", "--session", session, "look around")
    assert (done.returncode, done.stdout) == (0, "I will look.\nThat is all.\n")
    view = next(item for item in portal.sessions() if item["id"] == session)
    assert (view["state"], view["turns"]) == ("idle", 2)


def test_a_closed_session_is_not_continued(portal: Portal) -> None:
    portal.run("chat", "hello")
    done = portal.run("chat", "--session", portal.sessions()[0]["id"], "hello")
    assert done.returncode == 2
    assert "is closed" in done.stderr


def test_a_conversation_at_the_terminal(portal: Portal) -> None:
    with Terminal(portal, "chat") as terminal:
        terminal.see("Ctrl-D exits")
        terminal.see("> ")
        terminal.type("hello\n")
        terminal.see("Somebody greets me.")
        terminal.see("Hello, captain.")
        terminal.see("> ")
        terminal.type("first line, \\\n")
        terminal.see("… ")
        terminal.type("look around\n")
        terminal.see("view")
        terminal.see("That is all.")
        terminal.see("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0
    view = portal.sessions()[0]
    assert (view["state"], view["turns"]) == ("closed", 2)


def test_ctrl_c_stops_the_turn_and_the_conversation_goes_on(portal: Portal) -> None:
    with Terminal(portal, "chat", "--keep") as terminal:
        terminal.see("> ")
        terminal.type("take your time\n")
        terminal.see("One moment.")
        terminal.press_ctrl_c()
        terminal.see("The turn was stopped.", seconds=10)
        terminal.see("> ")
        terminal.type("hello\n")
        terminal.see("Hello, captain.")
        terminal.rest_at("> ")
        terminal.press_ctrl_c()
        terminal.see("Ctrl-C again to exit.")
        terminal.rest_at("> ")
        terminal.press_ctrl_c()
        assert terminal.leave() == 0
    assert portal.sessions()[0]["state"] == "idle"


def test_ctrl_c_in_a_single_turn_is_told_by_the_exit_code(portal: Portal) -> None:
    with Terminal(portal, "chat", "take your time") as terminal:
        terminal.see("One moment.")
        terminal.press_ctrl_c()
        terminal.see("The turn was stopped.", seconds=10)
        assert terminal.leave() == 3
    assert portal.sessions()[0]["state"] == "closed"


def test_whoever_ends_the_process_in_order_stops_the_agent(portal: Portal) -> None:
    with running(portal, "chat", "take your time") as chatting:
        chatting.wait_for("One moment.")
        chatting.process.terminate()
        assert chatting.end() == 3
    assert portal.sessions()[0]["state"] == "closed"


def test_without_colour_nothing_is_coloured(portal: Portal) -> None:
    with Terminal(portal, "chat", "hello", NO_COLOR="1") as terminal:
        assert terminal.leave() == 0
        assert terminal.colours == []
        assert "(thinking) Somebody greets me." in terminal.seen


def test_a_restart_in_the_middle_is_survived(own_portal: Portal) -> None:
    with Terminal(own_portal, "chat") as terminal:
        terminal.see("> ")
        terminal.type("take your time\n")
        terminal.see("One moment.")
        own_portal.kill()
        terminal.see("Connection lost")
        own_portal.start()
        terminal.see("Reconnected")
        terminal.see("The turn was interrupted.")
        terminal.see("> ")
        terminal.type("hello\n")
        terminal.see("Hello, captain.")
        terminal.see("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


def test_commands_are_done_here_and_no_model_hears_of_them(portal: Portal) -> None:
    (portal.work / "ledger.py").write_text("", encoding="utf-8")
    with Terminal(portal, "chat") as terminal:
        terminal.see("> ")
        terminal.type("/help\n")
        terminal.see("/rename NAME")
        terminal.type("/hlep\n")
        terminal.see("Unknown command /hlep.")
        terminal.type("/files ledg\n")
        terminal.see("ledger.py")
        terminal.type("/rename Ledger work\n")
        terminal.see("Renamed the session to “Ledger work”.")
        [session] = [one for one in portal.sessions() if one["title"] == "Ledger work"]
        assert session["turns"] == 0
