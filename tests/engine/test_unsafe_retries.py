"""Crashes after which another attempt may do the same twice: tried again, asked about, failed."""

import pytest

from airboss.engine.acts import AskRetry, Crashed, RetryWord
from airboss.engine.task import Verdict
from airboss.session_keys import OnUnsafeRetry
from tests.engine.player import BORROWED, criteria, done, driving, no, plan, play, yes

USED_BASH = Crashed("gone", effects=("bash",))
USED_MORE = Crashed("gone", effects=("edit", "bash"))
YES = RetryWord(again=True, who="lx")
NO = RetryWord(again=False, who="lx")
FAILED = (
    "The session crashed after it had used bash. A retry may do that again, and onUnsafeRetry is "
    "fail. The crash: gone"
)


def unasked(reason: str) -> Verdict:
    return Verdict(succeeded=False, reason=reason, unasked=True)


@pytest.mark.parametrize("word", [None, "retry"])
def test_without_the_key_it_is_tried_again_and_told(word: OnUnsafeRetry | None) -> None:
    played = play(plan(on_unsafe_retry=word), USED_BASH, done())
    assert played.verdict.succeeded
    assert any(one.endswith("it had used bash, and may do so again.") for one in played.said)


@pytest.mark.parametrize("word", ["ask", "fail"])
def test_what_had_no_effects_is_tried_again_in_any_case(word: OnUnsafeRetry) -> None:
    played = play(plan(on_unsafe_retry=word), Crashed("gone"), done())
    assert played.verdict.succeeded
    assert len(played.opened) == 2


def test_fail_ends_the_task_at_the_first_such_crash() -> None:
    given = plan(on_unsafe_retry="fail", criteria=criteria(condition="Good?", retries=3))
    played = play(given, Crashed("gone"), USED_BASH)
    assert played.verdict == unasked(FAILED)
    assert played.story[-2:] == ["closes ses_2, failed", f"[TASK FAILED] {FAILED}"]


def test_fail_in_a_condition_says_which_and_leaves_its_retries() -> None:
    given = plan(on_unsafe_retry="fail", criteria=criteria(condition="Good?", retries=3))
    played = play(given, done(), USED_BASH)
    assert played.verdict == unasked(f"criteria.condition could not be checked: {FAILED}")
    assert played.retried == []


def test_ask_waits_for_a_person_before_the_session_is_replaced() -> None:
    played = play(plan(on_unsafe_retry="ask"), USED_BASH, YES, USED_MORE, YES, done())
    assert played.verdict.succeeded
    again = played.story.index("asks whether to do bash again in place of ses_1")
    assert played.story[again - 1 : again + 3] == [
        "[DECISION] Asks a person whether to try again: it had used bash.",
        "asks whether to do bash again in place of ses_1",
        "[DECISION] Tries again, as lx said.",
        "closes ses_1, failed",
    ]
    # What earlier attempts did may be done again, too.
    assert "asks whether to do bash, edit again in place of ses_2" in played.story


@pytest.mark.parametrize("retries", [0, 2])
def test_a_no_fails_the_task_and_nothing_else_is_tried(retries: int) -> None:
    given = plan(on_unsafe_retry="ask", criteria=criteria(condition="Good?", retries=retries))
    reason = "Stopped by lx after a crash. It had used bash. The crash: gone"
    for answers in ([USED_BASH, NO], [done(), USED_BASH, NO]):
        played = play(given, *answers)
        assert played.verdict == Verdict(succeeded=False, reason=reason)
        assert played.story[-2] == "closes ses_1, failed"


def test_a_question_that_was_withdrawn_is_a_no() -> None:
    played = play(plan(on_unsafe_retry="ask"), USED_BASH, RetryWord(again=False))
    assert "since the question was withdrawn" in played.verdict.reason


def test_nobody_is_asked_where_no_attempt_is_left() -> None:
    crashes = [Crashed("gone")] * 4
    played = play(plan(on_unsafe_retry="ask"), *crashes, USED_BASH)
    assert not played.verdict.succeeded
    # A restart of the server costs no attempt.
    restart = Crashed("gone", is_restart=True, effects=("bash",))
    assert play(plan(on_unsafe_retry="ask"), *crashes, restart, YES, done()).verdict.succeeded


def test_somebody_is_asked_at_the_last_attempt_where_a_retry_of_the_criteria_follows() -> None:
    given = plan(
        on_unsafe_retry="ask",
        criteria=criteria(condition="Good?", same=False, retries=1),
        driving_retries=driving(("driver", 1)),
    )
    played = play(given, done(), USED_BASH, YES, done(), yes())
    assert played.verdict.succeeded
    assert sum(isinstance(act, AskRetry) for act in played.acts) == 1
    played = play(given, done(), no(), done(), USED_BASH)
    assert sum(isinstance(act, AskRetry) for act in played.acts) == 0


@pytest.mark.parametrize("word", ["ask", "fail"])
def test_a_lent_session_is_not_replaced_whatever_the_key_says(word: OnUnsafeRetry) -> None:
    played = play(plan(on_unsafe_retry=word, borrowed=BORROWED), USED_BASH)
    assert played.verdict == unasked("The borrowed session crashed: gone")
