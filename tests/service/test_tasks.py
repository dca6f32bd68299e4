"""A task on the real runtime: what must hold before and after it, its retries, its variables."""

from typing import Any

import pytest

from airboss.errors import Invalid, NotFound
from airboss.model.task_events import MissionEnded, TaskAccepted, TaskChecked, TaskRetrying
from tests.service.errands import (
    BOTH_DENIED,
    DOCUMENT,
    FALSE,
    PREREQUISITE,
    SAY_SO,
    TRUE,
    Story,
    TaskHouse,
    asks,
    criteria,
    task,
)
from tests.trials import sampled

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
NOT_CALLED = f"criteria.toolExecuted does not hold: Not called: {DOCUMENT}."


def outcome(story: Story) -> tuple[str, str | None]:
    return story.view.state, story.view.reason


# Criteria.


async def test_without_criteria_a_task_succeeds_when_its_prompt_is_done(tasks: TaskHouse) -> None:
    story = await tasks.perform(task("Say something."))
    assert outcome(story) == ("succeeded", "The prompt was done.")
    assert story.said == [
        "[SESSION STARTED] Driving session S1 on driver.",
        "[OPERATION] Sends the prompt.",
        "[TASK SUCCEEDED] The prompt was done.",
    ]
    assert story.texts == ["Say something."]
    assert story.places == ["driver driving open", "driver driving closed well"]
    assert (story.view.missions, story.view.crashes, story.view.retries) == (1, 0, 0)
    assert [event.kind for event in story.events] == [
        "task.accepted",
        "task.session.started",
        "task.decided",
        "task.decided",
        "task.mission.sent",
        "task.mission.ended",
        "task.session.stopped",
        "task.decided",
        "task.ended",
    ]


async def test_tools_that_were_called_meet_the_criteria_and_nothing_is_retried(
    tasks: TaskHouse,
) -> None:
    story = await tasks.perform(
        task("Write both.", criteria=criteria(DOCUMENT, TRUE, DOCUMENT, retries=3))
    )
    assert outcome(story) == ("succeeded", "The criteria hold.")
    assert story.said[-2:] == [
        "[CRITERIA] criteria.toolExecuted holds: All were called.",
        "[TASK SUCCEEDED] The criteria hold.",
    ]
    assert story.texts == ["Write both."]
    [check] = story.checks
    assert (check.field, check.round, check.holds) == ("criteria.toolExecuted", 0, True)
    assert check.content == f"{DOCUMENT}, {TRUE}, {DOCUMENT}"
    [ended] = story.only(MissionEnded)
    assert [call.tool for call in ended.calls] == [DOCUMENT, TRUE]


async def test_a_tool_that_was_not_called_fails_the_task_and_is_named(tasks: TaskHouse) -> None:
    named = (PREREQUISITE, TRUE, DOCUMENT, FALSE)
    story = await tasks.perform(task("Write both.", criteria=criteria(*named)))
    reason = f"Not called: {PREREQUISITE}, {FALSE}."
    assert outcome(story) == ("failed", f"criteria.toolExecuted does not hold: {reason}")
    assert story.said[-2:] == [
        f"[CRITERIA] criteria.toolExecuted does not hold.\nIt says: {', '.join(named)}\n"
        f"Reason: {reason}",
        f"[TASK FAILED] criteria.toolExecuted does not hold: {reason}",
    ]
    assert story.places == ["driver driving open", "driver driving closed badly"]


async def test_a_call_that_failed_was_not_called(tasks: TaskHouse) -> None:
    story = await tasks.perform(task("Blunder.", criteria=criteria(DOCUMENT, TRUE)))
    reason = f"criteria.toolExecuted does not hold: Not called: {DOCUMENT}, {TRUE}."
    assert outcome(story) == ("failed", reason)


@pytest.mark.parametrize(
    ("question", "holds", "reason"),
    [
        ("Is it so?", True, "It is."),
        ("Is it gone?", False, "It is not."),
        ("Is anybody there?", False, BOTH_DENIED),
        ("Are you sure?", True, "On second thoughts, yes."),
        ("Are you quite sure?", False, f"{FALSE} was called without a reason."),
    ],
)
async def test_the_last_boolean_tool_decides_a_condition(
    tasks: TaskHouse, question: str, holds: bool, reason: str
) -> None:
    story = await tasks.perform(task("Do it.", criteria=criteria(condition=asks(question))))
    [check] = story.only(TaskChecked)
    assert check == TaskChecked(
        field="criteria.condition",
        round=0,
        holds=holds,
        content=f"{question}\n{SAY_SO}",
        reason=reason,
    )
    assert story.texts == ["Do it.", f"{question}\n{SAY_SO}"]
    assert story.view.state == ("succeeded" if holds else "failed")
    if not holds:
        assert story.view.reason == f"criteria.condition does not hold: {reason}"


async def test_tools_and_condition_are_both_checked(tasks: TaskHouse) -> None:
    after = criteria(DOCUMENT, condition=asks("Is it gone?"))
    story = await tasks.perform(task("Do it.", criteria=after))
    reason = f"{NOT_CALLED} criteria.condition does not hold: It is not."
    assert outcome(story) == ("failed", reason)
    assert [check.field for check in story.checks] == [
        "criteria.toolExecuted",
        "criteria.condition",
    ]


@pytest.mark.parametrize("same", sampled(2, [None, False, True]))
async def test_what_the_condition_calls_is_not_what_the_prompt_called(
    tasks: TaskHouse, same: bool | None
) -> None:
    where: dict[str, Any] = {} if same is None else {"runConditionInSameSession": same}
    after = criteria(TRUE, condition=asks("Is it so?"), **where)
    story = await tasks.perform(task("Do it.", criteria=after))
    assert [check.holds for check in story.checks] == [False, True]
    assert story.view.state == "failed"


async def test_only_the_last_round_counts(tasks: TaskHouse) -> None:
    after = criteria(DOCUMENT, condition=asks("Is it gone?"), retries=1)
    story = await tasks.perform(task("Only at first.", criteria=after))
    assert [check.holds for check in story.checks] == [True, False, False, False]
    reason = f"After 1 retry: {NOT_CALLED} criteria.condition does not hold: It is not."
    assert outcome(story) == ("failed", reason)


# Retries.


@pytest.mark.parametrize("budget", sampled(2, [0, 3, 1]))
async def test_a_task_is_retried_as_often_as_it_may(tasks: TaskHouse, budget: int) -> None:
    story = await tasks.perform(task("Do it.", criteria=criteria(DOCUMENT, retries=budget)))
    assert story.missions == [f"prompt {number}.1 driver" for number in range(budget + 1)]
    assert story.only(TaskRetrying) == [
        TaskRetrying(retry=number, of=budget, reason=NOT_CALLED) for number in range(1, budget + 1)
    ]
    assert [text for text in story.said if text.startswith("[DECISION]")] == [
        f"[DECISION] Retry {number} of {budget}." for number in range(1, budget + 1)
    ]
    after = {0: "", 1: "After 1 retry: ", 3: "After 3 retries: "}[budget]
    assert outcome(story) == ("failed", f"{after}{NOT_CALLED}")
    assert (story.view.retries, story.view.missions) == (budget, budget + 1)
    assert len(story.sessions) == 1


@pytest.mark.parametrize(
    ("number", "name"), sampled(1, [(2, "second"), (1, "first"), (3, "third")])
)
async def test_a_task_succeeds_in_the_retry_that_meets_the_criteria(
    tasks: TaskHouse, number: int, name: str
) -> None:
    prompt = f"Lucky the {name} time."
    story = await tasks.perform(task(prompt, criteria=criteria(DOCUMENT, retries=3)))
    counted = "1 retry" if number == 1 else f"{number} retries"
    assert outcome(story) == ("succeeded", f"The criteria hold after {counted}.")
    assert [check.holds for check in story.checks] == [False] * number + [True]
    assert story.view.retries == number
    assert story.places == ["driver driving open", "driver driving closed well"]


async def test_a_retry_says_which_tools_were_missing(tasks: TaskHouse) -> None:
    named = (PREREQUISITE, DOCUMENT, FALSE, PREREQUISITE)
    story = await tasks.perform(task("Write the plan.", criteria=criteria(*named, retries=1)))
    line = f"## Required Tool Not Called: {PREREQUISITE}, {FALSE}"
    assert story.prompts == ["Write the plan.", f"Write the plan.\n{line}"]


async def test_a_retry_brings_the_additional_prompt(tasks: TaskHouse) -> None:
    after = criteria(condition=asks("Is it gone?"), retries=1, more="Go on.\nTo the end.")
    story = await tasks.perform(task("Do it.", criteria=after))
    more = "## You accidentally Stopped\nGo on.\nTo the end."
    assert story.prompts == ["Do it.", f"Do it.\n{more}"]


async def test_a_retry_brings_both_lines_in_order(tasks: TaskHouse) -> None:
    story = await tasks.perform(
        task("Do it.", criteria=criteria(DOCUMENT, retries=2, more="Go on."))
    )
    line = f"## Required Tool Not Called: {DOCUMENT}"
    again = f"Do it.\n{line}\n## You accidentally Stopped\nGo on."
    assert story.prompts == ["Do it.", again, again]


async def test_a_retry_without_either_sends_the_prompt_as_it_was(tasks: TaskHouse) -> None:
    after = criteria(DOCUMENT, condition=asks("Is it gone?"), retries=1)
    story = await tasks.perform(task("Write the plan.", criteria=after))
    assert story.prompts == ["Write the plan.", "Write the plan."]


async def test_a_failed_prerequisite_is_told_and_is_no_failure_by_itself(
    tasks: TaskHouse,
) -> None:
    story = await tasks.perform(task("Give up.", criteria=criteria(PREREQUISITE)))
    assert f"[MISC] {PREREQUISITE}: No compiler." in story.said
    assert story.view.state == "succeeded"


# Availability.


async def test_a_condition_that_holds_makes_the_task_available(tasks: TaskHouse) -> None:
    before = {"condition": asks("Is it there?")}
    story = await tasks.perform(task("Do it.", availability=before))
    assert outcome(story) == ("succeeded", "The prompt was done.")
    assert story.said == [
        "[SESSION STARTED] Driving session S1 on driver.",
        "[OPERATION] Asks availability.condition.",
        "[AVAILABILITY] availability.condition holds: It is.",
        "[OPERATION] Sends the prompt.",
        "[TASK SUCCEEDED] The prompt was done.",
    ]
    assert story.missions == ["availability 0.1 driver", "prompt 0.1 driver"]


@pytest.mark.parametrize(
    ("question", "reason"), [("Is it gone?", "It is not."), ("Is anybody there?", BOTH_DENIED)]
)
async def test_a_condition_that_does_not_hold_keeps_the_prompt_back(
    tasks: TaskHouse, question: str, reason: str
) -> None:
    before = {"condition": asks(question)}
    after = criteria(DOCUMENT, retries=3)
    story = await tasks.perform(task("Do it.", availability=before, criteria=after))
    assert outcome(story) == ("failed", f"availability.condition does not hold: {reason}")
    assert story.said[2:] == [
        f"[AVAILABILITY] availability.condition does not hold.\nIt says: {question}\n{SAY_SO}\n"
        f"Reason: {reason}",
        f"[AVAILABILITY] {PREREQUISITE}: {reason}",
        f"[TASK FAILED] availability.condition does not hold: {reason}",
    ]
    assert story.prompts == []
    assert story.view.retries == 0


async def test_previous_tasks_fail_a_task_that_is_the_first(tasks: TaskHouse) -> None:
    before = {"previousTasks": ["it"], "condition": asks("Is it there?")}
    story = await tasks.perform(task("Do it.", availability=before))
    reason = "availability.previousTasks does not hold: No task ended before."
    assert outcome(story) == ("failed", reason)
    assert story.texts == [], "what comes behind it is not asked"
    assert story.sessions == []
    assert story.said == [
        "[AVAILABILITY] availability.previousTasks does not hold.\nIt says: it\n"
        "Reason: No task ended before.",
        f"[AVAILABILITY] {PREREQUISITE}: No task ended before.",
        f"[TASK FAILED] {reason}",
    ]


async def test_availability_is_skipped_where_somebody_says_so(tasks: TaskHouse) -> None:
    before = {"previousTasks": ["it"], "condition": asks("Is it gone?")}
    story = await tasks.perform(task("Do it.", availability=before), skips_availability=True)
    assert story.view.state == "succeeded"
    assert story.texts == ["Do it."]
    [accepted] = story.only(TaskAccepted)
    assert not accepted.checks_availability


# Variables.


async def test_variables_change_between_rounds_and_are_not_expanded_again(
    tasks: TaskHouse,
) -> None:
    prompt = "$user-input: $reported-false-reason / $reported-true-reason / $reported-document"
    after = criteria(
        DOCUMENT,
        condition=asks("What is left? $reported-false-reason"),
        retries=3,
        more="Still: $reported-false-reason",
    )
    story = await tasks.perform(
        task(prompt, criteria=after), "Write the plan of $task-model", is_exact=True
    )
    first = "Write the plan of $task-model: <MISSING> / <MISSING> / <MISSING>"
    second = "Write the plan of $task-model: Three pages. / <MISSING> / docs/plan.md"
    third = "Write the plan of $task-model: One page of $task-model. / <MISSING> / docs/plan.md"
    stopped = "## You accidentally Stopped\nStill:"
    assert story.prompts == [
        first,
        f"{second}\n{stopped} Three pages.",
        f"{third}\n{stopped} One page of $task-model.",
    ]
    asked = [text for text in story.texts if text.startswith("What is left?")]
    assert asked == [
        f"What is left? <MISSING>\n{SAY_SO}",
        f"What is left? Three pages.\n{SAY_SO}",
        f"What is left? One page of $task-model.\n{SAY_SO}",
    ]
    assert outcome(story) == ("succeeded", "The criteria hold after 2 retries.")


async def test_what_holds_before_is_known_to_the_prompt(tasks: TaskHouse) -> None:
    before = {"condition": asks("Is it there?")}
    prompt = "So: $reported-true-reason Not: $reported-false-reason On: $task-model"
    story = await tasks.perform(task(prompt, availability=before, model={"category": "coding"}))
    assert story.prompts == ["So: It is. Not: <MISSING> On: coder"]


async def test_the_argument_of_a_failed_call_reaches_no_variable(tasks: TaskHouse) -> None:
    after = criteria(condition=asks("Is it gone?"), retries=1)
    prompt = "Blunder: $reported-document / $reported-true-reason"
    story = await tasks.perform(task(prompt, criteria=after))
    assert story.prompts == ["Blunder: <MISSING> / <MISSING>"] * 2


async def test_no_secret_of_the_input_is_written_down(tasks: TaskHouse) -> None:
    story = await tasks.perform(task("Use $user-input."), f"the token {SECRET}")
    assert story.view.state == "succeeded"
    assert SECRET not in "".join(event.model_dump_json() for event in story.events)
    assert story.prompts[0].startswith("Use the token ")


# What is refused before anything runs.


async def test_a_task_that_the_entry_does_not_have_is_not_found(tasks: TaskHouse) -> None:
    await tasks.install({"it": task("Do it.")})
    for name in ("", "It", "it ", "other"):
        with pytest.raises(NotFound, match="There is no task"):
            await tasks.begin(name)
    with pytest.raises(NotFound, match="There is no open session ses_x"):
        await tasks.begin("other", session="ses_x")


async def test_input_must_fit_the_task(tasks: TaskHouse) -> None:
    await tasks.install({"takes": task("Do $user-input."), "takes none": task("Do it.")})
    for text in ("", " \n"):
        with pytest.raises(Invalid, match="The task takes needs input"):
            await tasks.begin("takes", text)
    with pytest.raises(Invalid, match="The task takes none takes no input"):
        await tasks.begin("takes none", "this")
    session = await tasks.lend()
    for more in ({"model": "coder"}, {"cwd": str(tasks.work)}):
        with pytest.raises(Invalid, match="A session keeps its model, folder and cage"):
            await tasks.begin("takes none", session=session, **more)
    assert not tasks.services.runs.is_busy


async def test_who_does_not_insist_may_give_what_does_not_fit(tasks: TaskHouse) -> None:
    story = await tasks.perform(task("Do it."), "for me", is_exact=False)
    assert story.texts == ["Do it."]
    story = await tasks.perform(task("Do: $user-input"), "", is_exact=False)
    assert story.texts == ["Do: <MISSING>"]
