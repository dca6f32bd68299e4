"""Running a task: availability, the prompt, criteria and their retries, and what is reported."""

from collections.abc import Generator
from typing import Any

import pytest

from airboss.engine.acts import Act, ActRefused, Answer, Close, Crashed, Done, OpenAct, Opened, Put
from airboss.engine.task import Verdict, run_task
from airboss.model.ids import SessionId
from airboss.model.task_events import TaskChecked, TaskRetrying
from tests.engine.player import (
    DOCUMENT,
    FALSE,
    PREREQUISITE,
    TRUE,
    available,
    criteria,
    done,
    no,
    plan,
    play,
    yes,
)

ASK = "Is it good? job_boolean_true or job_boolean_false?"


def test_a_task_without_criteria_sends_its_prompt_in_one_session_and_succeeds() -> None:
    played = play(plan(), done())
    assert played.story == [
        "opens ses_1 on coder, driving",
        "[SESSION STARTED] Driving session ses_1 on coder.",
        "[OPERATION] Sends the prompt.",
        "puts prompt 0.1 to ses_1: Build it.",
        "closes ses_1, succeeded",
        "[TASK SUCCEEDED] The prompt was done.",
    ]
    assert played.verdict == Verdict(succeeded=True, reason="The prompt was done.")


def test_a_task_with_everything_in_one_session() -> None:
    played = play(
        plan(
            availability=available("design", condition="Is there a design? job_boolean_true"),
            criteria=criteria(DOCUMENT, condition=ASK, retries=2, more="Go on."),
            previous_tasks=("design",),
        ),
        yes("Here it is."),
        done(),
        no("Two tests fail."),
        done((DOCUMENT, "a.md")),
        yes("All green."),
    )
    assert played.story == [
        "[AVAILABILITY] availability.previousTasks holds: The last task before was design.",
        "opens ses_1 on coder, driving",
        "[SESSION STARTED] Driving session ses_1 on coder.",
        "[OPERATION] Asks availability.condition.",
        "puts availability 0.1 to ses_1: Is there a design? job_boolean_true",
        "[AVAILABILITY] availability.condition holds: Here it is.",
        "[OPERATION] Sends the prompt.",
        "puts prompt 0.1 to ses_1: Build it.",
        "[CRITERIA] criteria.toolExecuted does not hold.\n"
        "It says: job_prepare_document\n"
        "Reason: Not called: job_prepare_document.",
        "[OPERATION] Asks criteria.condition.",
        f"puts criteria 0.1 to ses_1: {ASK}",
        f"[CRITERIA] criteria.condition does not hold.\nIt says: {ASK}\nReason: Two tests fail.",
        "[DECISION] Retry 1 of 2.",
        "[OPERATION] Sends the prompt, retry 1 of 2.",
        "puts prompt 1.1 to ses_1: Build it.\n"
        "## Required Tool Not Called: job_prepare_document\n"
        "## You accidentally Stopped\n"
        "Go on.",
        "[CRITERIA] criteria.toolExecuted holds: All were called.",
        "[OPERATION] Asks criteria.condition, retry 1 of 2.",
        f"puts criteria 1.1 to ses_1: {ASK}",
        "[CRITERIA] criteria.condition holds: All green.",
        "closes ses_1, succeeded",
        "[TASK SUCCEEDED] The criteria hold after 1 retry.",
    ]


# Availability


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        ((), "No task ended before."),
        (("sketch",), "The last task before was sketch."),
        (("sketch", "paint"), "The last tasks before were sketch, paint."),
    ],
)
def test_previous_tasks_that_do_not_hold_fail_the_task_before_any_session(
    ended: tuple[str, ...], reason: str
) -> None:
    asked = available("design", "plan", condition=ASK)
    played = play(plan(availability=asked, previous_tasks=ended))
    assert played.checked == [
        TaskChecked(
            field="availability.previousTasks",
            round=0,
            holds=False,
            content="design, plan",
            reason=reason,
        )
    ]
    assert played.story == [
        "[AVAILABILITY] availability.previousTasks does not hold.\n"
        f"It says: design, plan\nReason: {reason}",
        f"[AVAILABILITY] job_prerequisite_failed: {reason}",
        f"[TASK FAILED] availability.previousTasks does not hold: {reason}",
    ]
    assert played.verdict == Verdict(
        succeeded=False, reason=f"availability.previousTasks does not hold: {reason}"
    )


@pytest.mark.parametrize("ended", [("plan",), ("sketch", "plan"), ("plan", "sketch")])
def test_previous_tasks_hold_when_any_that_ended_last_is_in_the_list(
    ended: tuple[str, ...],
) -> None:
    played = play(plan(availability=available("design", "plan"), previous_tasks=ended), done())
    assert [check.holds for check in played.checked] == [True]
    assert played.verdict.succeeded


def test_an_empty_list_of_previous_tasks_never_holds() -> None:
    empty = available().model_copy(update={"previous_tasks": ()})
    played = play(plan(availability=empty, previous_tasks=("plan",)))
    assert played.said[0].splitlines()[1] == "It says: nothing"
    assert not played.verdict.succeeded


def test_an_availability_without_fields_holds() -> None:
    assert play(plan(availability=available()), done()).verdict.succeeded


def test_an_availability_condition_that_does_not_hold_fails_the_task() -> None:
    played = play(plan(availability=available(condition=ASK)), no("No design."))
    assert played.story[-5:] == [
        f"puts availability 0.1 to ses_1: {ASK}",
        f"[AVAILABILITY] availability.condition does not hold.\nIt says: {ASK}\nReason: No design.",
        "[AVAILABILITY] job_prerequisite_failed: No design.",
        "closes ses_1, failed",
        "[TASK FAILED] availability.condition does not hold: No design.",
    ]


def test_a_condition_that_nobody_answered_does_not_hold_and_says_so() -> None:
    played = play(plan(availability=available(condition=ASK)), done((PREREQUISITE, "no")))
    reason = "Neither job_boolean_true nor job_boolean_false was called."
    assert played.checked == [
        TaskChecked(
            field="availability.condition", round=0, holds=False, content=ASK, reason=reason
        )
    ]
    assert played.verdict.reason == f"availability.condition does not hold: {reason}"


@pytest.mark.parametrize(
    ("calls", "holds", "reason"),
    [
        ([(TRUE, "a")], True, "a"),
        ([(FALSE, "a"), (TRUE, "b")], True, "b"),
        ([(TRUE, "a"), (FALSE, "b")], False, "b"),
        ([(TRUE, "a"), (DOCUMENT, "b"), (PREREQUISITE, "c")], True, "a"),
        ([(TRUE, " ")], True, "job_boolean_true was called without a reason."),
        ([(FALSE, "")], False, "job_boolean_false was called without a reason."),
    ],
)
def test_the_last_boolean_tool_decides_a_condition(
    calls: list[tuple[str, str]], holds: bool, reason: str
) -> None:
    before = play(plan(availability=available(condition=ASK)), *[done(*calls), done()][: 1 + holds])
    after = play(plan(criteria=criteria(condition=ASK)), done(), done(*calls))
    for played in (before, after):
        assert [(check.holds, check.reason) for check in played.checked] == [(holds, reason)]
        assert played.verdict.succeeded == holds


def test_availability_is_skipped_when_the_caller_says_so() -> None:
    asked = available("design", condition=ASK)
    played = play(plan(availability=asked, checks_availability=False), done())
    assert played.texts == ["Build it."]
    assert played.checked == []
    assert played.verdict.succeeded


# Criteria


def test_criteria_with_nothing_to_check_hold() -> None:
    played = play(plan(criteria=criteria(retries=3)), done())
    assert played.said[-1] == "[TASK SUCCEEDED] The criteria hold."


def test_tools_must_have_been_called_in_the_round_of_the_prompt() -> None:
    """Not while a condition was asked, and not in a round before."""
    played = play(
        plan(criteria=criteria(TRUE, DOCUMENT, condition=ASK, retries=1)),
        done((DOCUMENT, "a.md")),
        yes(),
        done((TRUE, "x")),
        yes(),
    )
    assert [check.reason for check in played.checked if "tool" in check.field] == [
        "Not called: job_boolean_true.",
        "Not called: job_prepare_document.",
    ]
    assert not played.verdict.succeeded


def test_missing_tools_are_named_in_the_order_of_the_file_and_once() -> None:
    tools = (PREREQUISITE, DOCUMENT, PREREQUISITE, TRUE, DOCUMENT)
    played = play(plan(criteria=criteria(*tools, retries=1)), yes(), done())
    assert played.checked[0] == TaskChecked(
        field="criteria.toolExecuted",
        round=0,
        holds=False,
        content=", ".join(tools),
        reason="Not called: job_prerequisite_failed, job_prepare_document.",
    )
    assert played.prompts[1] == (
        "Build it.\n## Required Tool Not Called: job_prerequisite_failed, job_prepare_document"
    )
    assert "job_boolean_true" in played.verdict.reason


def test_both_criteria_are_checked_even_when_the_first_fails() -> None:
    played = play(plan(criteria=criteria(DOCUMENT, condition=ASK)), done(), no("Bad."))
    assert [(check.field, check.holds) for check in played.checked] == [
        ("criteria.toolExecuted", False),
        ("criteria.condition", False),
    ]
    assert played.story[-2:] == [
        "closes ses_1, failed",
        "[TASK FAILED] criteria.toolExecuted does not hold: Not called: job_prepare_document. "
        "criteria.condition does not hold: Bad.",
    ]


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_a_task_fails_when_its_retries_are_spent(retries: int) -> None:
    answers = [done()] * (retries + 1)
    played = play(plan(criteria=criteria(DOCUMENT, retries=retries)), *answers)
    reason = "criteria.toolExecuted does not hold: Not called: job_prepare_document."
    assert played.retried == [
        TaskRetrying(retry=number + 1, of=retries, reason=reason) for number in range(retries)
    ]
    after = {0: "", 1: "After 1 retry: ", 3: "After 3 retries: "}[retries]
    assert played.said[-1] == f"[TASK FAILED] {after}{reason}"
    assert played.verdict == Verdict(succeeded=False, reason=f"{after}{reason}")


@pytest.mark.parametrize("needed", [0, 1, 2, 3])
def test_a_task_succeeds_on_the_retry_that_meets_its_criteria(needed: int) -> None:
    rounds = [done()] * needed + [done((DOCUMENT, "a.md"))]
    played = play(plan(criteria=criteria(DOCUMENT, retries=3)), *rounds)
    assert [retry.retry for retry in played.retried] == [*range(1, needed + 1)]
    assert [check.round for check in played.checked] == [*range(needed + 1)]
    assert played.verdict.succeeded
    after = ["", " after 1 retry", " after 2 retries", " after 3 retries"][needed]
    assert played.said[-1] == f"[TASK SUCCEEDED] The criteria hold{after}."


@pytest.mark.parametrize(
    ("tools", "more", "lines"),
    [
        ((), None, []),
        ((DOCUMENT,), None, ["## Required Tool Not Called: job_prepare_document"]),
        ((), "Go on.\nAt once.", ["## You accidentally Stopped", "Go on.", "At once."]),
        (
            (DOCUMENT,),
            "Go on.",
            [
                "## Required Tool Not Called: job_prepare_document",
                "## You accidentally Stopped",
                "Go on.",
            ],
        ),
        ((), "", ["## You accidentally Stopped", ""]),
    ],
)
def test_a_retry_adds_the_lines_that_apply(
    tools: tuple[str, ...], more: str | None, lines: list[str]
) -> None:
    asked = criteria(*tools, condition=ASK, retries=1, more=more)
    played = play(plan("One.\nTwo.", criteria=asked), done(), no(), done((DOCUMENT, "a")), yes())
    assert played.prompts == ["One.\nTwo.", "\n".join(["One.", "Two.", *lines])]


def test_a_tool_that_was_called_in_the_last_round_is_not_asked_for_again() -> None:
    played = play(
        plan(criteria=criteria(DOCUMENT, condition=ASK, retries=2)),
        *(done(), no()),
        *(done((DOCUMENT, "a.md")), no()),
        *(done((DOCUMENT, "a.md")), yes()),
    )
    assert played.prompts[1:] == [
        "Build it.\n## Required Tool Not Called: job_prepare_document",
        "Build it.",
    ]


# What is reported


def test_a_failed_prerequisite_is_told_and_changes_nothing() -> None:
    played = play(plan(), done((PREREQUISITE, "No key."), (DOCUMENT, "a"), (PREREQUISITE, "2nd.")))
    assert played.said[2:] == [
        "[MISC] job_prerequisite_failed: No key.",
        "[MISC] job_prerequisite_failed: 2nd.",
        "[TASK SUCCEEDED] The prompt was done.",
    ]


EVERYTHING = (
    "$user-input|$task-model|$reported-document|$reported-true-reason|$reported-false-reason"
)


def test_variables_have_the_values_that_were_reported_before_each_sending() -> None:
    played = play(
        plan(
            EVERYTHING,
            availability=available(condition=f"a: {EVERYTHING}"),
            criteria=criteria(condition=f"c: {EVERYTHING}", retries=2, more=f"m: {EVERYTHING}"),
            user_input="$task-model!",
        ),
        yes("ready"),
        done((DOCUMENT, "  a.md \r\nand more")),
        no("bad"),
        done((DOCUMENT, "b.md"), (DOCUMENT, "c.md")),
        done((TRUE, "first"), (FALSE, "worse")),
        done((TRUE, "good")),
        yes("fine"),
    )
    none = "<MISSING>"
    start = "$task-model!|coder"
    stopped = "## You accidentally Stopped"
    assert played.texts == [
        f"a: {start}|{none}|{none}|{none}",
        f"{start}|{none}|ready|{none}",
        f"c: {start}|a.md|ready|{none}",
        f"{start}|a.md|{none}|bad\n{stopped}\nm: {start}|a.md|{none}|bad",
        f"c: {start}|c.md|{none}|bad",
        f"{start}|c.md|{none}|worse\n{stopped}\nm: {start}|c.md|{none}|worse",
        f"c: {start}|c.md|good|{none}",
    ]


@pytest.mark.parametrize(("given", "sent"), [("", "<MISSING>"), (" ", " "), ("it", "it")])
def test_an_input_that_is_empty_is_missing(given: str, sent: str) -> None:
    assert play(plan("Do: $user-input", user_input=given), done()).texts == [f"Do: {sent}"]


def test_a_condition_is_shown_as_it_is_written() -> None:
    asked = criteria(condition="Is $reported-document good? job_boolean_true")
    played = play(plan(criteria=asked), done((DOCUMENT, "a.md")), no())
    assert played.texts[1] == "Is a.md good? job_boolean_true"
    assert played.checked[0].content == "Is $reported-document good? job_boolean_true"


# The sequence as a generator


def until(kind: type[Act]) -> Generator[Act, Answer, Verdict]:
    """A sequence that stands right at an act of this kind."""
    sequence = run_task(plan(criteria=criteria(retries=1)))
    act = next(sequence)
    while not isinstance(act, kind):
        if isinstance(act, OpenAct):
            act = sequence.send(Opened(SessionId("ses_1")))
        else:
            act = sequence.send(Done() if isinstance(act, Put) else None)
    return sequence


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        *((OpenAct, answer) for answer in (None, Done(), "ses_1")),
        *((Put, answer) for answer in (None, Opened(SessionId("ses_1")), ())),
        *((Close, answer) for answer in (Done(), Crashed("x"), False)),
    ],
)
def test_an_answer_that_does_not_fit_the_act_is_an_error(kind: type[Act], answer: Any) -> None:
    with pytest.raises(TypeError, match=f"{kind.__name__} cannot be answered by "):
        until(kind).send(answer)


def test_telling_is_answered_by_nothing() -> None:
    sequence = run_task(plan())
    next(sequence)
    sequence.send(Opened(SessionId("ses_1")))
    with pytest.raises(TypeError, match=r"Tell cannot be answered by ActRefused\."):
        sequence.send(ActRefused("no"))


@pytest.mark.parametrize("kind", [OpenAct, Put, Close])
def test_a_stopped_sequence_does_nothing_more(kind: type[Act]) -> None:
    until(kind).close()


def test_an_error_of_the_engine_passes_through() -> None:
    with pytest.raises(OSError, match="disk"):
        until(Put).throw(OSError("disk"))
