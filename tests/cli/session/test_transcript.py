"""What a person sees of a session's events."""

import io
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from airboss.cli.heard import Record
from airboss.cli.screen import Pen
from airboss.cli.session.transcript import Transcript


def drawn(*events: dict[str, Any], is_full: bool = False) -> tuple[str, str]:
    """What came to the output, and what beside it."""
    said, beside = io.StringIO(), io.StringIO()
    page = Transcript(Pen.on(said), Pen.on(beside), is_full=is_full)
    for seq, event in enumerate(events, start=1):
        page.draw(Record(seq, 0, event))
    return said.getvalue(), beside.getvalue()


def delta(offset: int, text: str) -> dict[str, Any]:
    return {"kind": "message.delta", "block": "b", "offset": offset, "text": text}


TEXT = "Hello, captain. All is well."
END = {"kind": "message.ended", "block": "b", "text": TEXT}


@given(st.lists(st.integers(0, len(TEXT)), max_size=6))
def test_every_character_of_a_block_is_shown_once(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(TEXT)]
    pieces = [delta(a, TEXT[a:b]) for a, b in pairwise(places)]
    assert drawn(*pieces, END)[0] == f"{TEXT}\n"
    # A connection that was lost repeats some of it, or leaves the rest to the end.
    assert drawn(*pieces, delta(0, TEXT[: places[1]]), END)[0] == f"{TEXT}\n"
    assert drawn(*pieces[:-1], END)[0] == f"{TEXT}\n"


def test_a_tool_is_one_line_with_its_end() -> None:
    arguments = '{"path": "/work/a\\u001b[2Jb", "view_range": [1, 2]}'
    started = {"kind": "tool.started", "block": "t", "name": "view", "arguments": arguments}
    ended = {"kind": "tool.ended", "block": "t", "text": "x", "result": {"content": "x"}}
    failed = {"kind": "tool.ended", "block": "t", "text": "", "error": {"message": "gone"}}
    assert drawn(started, ended) == ("", "✓ view /work/a⟨U+001B⟩[2Jb\n")
    assert drawn(started, failed) == ("", "✗ view /work/a⟨U+001B⟩[2Jb: gone\n")


def test_what_was_left_out_of_a_tools_output_is_counted() -> None:
    start = {"kind": "tool.started", "block": "t", "name": "bash", "arguments": "{}"}
    end = {"kind": "tool.ended", "block": "t", "text": "y", "left_out": 98_765_432}
    assert drawn(start, end)[1] == "✓ bash (98,765,432 characters left out of its output)\n"


def test_a_denial_says_what_to_do_and_is_not_repeated() -> None:
    denied = {
        "kind": "permission.decided",
        "wish": "shell",
        "about": "rm -r x",
        "allowed": False,
        "reason": "The policy does not allow it.",
    }
    started = {"kind": "tool.started", "block": "t", "name": "bash", "arguments": "{}"}
    message = "Rejected: The policy does not allow it."
    ended = {"kind": "tool.ended", "block": "t", "text": "", "error": {"message": message}}
    assert drawn(started, denied, ended)[1].splitlines() == [
        "✗ Denied: shell rm -r x. The policy does not allow it.",
        "  To be asked instead, start the server with: airboss serve --permissions ask",
        "✗ bash: denied",
    ]


def test_a_loop_is_told_and_a_refusal_is_not_repeated() -> None:
    loop = {"kind": "loop.noticed", "level": "warning", "tool": "bash", "text": "Again?"}
    veto = {"kind": "tool.vetoed", "tool": "bash", "reason": "Not again.", "denied": "tool-loop"}
    started = {"kind": "tool.started", "block": "t", "name": "bash", "arguments": "{}"}
    message = "Denied by preToolUse hook: Not again."
    ended = {"kind": "tool.ended", "block": "t", "text": "", "error": {"message": message}}
    critical = {**loop, "level": "critical"}
    assert drawn(loop, started, critical, veto, ended)[1].splitlines() == [
        "The agent is repeating itself: Again?",
        "✗ Refused: bash. Not again.",
        "✗ bash: denied",
    ]


def test_a_call_that_waits_for_anothers_approval_says_which_and_what_to_type() -> None:
    started = {"kind": "tool.started", "block": "t", "name": "edit", "arguments": "{}"}
    place = {"session": "ses_1", "session_title": "Tidy\u202e up"}
    waiting = {"kind": "tool.waiting", "block": "t", "item": "itm_1", "title": "Change a.py?"}
    said = drawn(started, {**waiting, **place}, {"kind": "tool.going", "block": "t"})[1]
    assert said.splitlines() == [
        "Waiting for the approval “Change a.py?” in session ses_1 (Tidy⟨U+202E⟩ up): "
        "both edit one file.",
        "  Review and decide with: airboss inbox itm_1",
    ]


def test_reasoning_is_for_viewers_and_not_for_pipes() -> None:
    thought = {"kind": "reasoning.ended", "block": "r", "text": "Hm."}
    assert drawn(thought) == ("", "")
    assert drawn(thought, is_full=True) == ("", "(thinking) Hm.\n")


def test_what_a_newer_server_says_is_passed_over() -> None:
    assert drawn({"kind": "weather.changed", "wind": "west"}, {}) == ("", "")
