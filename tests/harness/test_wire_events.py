"""The events of an answer, in the words of each wire."""

from typing import Any

import pytest

from airboss.harness.wire_events import has_word, is_end, usage_in

EVENTS: list[tuple[dict[str, Any], bool, bool]] = [
    ({"choices": [{"delta": {"role": "assistant", "content": ""}}]}, False, False),
    ({"choices": [{"delta": {"content": "a"}}]}, True, False),
    ({"choices": [{"delta": {"reasoning_content": "a"}}]}, True, False),
    ({"choices": [{"delta": {}, "finish_reason": "stop"}]}, False, True),
    ({"choices": [], "usage": {}}, False, False),
    ({"type": "[DONE]"}, False, True),
    ({"type": "response.output_text.delta", "delta": "a"}, True, False),
    ({"type": "response.completed", "response": {}}, False, True),
    ({"type": "content_block_delta", "delta": {"text": "a"}}, True, False),
    ({"type": "message_stop"}, False, True),
    ({"type": "whole", "choices": [{"message": {}}]}, True, True),
    ({"type": "whole"}, False, True),
]


@pytest.mark.parametrize(("said", "word", "end"), EVENTS)
def test_the_first_word_and_the_end_are_known(
    said: dict[str, Any], *, word: bool, end: bool
) -> None:
    assert (has_word(said), is_end(said)) == (word, end)


def test_tokens_are_counted_wherever_they_are_told() -> None:
    assert usage_in({"usage": {"prompt_tokens": 2, "completion_tokens": 3, "x": 9}}) == {
        "prompt_tokens": 2,
        "completion_tokens": 3,
    }
    assert usage_in({"response": {"usage": {"input_tokens": 5}}}) == {"input_tokens": 5}
    assert usage_in({"message": {"usage": {"output_tokens": "many"}}}) == {}
    assert usage_in({}) == {}
