"""Secrets leave a text, whole or in pieces, and nothing else does."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from airboss.model.redaction import MASK, Redactor

# Values that overlap, contain each other, look like a published shape, or have odd letters.
VALUES = (
    "hunter2-hunter2",
    "hunter2-hunter2-and-more",
    "unter2-hXYZ",
    "abcdefghsk-1234567",
    "two\nlines\nof secret",
    "schlüssel😀geheim",
    "xxxxxxxx",
    "ghp_" + "A" * 36,
)
SHAPED = (
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "x_9" * 10,
    "sk-ant-" + "k" * 40,
    "sk-proj-" + "k-_" * 20,
    "xoxb-123456789012",
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "b" * 35,
    "glpat-" + "c" * 20,
    "airboss_" + "d" * 32,
)
ORDINARY = (
    "task-force ",
    "risk-",
    "gh",
    "sk",
    "ghp",
    "github_pat",
    " ",
    "\n",
    "x",
    "A",
    "-",
    "_",
    "é",
)

redactor = Redactor(VALUES)
texts = st.lists(
    st.one_of(
        st.sampled_from(VALUES),
        st.sampled_from(SHAPED),
        st.sampled_from(ORDINARY),
        st.sampled_from([value[:9] for value in VALUES]),
        st.sampled_from([value[-9:] for value in VALUES]),
        st.text(max_size=5),
    ),
    max_size=12,
).map("".join)


def in_pieces(text: str, cuts: list[int]) -> str:
    stream = redactor.stream()
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    return "".join([*(stream.feed(piece) for piece in pieces), stream.finish()])


@settings(max_examples=400, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 10_000), max_size=30))
@example(text="hunter2-hunter2XYZ", cuts=[15])
@example(text="abcdefghsk-1234567", cuts=[13])
@example(text="word" + SHAPED[0], cuts=[4])
def test_a_text_in_pieces_is_told_as_the_whole_text_would_be(text: str, cuts: list[int]) -> None:
    assert in_pieces(text, cuts) == redactor.text(text)


@settings(max_examples=100, deadline=None)
@given(text=texts)
def test_a_text_letter_by_letter_is_told_as_the_whole_text_would_be(text: str) -> None:
    assert in_pieces(text, list(range(len(text)))) == redactor.text(text)


@settings(max_examples=200, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 10_000), max_size=30))
def test_no_known_value_is_ever_told(text: str, cuts: list[int]) -> None:
    told = in_pieces(text, cuts)
    assert [value for value in VALUES if value in told] == []


@settings(max_examples=100, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 10_000), max_size=30))
def test_what_was_told_is_never_taken_back(text: str, cuts: list[int]) -> None:
    stream, told, whole = redactor.stream(), "", redactor.text(text)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    for a, b in itertools.pairwise(places):
        told += stream.feed(text[a:b])
        assert whole.startswith(told)


@pytest.mark.parametrize("secret", [*VALUES, *SHAPED])
def test_a_secret_leaves_the_sentence_around_it(secret: str) -> None:
    text = f"Use {secret} for it."
    assert redactor.text(text) == f"Use {MASK} for it."
    assert redactor.count(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "task-0123456789012345678901234567890",
        "the risk-averse",
        "ghp_tooshort",
        "my_ghp_" + "a" * 36,
        "short",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redactor.text(text) == text
    assert redactor.count(text) == 0


def test_ordinary_text_does_not_wait_for_more() -> None:
    stream = Redactor(VALUES).stream()
    assert [stream.feed(piece) for piece in ("Hello, ", "wörld. ", "Go ")] == [
        "Hello, ",
        "wörld. ",
        "Go ",
    ]


def test_what_might_become_a_secret_waits_until_it_did_not() -> None:
    stream = redactor.stream()
    told = [stream.feed("see hunter2-"), stream.feed("hunt"), stream.feed("ed! ")]
    assert told == ["see ", "", "hunter2-hunted! "]


def test_an_endless_run_of_letters_is_told_in_the_end() -> None:
    stream = redactor.stream()
    told = stream.feed("sk-" + "a" * 200) + stream.feed("b" * 400) + stream.finish()
    assert told == redactor.text("sk-" + "a" * 200 + "b" * 400)
    assert told.startswith(MASK)


def test_a_value_may_come_from_a_file_with_a_line_break_at_its_end() -> None:
    assert Redactor(("0123456789abc\n",)).text("is 0123456789abc!") == f"is {MASK}!"


def test_values_that_are_too_short_to_be_secrets_are_left_alone() -> None:
    assert Redactor(("yes", "", "1234567")).text("yes 1234567") == "yes 1234567"


def test_a_redactor_does_not_show_what_it_knows() -> None:
    assert Redactor() == Redactor()
    assert "hunter2" not in repr(redactor.stream().redactor)
