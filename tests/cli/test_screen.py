"""Nothing that a model says drives the terminal."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airboss.cli.screen import Pen, duration, print_table, visible, visible_line

DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode and 日本\n\ttext", "plain, ünïcode and 日本\n\ttext"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("\x1b]52;c;c2VjcmV0\x07", "⟨U+001B⟩]52;c;c2VjcmV0⟨U+0007⟩"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("user\u202egpj.exe", "user⟨U+202E⟩gpj.exe"),
        ("safe\rEVIL", "safe⟨U+000D⟩EVIL"),
        ("line\r\nline", "line\nline"),
        ("half \ud83d of a face", "half ⟨U+D83D⟩ of a face"),
        ("a family: 👨\u200d👩\u200d👧", "a family: 👨\u200d👩\u200d👧"),
    ],
)
def test_what_could_drive_a_terminal_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(alphabet=st.characters()))
def test_no_text_at_all_keeps_a_dangerous_character(text: str) -> None:
    assert not DANGEROUS.search(visible(text))
    assert "\n" not in visible_line(text)


@given(st.lists(st.text(alphabet=st.characters())))
def test_a_text_in_pieces_is_as_safe_as_a_whole_one(pieces: list[str]) -> None:
    assert "".join(visible(piece) for piece in pieces) == visible("".join(pieces))


def test_a_line_is_cut_to_its_length() -> None:
    assert visible_line("one\ntwo\tthree", 9) == "one two …"


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Pen.on(Screen()).styled("no", "red") == "\x1b[31mno\x1b[0m"
    assert Pen.on(io.StringIO()).styled("no", "red") == "no"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Pen.on(Screen()).styled("no", "red") == "no"


def test_a_table_in_a_pipe_is_one_line_a_row() -> None:
    paper = io.StringIO()
    rows = [("ses_1", "a\ttitle\nof two lines"), ("ses_2", "\x1b[2J")]
    print_table(("Session", "Title"), rows, Pen.on(paper))
    assert paper.getvalue() == "ses_1\ta title of two lines\nses_2\t⟨U+001B⟩[2J\n"


def test_durations_are_minutes_and_seconds() -> None:
    assert [duration(5), duration(65), duration(3700)] == ["0:05", "1:05", "1:01:40"]


@pytest.mark.parametrize("columns", [200, 100, 80, 40])
def test_a_table_never_breaks_an_id(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run = "run_01kxyzabcd0000000000001234"
    rows = [("ses_01kxyzabce0000000000005678", f"{run} (a long job)", "word " * 40, "x" * 300)]
    paper = io.StringIO()
    print_table(("Session", "For", "Title", "Folder"), rows, Pen(paper, True, False))
    assert rows[0][0] in paper.getvalue()
    assert run in paper.getvalue()
