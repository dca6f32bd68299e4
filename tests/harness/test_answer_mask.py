"""Keys that a service repeats in its answer: covered, however the answer is cut into pieces."""

import pytest

from airboss.harness.answer_mask import AnswerMask

KEY = "key-of-the-house"


@pytest.mark.parametrize("length", [1, 2, 3, 7, 1_000])
def test_a_key_is_covered_by_as_many_letters_however_it_is_cut(length: int) -> None:
    text = f"ke key-of {KEY} key-of-the-{KEY}{KEY}, key-of-the-hous".encode()
    mask = AnswerMask((KEY, "short"))
    told = b"".join(mask.feed(text[at : at + length]) for at in range(0, len(text), length))
    told += mask.finish()
    assert told == text.replace(KEY.encode(), b"*" * len(KEY))
    assert len(told) == len(text)


def test_a_key_is_covered_as_json_writes_it_too() -> None:
    mask = AnswerMask(('a/b"c\\defgh',))
    assert mask.feed(rb'"a/b\"c\\defgh" "a\/b\"c\\defgh" ') == b'"' + b"*" * 13 + b'" "' + (
        b"*" * 14 + b'" '
    )


def test_a_word_that_stands_for_a_key_stays_in_what_a_model_writes() -> None:
    said, key = b"use lm-studio here", "key-of-the-house-0123"
    assert AnswerMask(("lm-studio",), is_error=False).feed(said) == said
    assert AnswerMask(("lm-studio",)).feed(said) == b"use ********* here"
    assert AnswerMask((key,), is_error=False).feed(key.encode()) == b"*" * len(key)


def test_what_cannot_begin_a_key_is_told_at_once() -> None:
    mask = AnswerMask((KEY,))
    assert mask.feed(b"data: hello\n\n") == b"data: hello\n\n"
    assert (mask.feed(b"my key"), mask.feed(b"hole")) == (b"my ", b"keyhole")
    assert AnswerMask().feed(KEY.encode()) == KEY.encode()
