"""The words of decisions: which retry and which attempt, and the reasons of others at the end."""

import pytest

from airboss.engine import decisions
from airboss.engine.acts import OpenAct
from airboss.engine.decisions import Tried
from airboss.model.ids import SessionId
from airboss.model.task_events import TaskChecked, TaskRetrying

DRIVING, CODER = OpenAct("driver", is_driving=True), OpenAct("coder", is_driving=False)
SESSION = SessionId("ses_1")


@pytest.mark.parametrize(
    ("tried", "retry", "words"),
    [
        (Tried(again=False, number=1, of=5), 0, "Sends the prompt."),
        (Tried(again=True, number=2, of=5), 0, "Sends the prompt again, attempt 2 of 5."),
        (Tried(again=False, number=1, of=5), 1, "Sends the prompt, retry 1 of 3."),
        (
            Tried(again=True, number=2, of=2),
            1,
            "Sends the prompt again, retry 1 of 3, attempt 2 of 2.",
        ),
    ],
)
def test_an_operation_says_which_retry_and_attempt_it_is(
    tried: Tried, retry: int, words: str
) -> None:
    assert decisions.operation("prompt", tried, retry, 3).text == f"[OPERATION] {words}"


def test_a_session_is_named_by_what_it_does() -> None:
    started = decisions.session_started(DRIVING, SESSION).text
    assert started == "[SESSION STARTED] Driving session ses_1 on driver."
    missing = decisions.session_not_opened(CODER, "No model.").text
    assert missing == "[SESSION CRASHED] No task session on coder could be opened: No model."


def test_a_check_that_fails_says_the_field_what_it_holds_and_why() -> None:
    check = TaskChecked(
        field="criteria.condition", round=0, holds=False, content="Is it?", reason="No."
    )
    said = decisions.checked(check).text
    assert said == "[CRITERIA] criteria.condition does not hold.\nIt says: Is it?\nReason: No."
    unasked = check.model_copy(update={"unasked": True, "content": ""})
    assert "could not be checked.\nIt says: nothing" in decisions.checked(unasked).text
    assert decisions.unmet(unasked) == "criteria.condition could not be checked: No."
    held = check.model_copy(update={"holds": True})
    assert decisions.checked(held).text == "[CRITERIA] criteria.condition holds: No."


def test_a_retry_says_what_it_is_for() -> None:
    retry = TaskRetrying(retry=1, of=2, reason="x", unasked=True)
    assert decisions.retrying(retry).text == (
        "[DECISION] Retry 1 of 2, since the last round could not be completed."
    )
    assert decisions.retry_spent(retry, "It crashed.").text.endswith("is spent: It crashed.")
    assert [decisions.counted_retries(count) for count in (1, 2)] == ["1 retry", "2 retries"]


def test_what_is_exhausted_counts_its_crashes() -> None:
    said = decisions.exhausted("prompt", 5, "gone")
    assert said == "The prompt is exhausted after 5 crashes in a row, the last: gone"
    assert decisions.exhausted("criteria", 1, "gone") == "1 crash, the last: gone"
