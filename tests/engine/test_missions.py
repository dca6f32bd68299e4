"""Missions and their sessions: one, several or a borrowed one; crashes, refusals and budgets."""

from itertools import islice
from typing import Any

import pytest

from airboss.engine.acts import ActRefused, Answer, Crashed, Done, OpenAct
from airboss.engine.missions import Tries
from airboss.engine.task import TaskPlan, Verdict
from tests.engine.player import (
    AGAIN,
    BORROWED,
    CRASH,
    DOCUMENT,
    FALSE,
    REFUSAL,
    TRUE,
    available,
    criteria,
    done,
    driving,
    no,
    plan,
    play,
    yes,
)

READY = "Ready? job_boolean_true"
GOOD = "Good? job_boolean_true"
GIVEN = {"availability": READY, "prompt": "Build it.", "criteria": GOOD}


def full(*, same: bool | None = None, retries: int = 0, **more: Any) -> TaskPlan:
    """A task with one mission of each kind."""
    return plan(
        availability=available(condition=READY),
        criteria=criteria(condition=GOOD, same=same, retries=retries),
        **more,
    )


# What goes well, up to each mission.
BEFORE: dict[str, list[Done]] = {
    "availability": [],
    "prompt": [yes()],
    "criteria": [yes(), done()],
}
# What a failure of each mission comes to, in words, behind what the check of a condition says.
MISSED = {kind: f"{kind}.condition could not be checked: " for kind in ("availability", "criteria")}


def checked(kind: str, why: str) -> list[str]:
    if kind == "prompt":
        return []
    told = f"{kind}.condition could not be checked.\nIt says: {GIVEN[kind]}\nReason: {why}"
    return [f"[{kind.upper()}] {told}"]


def unasked(reason: str) -> Verdict:
    return Verdict(succeeded=False, reason=reason, unasked=True)


EACH = pytest.mark.parametrize("kind", ["availability", "prompt", "criteria"])


# One session


@pytest.mark.parametrize("same", [None, True])
def test_one_session_does_everything_on_the_task_model(same: bool | None) -> None:
    played = play(full(same=same, retries=1), yes(), done(), no(), done(), yes())
    assert [line for line in played.story if not line.startswith("[")] == [
        "opens ses_1 on coder, driving",
        f"puts availability 0.1 to ses_1: {READY}",
        "puts prompt 0.1 to ses_1: Build it.",
        f"puts criteria 0.1 to ses_1: {GOOD}",
        "puts prompt 1.1 to ses_1: Build it.",
        f"puts criteria 1.1 to ses_1: {GOOD}",
        "closes ses_1, succeeded",
    ]


def test_a_session_that_crashed_is_replaced_and_asked_again() -> None:
    played = play(plan(), CRASH, done())
    assert played.story == [
        "opens ses_1 on coder, driving",
        "[SESSION STARTED] Driving session ses_1 on coder.",
        "[OPERATION] Sends the prompt.",
        "puts prompt 0.1 to ses_1: Build it.",
        "[SESSION CRASHED] Driving session ses_1: gone",
        "closes ses_1, failed",
        "opens ses_2 on coder, driving",
        "[SESSION STARTED] Driving session ses_2 on coder.",
        "[OPERATION] Sends the prompt again, attempt 2 of 5.",
        f"puts prompt 0.2 to ses_2: {AGAIN}Build it.",
        "closes ses_2, succeeded",
        "[TASK SUCCEEDED] The prompt was done.",
    ]


def test_a_task_that_began_by_the_first_rules_is_played_by_them_to_its_end() -> None:
    opens: dict[int, Answer] = {1: Crashed("no runtime")}
    assert play(plan(rules=1), CRASH, done(), opens=opens).story == [
        "[OPERATION] Sends the prompt.",
        "opens nothing on coder, driving",
        "[SESSION CRASHED] No driving session on coder could be opened: no runtime",
        "[OPERATION] Sends the prompt again, attempt 2 of 5.",
        "opens ses_2 on coder, driving",
        "[SESSION STARTED] Driving session ses_2 on coder.",
        f"puts prompt 0.2 to ses_2: {AGAIN}Build it.",
        "[SESSION CRASHED] Driving session ses_2: gone",
        "closes ses_2, failed",
        "[OPERATION] Sends the prompt again, attempt 3 of 5.",
        "opens ses_3 on coder, driving",
        "[SESSION STARTED] Driving session ses_3 on coder.",
        f"puts prompt 0.3 to ses_3: {AGAIN}Build it.",
        "closes ses_3, succeeded",
        "[TASK SUCCEEDED] The prompt was done.",
    ]


@EACH
def test_a_crash_in_any_mission_sends_that_mission_again(kind: str) -> None:
    rest = [yes(), done(), yes()][len(BEFORE[kind]) :]
    played = play(full(), *BEFORE[kind], CRASH, *rest)
    texts = [GIVEN["availability"], GIVEN["prompt"], GIVEN["criteria"]]
    texts.insert(len(BEFORE[kind]) + 1, AGAIN + GIVEN[kind])
    assert played.texts == texts
    assert played.verdict.succeeded
    assert [line for line in played.story if line.startswith("closes")] == [
        "closes ses_1, failed",
        "closes ses_2, succeeded",
    ]


@EACH
def test_five_crashes_in_a_row_where_no_retry_is_left_fail_the_task(kind: str) -> None:
    crashes = [Crashed(f"gone {number}") for number in range(1, 6)]
    played = play(full(), *BEFORE[kind], *crashes)
    assert played.texts[-5:] == [GIVEN[kind], *[AGAIN + GIVEN[kind]] * 4]
    why = "5 crashes in a row, the last: gone 5"
    reason = MISSED.get(kind, "The prompt is exhausted after ") + why
    assert played.story[-3 - (kind != "prompt") :] == [
        "[SESSION CRASHED] Driving session ses_5: gone 5",
        "closes ses_5, failed",
        *checked(kind, why),
        f"[TASK FAILED] {reason}",
    ]
    assert played.verdict == unasked(reason)
    assert played.opened == ["coder"] * 5


@pytest.mark.parametrize("kind", ["availability", "prompt"])
def test_what_crashes_before_there_is_something_to_check_costs_no_retry(kind: str) -> None:
    played = play(full(retries=3), *BEFORE[kind], *[CRASH] * 5)
    assert not played.verdict.succeeded
    assert played.retried == []


def test_four_crashes_in_a_row_are_survived_by_each_mission() -> None:
    played = play(full(), *[CRASH] * 4, yes(), *[CRASH] * 4, done(), *[CRASH] * 4, yes())
    assert played.verdict.succeeded


def test_a_session_that_cannot_be_opened_counts_as_a_crash() -> None:
    played = play(plan(), done(), opens={1: Crashed("no runtime")})
    assert played.story == [
        "opens nothing on coder, driving",
        "[OPERATION] Sends the prompt.",
        "[SESSION CRASHED] No driving session on coder could be opened: no runtime",
        "opens ses_2 on coder, driving",
        "[SESSION STARTED] Driving session ses_2 on coder.",
        "[OPERATION] Sends the prompt again, attempt 2 of 5.",
        f"puts prompt 0.2 to ses_2: {AGAIN}Build it.",
        "closes ses_2, succeeded",
        "[TASK SUCCEEDED] The prompt was done.",
    ]


def test_crashes_of_opening_and_of_sending_are_counted_together() -> None:
    opens: dict[int, Answer] = {1: CRASH, 3: CRASH, 5: Crashed("no runtime")}
    played = play(plan(), CRASH, CRASH, opens=opens)
    assert played.story[-2:] == [
        "[SESSION CRASHED] No driving session on coder could be opened: no runtime",
        "[TASK FAILED] The prompt is exhausted after 5 crashes in a row, the last: no runtime",
    ]
    assert len(played.opened) == 5


# Crashes in a criteria's retry


def test_a_crash_in_a_retry_keeps_the_lines_of_the_retry() -> None:
    asked = criteria(DOCUMENT, retries=1, more="Go on with $reported-document.")
    played = play(plan(criteria=asked), done(), CRASH, done((DOCUMENT, "a.md")))
    retry = (
        "Build it.\n"
        "## Required Tool Not Called: job_prepare_document\n"
        "## You accidentally Stopped\n"
        "Go on with <MISSING>."
    )
    assert played.texts == ["Build it.", retry, AGAIN + retry]
    assert "[OPERATION] Sends the prompt again, retry 1 of 1, attempt 2 of 5." in played.said
    assert played.verdict.succeeded


def test_an_exhausted_prompt_costs_only_its_retry() -> None:
    asked = criteria(DOCUMENT, retries=2)
    played = play(plan(criteria=asked), done(), *[CRASH] * 5, done((DOCUMENT, "a.md")))
    reason = "The prompt is exhausted after 5 crashes in a row, the last: gone"
    assert [(retry.retry, retry.reason) for retry in played.retried] == [
        (1, "criteria.toolExecuted does not hold: Not called: job_prepare_document."),
        (2, reason),
    ]
    assert played.story[-11:] == [
        "[SESSION CRASHED] Driving session ses_5: gone",
        "closes ses_5, failed",
        f"[DECISION] Retry 1 of 2 is spent: {reason}",
        "[DECISION] Retry 2 of 2, since the last round could not be completed.",
        "opens ses_6 on coder, driving",
        "[SESSION STARTED] Driving session ses_6 on coder.",
        "[OPERATION] Sends the prompt, retry 2 of 2.",
        "puts prompt 2.1 to ses_6: Build it.\n## Required Tool Not Called: job_prepare_document",
        "[CRITERIA] criteria.toolExecuted holds: All were called.",
        "closes ses_6, succeeded",
        "[TASK SUCCEEDED] The criteria hold after 2 retries.",
    ]


def test_an_exhausted_condition_costs_only_its_retry() -> None:
    asked = criteria(DOCUMENT, condition=GOOD, retries=2)
    found = done((DOCUMENT, "a.md"))
    played = play(plan(criteria=asked), *(done(), no()), *(found, *[CRASH] * 5), *(done(), yes()))
    assert checked("criteria", "5 crashes in a row, the last: gone")[0] in played.said
    assert played.said.count(
        "[DECISION] Retry 2 of 2, since the last round could not be completed."
    )
    # The tools were checked in the retry that was spent: none was missing then.
    assert [text for text in played.prompts if AGAIN not in text] == [
        "Build it.",
        "Build it.\n## Required Tool Not Called: job_prepare_document",
        "Build it.",
    ]
    told = [(check.field, check.round, check.holds, check.unasked) for check in played.checked]
    assert told == [
        ("criteria.toolExecuted", 0, False, False),
        ("criteria.condition", 0, False, False),
        ("criteria.toolExecuted", 1, True, False),
        ("criteria.condition", 1, False, True),
        ("criteria.toolExecuted", 2, False, False),
        ("criteria.condition", 2, True, False),
    ]
    assert [retry.unasked for retry in played.retried] == [False, True]
    assert not played.verdict.succeeded


def test_the_last_retry_exhausted_fails_the_task() -> None:
    played = play(plan(criteria=criteria(DOCUMENT, retries=1)), done(), *[CRASH] * 5)
    reason = "The prompt is exhausted after 5 crashes in a row, the last: gone"
    assert played.said[-2:] == [
        f"[DECISION] Retry 1 of 1 is spent: {reason}",
        f"[TASK FAILED] After 1 retry: {reason}",
    ]


# Several models


def test_with_several_models_each_mission_has_a_session_of_its_own() -> None:
    played = play(full(same=False, retries=1), yes(), done(), no("Bad."), done(), yes())
    assert played.story == [
        "opens ses_1 on driver, driving",
        "[SESSION STARTED] Driving session ses_1 on driver.",
        "[OPERATION] Asks availability.condition.",
        f"puts availability 0.1 to ses_1: {READY}",
        "closes ses_1, succeeded",
        "[AVAILABILITY] availability.condition holds: It is.",
        "opens ses_2 on coder",
        "[SESSION STARTED] Task session ses_2 on coder.",
        "[OPERATION] Sends the prompt.",
        "puts prompt 0.1 to ses_2: Build it.",
        "closes ses_2, succeeded",
        "opens ses_3 on driver, driving",
        "[SESSION STARTED] Driving session ses_3 on driver.",
        "[OPERATION] Asks criteria.condition.",
        f"puts criteria 0.1 to ses_3: {GOOD}",
        "closes ses_3, failed",
        f"[CRITERIA] criteria.condition does not hold.\nIt says: {GOOD}\nReason: Bad.",
        "[DECISION] Retry 1 of 1.",
        "opens ses_4 on coder",
        "[SESSION STARTED] Task session ses_4 on coder.",
        "[OPERATION] Sends the prompt, retry 1 of 1.",
        "puts prompt 1.1 to ses_4: Build it.",
        "closes ses_4, succeeded",
        "opens ses_5 on driver, driving",
        "[SESSION STARTED] Driving session ses_5 on driver.",
        "[OPERATION] Asks criteria.condition, retry 1 of 1.",
        f"puts criteria 1.1 to ses_5: {GOOD}",
        "closes ses_5, succeeded",
        "[CRITERIA] criteria.condition holds: It is.",
        "[TASK SUCCEEDED] The criteria hold after 1 retry.",
    ]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (yes(), "succeeded"),
        (no(), "failed"),
        (done(), "failed"),
        (done((TRUE, ""), (FALSE, "")), "failed"),
        (done((FALSE, ""), (DOCUMENT, "a.md"), (TRUE, "")), "succeeded"),
    ],
)
def test_a_driving_session_ends_as_its_condition_does(answer: Done, outcome: str) -> None:
    asked = criteria(condition=GOOD, same=False)
    played = play(plan(criteria=asked), done(), answer)
    assert [line for line in played.story if line.startswith("closes")] == [
        "closes ses_1, succeeded",
        f"closes ses_2, {outcome}",
    ]
    assert played.verdict.succeeded == (outcome == "succeeded")


def test_several_models_without_a_condition_still_send_the_prompt_in_a_task_session() -> None:
    played = play(plan(criteria=criteria(DOCUMENT, same=False)), done())
    assert played.story[:5] == [
        "opens ses_1 on coder",
        "[SESSION STARTED] Task session ses_1 on coder.",
        "[OPERATION] Sends the prompt.",
        "puts prompt 0.1 to ses_1: Build it.",
        "closes ses_1, succeeded",
    ]
    assert not played.verdict.succeeded


@EACH
def test_with_several_models_a_crash_opens_a_session_of_the_same_kind(kind: str) -> None:
    rest = [yes(), done(), yes()][len(BEFORE[kind]) :]
    played = play(full(same=False), *BEFORE[kind], CRASH, *rest)
    models = ["driver", "coder", "driver"]
    models.insert(len(BEFORE[kind]), models[len(BEFORE[kind])])
    assert played.opened == models
    closed = [line for line in played.story if line.startswith("closes")]
    assert [line.endswith("succeeded") for line in closed] == [
        number != len(BEFORE[kind]) for number in range(4)
    ]
    assert played.verdict.succeeded


@EACH
def test_with_several_models_five_crashes_exhaust_too(kind: str) -> None:
    played = play(full(same=False), *BEFORE[kind], *[CRASH] * 5)
    assert played.verdict.reason.endswith("5 crashes in a row, the last: gone")
    assert played.verdict.unasked
    assert played.opened[-5:] == ["coder" if kind == "prompt" else "driver"] * 5


# The driving sessions' own budgets


@pytest.mark.parametrize(
    ("budgets", "order"),
    [
        ([("A", 3), ("B", 1)], "ABAA"),
        ([("A", 1), ("B", 3)], "ABBB"),
        ([("A", 2), ("B", 0), ("C", 2)], "ACAC"),
        ([("A", 0), ("B", 1)], "B"),
        ([("A", 1)], "A"),
        ([("A", 7)], "AAAAAAA"),
        ([("A", 1), ("A", 1)], "AA"),
    ],
)
def test_driving_retries_go_over_the_list_in_rounds(
    budgets: list[tuple[str, int]], order: str
) -> None:
    made = full(same=False, driving_retries=driving(*budgets))
    played = play(made, *[CRASH] * len(order))
    assert "".join(played.opened) == order
    assert played.texts == [READY, *[AGAIN + READY] * (len(order) - 1)]
    crashes = "1 crash" if len(order) == 1 else f"{len(order)} crashes in a row"
    assert played.verdict.reason == (
        f"availability.condition could not be checked: {crashes}, the last: gone"
    )


def test_driving_retries_begin_anew_with_each_condition() -> None:
    made = full(same=False, retries=1, driving_retries=driving(("A", 1), ("B", 1)))
    played = play(made, CRASH, yes(), done(), CRASH, no(), CRASH, done(), *[CRASH] * 2)
    assert played.opened == ["A", "B", "coder", "A", "B", "coder", "coder", "A", "B"]
    assert "[OPERATION] Asks criteria.condition again, attempt 2 of 2." in played.said
    assert played.verdict.reason == (
        "After 1 retry: criteria.condition could not be checked: 2 crashes in a row, the last: gone"
    )


def test_a_prompt_has_five_tries_whatever_the_driving_retries_are() -> None:
    made = full(same=False, driving_retries=driving(("A", 1)))
    played = play(made, yes(), *[CRASH] * 5)
    assert played.opened == ["A", *["coder"] * 5]


@pytest.mark.parametrize("same", [None, True])
def test_driving_retries_are_not_for_a_single_session(same: bool | None) -> None:
    made = full(same=same, driving_retries=driving(("A", 1)))
    assert play(made, *[CRASH] * 5).opened == ["coder"] * 5


@pytest.mark.parametrize("budgets", [[("A", 0)], [("A", 0), ("B", 0)]])
def test_without_any_try_a_condition_is_exhausted_at_once(budgets: list[tuple[str, int]]) -> None:
    made = full(same=False, retries=3, driving_retries=driving(*budgets))
    played = play(made)
    why = "drivingSessionRetries allows no try."
    failed = f"[TASK FAILED] availability.condition could not be checked: {why}"
    assert played.story == [*checked("availability", why), failed]


def test_without_any_try_each_round_of_the_criteria_is_unasked() -> None:
    asked = criteria(condition=GOOD, same=False, retries=1)
    played = play(plan(criteria=asked, driving_retries=driving(("A", 0))), done(), done())
    why = "drivingSessionRetries allows no try."
    reason = f"criteria.condition could not be checked: {why}"
    assert played.story[-3:] == [
        "closes ses_2, succeeded",
        *checked("criteria", why),
        f"[TASK FAILED] After 1 retry: {reason}",
    ]
    assert [(retry.reason, retry.unasked) for retry in played.retried] == [(reason, True)]


def test_a_huge_budget_costs_nothing_until_it_is_used() -> None:
    a, b = OpenAct("A", is_driving=True), OpenAct("B", is_driving=True)
    tries = Tries(((a, 10**18), (b, 1)))
    assert tries.total == 10**18 + 1
    assert [*islice(tries, 4)] == [a, b, a, a]


# Refusals


@pytest.mark.parametrize("same", [None, False])
@EACH
def test_a_refusal_in_any_mission_is_not_tried_again(kind: str, same: bool | None) -> None:
    played = play(full(same=same), *BEFORE[kind], REFUSAL)
    last = 1 if same is None else len(BEFORE[kind]) + 1
    reason = MISSED.get(kind, "") + "No such model."
    closed = f"closes ses_{last}, failed"
    told = checked(kind, "No such model.")
    assert played.story[-3 - len(told) :] == [
        f"puts {kind} 0.1 to ses_{last}: {GIVEN[kind]}",
        *((closed, *told) if same is False else (*told, closed)),
        f"[TASK FAILED] {reason}",
    ]
    assert played.verdict == unasked(reason)


@pytest.mark.parametrize("same", [None, False])
def test_a_refusal_of_the_criteria_costs_a_retry(same: bool | None) -> None:
    played = play(full(same=same, retries=2), yes(), done(), REFUSAL, done(), yes())
    assert played.verdict == Verdict(succeeded=True, reason="The criteria hold after 1 retry.")
    [retry] = played.retried
    assert (retry.reason, retry.unasked) == (f"{MISSED['criteria']}No such model.", True)
    assert "[DECISION] Retry 1 of 2, since the last round could not be completed." in played.said
    # The session that was refused is not the one that gets the prompt.
    assert played.opened == (["coder"] if same is None else ["driver", "coder"] * 2 + ["driver"])


@pytest.mark.parametrize("kind", ["availability", "prompt", "criteria"])
def test_what_a_person_stopped_fails_the_task_whatever_retries_are_left(kind: str) -> None:
    stop = ActRefused("Stopped by ann.", by_person=True)
    played = play(full(retries=3), *BEFORE[kind], stop)
    assert played.verdict == Verdict(succeeded=False, reason="Stopped by ann.")
    assert played.retried == []


@EACH
def test_a_session_that_is_refused_fails_the_task_at_once(kind: str) -> None:
    opens = {len(BEFORE[kind]) + 1: REFUSAL}
    played = play(full(same=False), *BEFORE[kind], opens=opens)
    told = checked(kind, "No such model.")
    asks = "Sends the prompt" if kind == "prompt" else f"Asks {kind}.condition"
    assert played.story[-3 - len(told) :] == [
        f"opens nothing on {'coder' if kind == 'prompt' else 'driver'}"
        f"{'' if kind == 'prompt' else ', driving'}",
        f"[OPERATION] {asks}.",
        *told,
        f"[TASK FAILED] {MISSED.get(kind, '')}No such model.",
    ]


def test_a_prompt_refused_in_a_retry_fails_the_task_though_retries_are_left() -> None:
    played = play(full(retries=3), yes(), done(), no(), REFUSAL)
    assert played.verdict == unasked("No such model.")


def test_a_refusal_after_a_crash_is_not_tried_again() -> None:
    played = play(plan(), CRASH, ActRefused("Out of credit."))
    assert played.story[-2:] == ["closes ses_2, failed", "[TASK FAILED] Out of credit."]


# Borrowing


@pytest.mark.parametrize("same", [None, True, False])
def test_a_borrowed_session_gets_every_prompt_and_is_never_closed(same: bool | None) -> None:
    made = full(same=same, retries=1, borrowed=BORROWED, driving_retries=driving(("A", 0)))
    played = play(made, yes(), done(), no("Bad."), done(), yes())
    assert played.story == [
        "[OPERATION] Asks availability.condition.",
        f"puts availability 0.1 to ses_lent: {READY}",
        "[AVAILABILITY] availability.condition holds: It is.",
        "[OPERATION] Sends the prompt.",
        "puts prompt 0.1 to ses_lent: Build it.",
        "[OPERATION] Asks criteria.condition.",
        f"puts criteria 0.1 to ses_lent: {GOOD}",
        f"[CRITERIA] criteria.condition does not hold.\nIt says: {GOOD}\nReason: Bad.",
        "[DECISION] Retry 1 of 1.",
        "[OPERATION] Sends the prompt, retry 1 of 1.",
        "puts prompt 1.1 to ses_lent: Build it.",
        "[OPERATION] Asks criteria.condition, retry 1 of 1.",
        f"puts criteria 1.1 to ses_lent: {GOOD}",
        "[CRITERIA] criteria.condition holds: It is.",
        "[TASK SUCCEEDED] The criteria hold after 1 retry.",
    ]


def test_in_a_borrowed_session_the_task_model_is_what_the_caller_said() -> None:
    played = play(plan("On $task-model.", borrowed=BORROWED, task_model="lent-model"), done())
    assert played.texts == ["On lent-model."]


@EACH
def test_a_borrowed_session_that_crashes_fails_the_task_at_once(kind: str) -> None:
    played = play(full(borrowed=BORROWED, retries=3), *BEFORE[kind], CRASH)
    told = checked(kind, "The borrowed session crashed: gone")
    reason = f"{MISSED.get(kind, '')}The borrowed session crashed: gone"
    assert played.story[-3 - len(told) :] == [
        f"puts {kind} 0.1 to ses_lent: {GIVEN[kind]}",
        "[SESSION CRASHED] Borrowed session ses_lent: gone",
        *told,
        f"[TASK FAILED] {reason}",
    ]
    assert played.verdict == unasked(reason)


@pytest.mark.parametrize("more", [[CRASH], [done(), CRASH]])
def test_a_borrowed_session_that_crashes_in_a_retry_fails_the_task(
    more: list[Done | Crashed],
) -> None:
    played = play(full(borrowed=BORROWED, retries=3), yes(), done(), no(), *more)
    assert played.verdict.reason.endswith("The borrowed session crashed: gone")
    assert (played.verdict.unasked, len(played.retried)) == (True, 1)


@EACH
def test_a_refusal_in_a_borrowed_session_is_not_tried_again(kind: str) -> None:
    played = play(full(borrowed=BORROWED), *BEFORE[kind], REFUSAL)
    told = checked(kind, "No such model.")
    assert played.story[-2 - len(told) :] == [
        f"puts {kind} 0.1 to ses_lent: {GIVEN[kind]}",
        *told,
        f"[TASK FAILED] {MISSED.get(kind, '')}No such model.",
    ]
