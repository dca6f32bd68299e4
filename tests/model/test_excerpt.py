"""A text that is too long: head and tail are kept, what is between them is counted."""

import json
import pickle

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from airboss.model.excerpt import (
    EDGE,
    Excerpt,
    Gapped,
    begins_with,
    behind,
    excerpt,
    json_of,
    length_of,
    mark_of,
    name_of,
)
from airboss.model.redaction import MASK, Redactor

SECRET = "the-secret-of-this-server-0123456789"
MOST = 4096
PLAIN = Redactor((SECRET,))

# Pieces of a text: a few letters, and how often. Written out they would be long.
Pieces = list[tuple[str, int]]
letters = st.sampled_from(["a", "é", "😀", "x\n", "ab ", " "])
pieces = st.lists(st.tuples(letters, st.integers(0, 9000)), max_size=12)


def written(parts: Pieces) -> list[str]:
    return [some * count for some, count in parts]


def told_of(kept: Excerpt, parts: list[str]) -> tuple[list[str], str]:
    """What is told as it comes, and all of it."""
    told = [kept.take(part) for part in parts]
    told.append(kept.finish())
    return told, "".join(told)


@settings(deadline=None)
@given(parts=pieces)
@example(parts=[("a", MOST)])
@example(parts=[("a", MOST + 1)])
@example(parts=[("a", 3 * MOST // 4), ("b", EDGE), ("c", MOST)])
def test_head_tail_and_what_was_left_out_add_up(parts: Pieces) -> None:
    kept = Excerpt(PLAIN, MOST)
    _, told = told_of(kept, written(parts))
    whole = "".join(written(parts))
    assert len(told) <= MOST
    if len(whole) <= MOST:
        assert (told, kept.left_out) == (whole, 0)
        return
    head, mark, tail = told.partition(mark_of(kept.left_out))
    assert mark
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head) + kept.left_out + len(tail) == len(whole)
    assert len(head) >= MOST // 2
    assert len(tail) >= MOST // 8


@settings(max_examples=40, deadline=None)
@given(parts=pieces, lines=st.integers(1, 6), place=st.integers(0, 60_000))
def test_no_part_of_a_secret_gets_through_a_cut(parts: Pieces, lines: int, place: int) -> None:
    text = "".join(written(parts))
    place = min(place, len(text))
    whole = f"{text[:place]}{f'{SECRET}:' * lines * 50}{text[place:]}"
    cut = [whole[start : start + 777] for start in range(0, len(whole), 777)]
    for given_parts in (cut, [whole]):
        _, told = told_of(Excerpt(PLAIN, MOST), given_parts)
        assert "secret-of" not in told.replace(MASK, "")
        assert "0123" not in told


def test_three_quarters_are_told_as_they_come_and_the_tail_at_the_end() -> None:
    kept = Excerpt(PLAIN, MOST)
    told, whole = told_of(kept, ["x" * 100] * 500)
    assert sum(map(len, told[:-1])) == 3 * MOST // 4
    assert told[-1].startswith(mark_of(kept.left_out))
    assert len(whole) > MOST - 64


def test_memory_is_bounded_whatever_comes() -> None:
    kept = Excerpt(PLAIN, MOST)
    for _ in range(2000):
        kept.take("y\n" * 4096)
    held = sum(map(len, kept._rest))  # pyright: ignore[reportPrivateUsage]
    assert held <= MOST // 4 + EDGE + 8192
    kept.finish()
    assert kept.left_out > 16_000_000


@settings(deadline=None)
@given(
    before=st.text("bc", max_size=200),  # no secret begins so
    gap=st.integers(1, 10**12),
    head=st.text("bc😀", max_size=50),
    tail=st.integers(0, 3 * EDGE),
)
def test_a_gap_in_what_came_is_counted_and_its_edges_are_left_out(
    before: str, gap: int, head: str, tail: int
) -> None:
    kept = Excerpt(PLAIN, MOST)
    text = Gapped(head, gap, "z" * tail)
    _, told = told_of(kept, [before, text])
    first, mark, last = told.partition(mark_of(kept.left_out))
    assert mark
    assert first == before + head
    assert len(first) + kept.left_out + len(last) == len(before) + length_of(text)
    assert len(last) == min(max(0, tail - EDGE), MOST - len(first) - 64)


def test_the_halves_of_a_secret_around_a_gap_are_left_out() -> None:
    text = Gapped(f"a log {SECRET[:20]}", 5, f"{SECRET[20:]} goes on {'.' * 2 * EDGE} end")
    told = excerpt(PLAIN, text, 2 * MOST)
    assert SECRET[:10] not in told
    assert SECRET[-6:] not in told
    assert told.startswith("a log ")
    assert told.endswith(". end")


@settings(deadline=None)
@given(head=st.text(max_size=20), gap=st.integers(1, 50), tail=st.text(max_size=20))
def test_a_text_with_a_gap_can_be_read_on_from_any_place(head: str, gap: int, tail: str) -> None:
    text = Gapped(head, gap, tail)
    whole = length_of(text)
    for count in range(whole + 3):
        rest = behind(text, count)
        assert length_of(rest) == max(0, whole - count)
        assert rest.endswith(tail[len(tail) - min(len(tail), max(0, whole - count)) :])
    assert begins_with(text, head)
    assert not begins_with(text, f"{head}?")
    again = pickle.loads(pickle.dumps(text))  # noqa: S301  # our own
    assert (again, again.left_out) == (text, gap)
    assert mark_of(gap) in text


@settings(deadline=None)
@given(
    value=st.recursive(
        st.none() | st.integers() | st.text(max_size=30) | st.integers(0, 20_000).map("é".__mul__),
        lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=9), inner),
        max_leaves=60,
    )
)
def test_arguments_stay_json_and_within_the_bound(value: object) -> None:
    told = json_of(PLAIN, value, MOST)
    assert len(told) <= MOST
    plain = json.dumps(value, ensure_ascii=False)
    if len(plain) <= MOST:
        assert told == plain
    json.loads(told)


def test_a_long_argument_is_cut_and_the_others_are_whole() -> None:
    given_arguments = {"path": "/work/a.txt", "file_text": f"begin{'x' * 50_000}{SECRET} end"}
    told = json.loads(json_of(PLAIN, given_arguments, MOST))
    assert told["path"] == "/work/a.txt"
    assert told["file_text"].startswith("begin")
    assert told["file_text"].endswith(f"{MASK} end")
    assert "characters left out here" in told["file_text"]


def test_a_great_many_arguments_are_only_counted() -> None:
    told = json.loads(json_of(PLAIN, {f"name-{number}": number for number in range(5_000)}, MOST))
    assert list(told) == ["left_out"]
    assert told["left_out"].endswith("characters left out.")


@pytest.mark.parametrize(("given_name", "told"), [("bash", "bash"), ("b" * 300, f"{'b' * 255}…")])
def test_a_name_is_short(given_name: str, told: str) -> None:
    assert name_of(given_name) == told
