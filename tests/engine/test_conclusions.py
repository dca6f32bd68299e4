"""What a task concluded is a line, whatever its agent wrote."""

import pytest

from airboss.engine.conclusions import first_paragraph
from airboss.model.run_titles import input_start, short_title, title_again
from airboss.service.run_compare import walking_order


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("One.\nTwo.\n\nThree.", "One. Two."),
        ("\n\n# Summary\n\n---\n\nIt `works`.\n\n- more", "It `works`."),
        ("  \n", ""),
        ("# Only a heading", ""),
        ("x" * 500, "x" * 399 + "…"),
    ],
)
def test_the_first_paragraph_is_on_one_line_and_bounded(text: str, said: str) -> None:
    assert first_paragraph(text) == said


def test_a_title_is_the_first_line_that_says_something() -> None:
    assert short_title("\n  ## A follower loses events \nmore") == "A follower loses events"
    assert short_title("- one\n- two") == "one"
    assert short_title("") == ""
    assert len(short_title("word " * 100)) <= 72
    assert input_start("a\n\n b   c") == "a b c"
    assert len(input_start("x" * 10_000)) == 240


def test_a_run_that_repeats_another_is_counted() -> None:
    assert title_again("A follower") == "A follower (2)"
    assert title_again("A follower (9)") == "A follower (10)"
    assert title_again("") == ""


def test_steps_are_in_walking_order() -> None:
    walked = ["0.0", "0.1.cond", "0.1.true", "0.2.it1.pre", "0.2.it1", "0.2.it1.post"]
    walked += ["0.2.it2.pre", "0.2.it2.0", "0.2.it2.1", "0.2.it10", "0.3.0", "0.3.10"]
    mixed = walked[6:] + walked[:6]
    assert sorted(mixed, key=walking_order) == walked
