"""What availability and criteria come to, given the facts."""

import pytest

from airboss.engine import checks
from airboss.model.task_events import ToolCall

TRUE, FALSE = "job_boolean_true", "job_boolean_false"


def calls(*said: tuple[str, str]) -> list[ToolCall]:
    return [ToolCall(tool=tool, argument=argument) for tool, argument in said]


@pytest.mark.parametrize(
    ("ended", "holds", "reason"),
    [
        ((), False, "No task ended before."),
        (("plan",), True, "The last task before was plan."),
        (("build", "plan"), True, "The last tasks before were build, plan."),
        (("build",), False, "The last task before was build."),
    ],
)
def test_one_of_the_named_tasks_has_to_be_among_those_that_ended_last(
    ended: tuple[str, ...], holds: bool, reason: str
) -> None:
    check = checks.check_previous_tasks(("plan", "look"), ended)
    assert (check.holds, check.reason, check.content) == (holds, reason, "plan, look")


@pytest.mark.parametrize(
    ("said", "holds", "reason"),
    [
        ((), False, f"Neither {TRUE} nor {FALSE} was called."),
        (((TRUE, "It is."),), True, "It is."),
        (((TRUE, "It is."), (FALSE, "It is not.")), False, "It is not."),
        (((FALSE, "no"), ("job_prepare_document", "x"), (TRUE, "yes")), True, "yes"),
        (((TRUE, " "),), True, f"{TRUE} was called without a reason."),
    ],
)
def test_the_last_word_on_a_condition_counts_and_silence_is_no(
    said: tuple[tuple[str, str], ...], holds: bool, reason: str
) -> None:
    check = checks.check_condition("criteria", ("Is it", "so?"), calls(*said), retry=2)
    assert (check.holds, check.reason, check.round) == (holds, reason, 2)
    assert (check.field, check.content) == ("criteria.condition", "Is it\nso?")


def test_a_condition_that_could_not_be_asked_is_neither_true_nor_false() -> None:
    check = checks.check_unasked("availability", ("Is it so?",), "5 crashes.")
    assert (check.unasked, check.holds, check.reason) == (True, False, "5 crashes.")


def test_tools_that_were_not_called_are_named_once_in_the_order_of_the_file() -> None:
    named = ("b", "a", "b", "c")
    missing = checks.missing_tools(named, calls(("a", "")))
    assert missing == ("b", "c")
    assert checks.check_tools(named, missing, 0).reason == "Not called: b, c."
    assert checks.check_tools(named, (), 1).holds
