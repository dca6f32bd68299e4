"""What somebody decides about is in the terminal, however long it is."""

import json
from collections.abc import Iterator

import pytest

from airboss.cli.inbox.command_text import command_lines, parts_of
from airboss.cli.screen import Pen, out
from tests.cli.inboxes import ask, close_all
from tests.cli.terminal import Terminal
from tests.portal import Portal

LONG = "echo " + "x" * 64_530 + "; touch PWN"
FAR = "echo " + "x" * 9_000 + "; touch HERE; echo " + "x" * 9_000


def running(when: str, command: str) -> dict[str, object]:
    call = {"tool": "bash", "arguments": {"command": command, "description": "as asked"}}
    return {"when": when, "steps": [{"call": call}, {"say": "Done."}]}


SCRIPT = json.dumps(
    {
        "models": [{"id": "rehearsal", "name": "Rehearsal", "multiplier": 0}],
        "rules": [
            running("at length", LONG),
            running("in the middle", FAR),
            running("joined", "./test\u200d.sh && ls\rx\ntouch {cwd}/PWN"),
        ],
    }
)


@pytest.fixture(scope="module")
def portal_that_asks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("long"), ("--permissions", "ask"), script=SCRIPT)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def asking(portal_that_asks: Portal) -> Portal:
    close_all(portal_that_asks)
    return portal_that_asks


def test_an_item_is_shown_with_all_of_its_command(asking: Portal) -> None:
    item = ask(asking, "at length")
    shown = asking.run("inbox", item["id"]).stdout
    assert "x" * 64_530 + "⟨;⟩ touch PWN" in shown
    listed = asking.run("inbox").stdout
    assert "(shortened)" in listed
    with Terminal(asking, "inbox", item["id"]) as terminal:
        terminal.see("; touch PWN")
        assert terminal.leave() == 0
    done = asking.run("approve", item["id"])
    assert done.returncode == 0
    assert "(shortened) owner allowed it once." in done.stderr


def test_in_a_conversation_the_end_of_a_long_command_is_seen_at_once(asking: Portal) -> None:
    with Terminal(asking, "chat") as terminal:
        terminal.see("> ")
        terminal.type("at length\n")
        terminal.see("characters hidden, with no separators")
        terminal.see("; touch PWN")
        terminal.see("Type “all” to see everything.")
        terminal.type("n\n")
        terminal.see("✗ Denied: shell")
        terminal.see("> ")
        terminal.type("in the middle\n")
        terminal.see("characters hidden, with 2 separators")
        terminal.see("Type “all” to see everything.")
        assert "touch HERE" not in terminal.seen
        terminal.type("all\n")
        terminal.see("touch HERE")
        terminal.see("Type “all” to see everything.")
        terminal.type("n\n")
        terminal.see("✗ Denied: shell")
        terminal.see("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


def test_what_cannot_be_seen_in_a_command_is_seen(asking: Portal) -> None:
    item = ask(asking, "joined")
    shown = asking.run("inbox", item["id"]).stdout
    assert "Command  ./test⟨U+200D⟩.sh ⟨&&⟩ ls⟨U+000D⟩x⏎\n" in shown
    assert f"           touch {asking.work}/PWN\n" in shown
    title = f"Run ./test⟨U+200D⟩.sh && ls⟨U+000D⟩x ⏎ touch {asking.work}/PWN?"
    assert shown.count("./test⟨U+200D⟩.sh") >= 2
    assert item["asked"]["title"][:40] == title[:40]


def test_whoever_is_told_a_shortened_title_is_told_how_to_see_the_whole(asking: Portal) -> None:
    item = ask(asking, "at length")
    with Terminal(asking, "inbox", "--watch") as terminal:
        terminal.see(f"airboss inbox {item['id']}")
        terminal.press_ctrl_c()


def test_a_command_is_wrapped_and_all_that_begins_another_one_is_marked() -> None:
    pen = Pen(out().stream, is_terminal=True, has_colour=False)
    text = "a; b && c || d | e & f $(g) `h` <(i) >(j)"
    (line,) = command_lines(pen, text, 0)
    assert line == "a⟨;⟩ b ⟨&&⟩ c ⟨||⟩ d ⟨|⟩ e ⟨&⟩ f ⟨$(⟩g) ⟨`⟩h⟨`⟩ ⟨<(⟩i) ⟨>(⟩j)"
    coloured = Pen(out().stream, is_terminal=True, has_colour=True)
    assert list(command_lines(coloured, "a;b\nc", 0)) == ["a\x1b[7m;\x1b[0mb\x1b[7m⏎\x1b[0m", "c"]
    lines = list(command_lines(pen, "x" * 250 + ";y" * 100, 40))
    assert max(map(len, lines)) <= 40
    assert "".join(lines) == "x" * 250 + "⟨;⟩y" * 100


@pytest.mark.parametrize("text", ["", "short", "x" * 8_192, "x" * 8_193, "a;" * 500_000])
def test_what_is_folded_has_its_beginning_and_its_end(text: str) -> None:
    parts = parts_of(text, is_folded=True, is_command=True)
    if len(text) <= 8_192:
        assert [part.text for part in parts] == [text]
    else:
        first, gap, last = parts
        assert gap.is_gap
        assert text.startswith(first.text)
        assert text.endswith(last.text)
        assert f"{len(text) - len(first.text) - len(last.text):,} characters" in gap.text
