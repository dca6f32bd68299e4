"""The sessions of a task: on which models, with which rights, and what follows when one crashes."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import ModelIdNotFound, WorkingDirectoryMissing, WorkingDirectoryNotAllowed
from airboss.model.events import PermissionDecided, PromptAccepted
from airboss.model.task_events import MissionEnded
from tests.service.errands import (
    AGAIN,
    DOCUMENT,
    SAY_SO,
    TaskHouse,
    asks,
    criteria,
    task,
)

SEVERAL: dict[str, Any] = {"runConditionInSameSession": False}
NO_RESPONSE = "No response was returned. Send your message again to retry."
CODER: dict[str, Any] = {"model": {"category": "coding"}}


# Models.


@pytest.mark.parametrize(
    ("model", "override", "used"),
    [
        (None, None, "driver"),
        ({"category": "coding"}, None, "coder"),
        ({"id": "reviewer"}, None, "reviewer"),
        ({"id": "reviewer"}, "coder", "coder"),
        (None, "reviewer", "reviewer"),
    ],
)
async def test_a_single_session_is_on_the_tasks_model(
    tasks: TaskHouse, model: dict[str, str] | None, override: str | None, used: str
) -> None:
    given: dict[str, Any] = {"model": model} if model else {}
    before = {"condition": asks("Is it so?")}
    after = criteria(condition=asks("Is it so?"))
    story = await tasks.perform(
        task("On $task-model.", availability=before, criteria=after, **given), model=override
    )
    assert story.view.state == "succeeded"
    assert (story.view.model, story.prompts) == (used, [f"On {used}."])
    assert story.missions == [
        f"{kind} 0.1 {used}" for kind in ("availability", "prompt", "criteria")
    ]
    assert story.places == [f"{used} driving open", f"{used} driving closed well"]
    assert story.sessions[0].models == (used,), "it was this one that answered"


async def test_with_several_models_each_mission_has_a_session_of_its_own(tasks: TaskHouse) -> None:
    before = {"condition": asks("Is it so?")}
    after = criteria(DOCUMENT, condition=asks("Is it so?"), retries=1, **SEVERAL)
    story = await tasks.perform(task("Do it.", availability=before, criteria=after, **CODER))
    assert story.missions == [
        "availability 0.1 driver",
        "prompt 0.1 coder",
        "criteria 0.1 driver",
        "prompt 1.1 coder",
        "criteria 1.1 driver",
    ]
    driving = ["driver driving open", "driver driving closed well"]
    prompt = ["coder task open", "coder task closed well"]
    assert story.places == [*driving, *prompt, *driving, *prompt, *driving]
    assert story.said[:8] == [
        "[SESSION STARTED] Driving session S1 on driver.",
        "[OPERATION] Asks availability.condition.",
        "[AVAILABILITY] availability.condition holds: It is.",
        "[SESSION STARTED] Task session S2 on coder.",
        "[OPERATION] Sends the prompt.",
        "[CRITERIA] criteria.toolExecuted does not hold.\n"
        f"It says: {DOCUMENT}\nReason: Not called: {DOCUMENT}.",
        "[SESSION STARTED] Driving session S3 on driver.",
        "[OPERATION] Asks criteria.condition.",
    ]
    for session in story.sessions:
        assert session.turns == 1, "each knows only its own mission"


async def test_an_override_is_for_the_prompt_only_where_models_are_several(
    tasks: TaskHouse,
) -> None:
    after = criteria(condition=asks("Is it so? On $task-model."), **SEVERAL)
    story = await tasks.perform(task("Do it.", criteria=after, **CODER), model="reviewer")
    assert story.missions == ["prompt 0.1 reviewer", "criteria 0.1 driver"]
    assert story.texts[1] == f"Is it so? On reviewer.\n{SAY_SO}"


async def test_a_condition_in_another_session_fails_the_task_too(tasks: TaskHouse) -> None:
    after = criteria(condition=asks("Is it gone?"), **SEVERAL)
    story = await tasks.perform(task("Do it.", criteria=after))
    assert story.view.reason == "criteria.condition does not hold: It is not."
    assert story.places[-1] == "driver driving closed badly"


async def test_variables_are_shared_by_all_sessions_of_a_task(tasks: TaskHouse) -> None:
    after = criteria(condition=asks("Is it so? $reported-document"), **SEVERAL)
    story = await tasks.perform(task("Write the plan.", criteria=after, **CODER))
    assert story.texts[1] == f"Is it so? docs/plan.md\n{SAY_SO}"


async def test_driving_retries_go_over_the_models_in_rounds(tasks: TaskHouse) -> None:
    after = criteria(condition=asks("Is it ready at last?"), **SEVERAL)
    budgets = [{"modelId": "driver", "retries": 2}, {"modelId": "reviewer", "retries": 3}]
    story = await tasks.perform(
        task("Do it.", criteria=after, **CODER), drivingSessionRetries=budgets
    )
    assert story.missions == [
        "prompt 0.1 coder",
        "criteria 0.1 driver",
        "criteria 0.2 reviewer",
        "criteria 0.3 driver",
        "criteria 0.4 reviewer",
    ]
    asked = f"Is it ready at last?\n{SAY_SO}"
    assert story.texts[1:] == [asked, *[AGAIN + asked] * 3]
    assert story.view.state == "succeeded"
    assert story.view.crashes == 3


async def test_driving_retries_that_are_spent_fail_the_task(tasks: TaskHouse) -> None:
    before = {"condition": asks("Is it ever ready?")}
    budgets = [{"modelId": "driver", "retries": 1}, {"modelId": "reviewer", "retries": 2}]
    story = await tasks.perform(
        task("Do it.", availability=before, criteria=criteria(**SEVERAL)),
        drivingSessionRetries=budgets,
    )
    assert story.missions == [
        "availability 0.1 driver",
        "availability 0.2 reviewer",
        "availability 0.3 reviewer",
    ]
    reason = (
        f"availability.condition could not be checked: 3 crashes in a row, the last: {NO_RESPONSE}"
    )
    assert story.view.reason == reason


# Crashes that the model's service brings about.


async def test_after_a_crash_a_fresh_session_is_asked_again(tasks: TaskHouse) -> None:
    story = await tasks.perform(task("Stumble once.", **CODER))
    assert story.said == [
        "[SESSION STARTED] Driving session S1 on coder.",
        "[OPERATION] Sends the prompt.",
        f"[SESSION CRASHED] Driving session S1: {NO_RESPONSE}",
        "[SESSION STARTED] Driving session S2 on coder.",
        "[OPERATION] Sends the prompt again, attempt 2 of 5.",
        "[TASK SUCCEEDED] The prompt was done.",
    ]
    assert story.texts == ["Stumble once.", f"{AGAIN}Stumble once."]
    assert story.places == [
        "coder driving open",
        "coder driving closed badly",
        "coder driving open",
        "coder driving closed well",
    ]
    first, second = story.only(MissionEnded)
    assert (first.outcome, first.reason) == ("crashed", NO_RESPONSE)
    assert (second.outcome, second.reason) == ("done", None)
    assert (story.view.crashes, story.view.missions, story.view.retries) == (1, 2, 0)


async def test_four_crashes_in_a_row_are_survived(tasks: TaskHouse) -> None:
    story = await tasks.perform(task("Stumble four times.", criteria=criteria(retries=1)))
    assert story.view.state == "succeeded"
    assert [attempt.mission.attempt for attempt in story.attempts] == [1, 2, 3, 4, 5]
    assert story.view.crashes == 4


@pytest.mark.parametrize("several", [False, True])
async def test_five_crashes_in_a_row_fail_the_task(tasks: TaskHouse, several: bool) -> None:
    after = criteria(DOCUMENT, retries=2, **(SEVERAL if several else {}))
    story = await tasks.perform(task("Stumble for ever.", criteria=after, **CODER))
    reason = f"The prompt is exhausted after 5 crashes in a row, the last: {NO_RESPONSE}"
    assert (story.view.state, story.view.reason) == ("failed", reason)
    kind = "task" if several else "driving"
    assert story.places == [f"coder {kind} open", f"coder {kind} closed badly"] * 5
    assert story.view.retries == 0, "no retry of the criteria is taken for it"


async def test_a_crash_in_a_retry_keeps_the_lines_of_the_retry(tasks: TaskHouse) -> None:
    after = criteria(DOCUMENT, retries=1, more="Go on.")
    story = await tasks.perform(task("Stumble in the retry.", criteria=after))
    again = (
        f"Stumble in the retry.\n## Required Tool Not Called: {DOCUMENT}\n"
        "## You accidentally Stopped\nGo on."
    )
    assert story.prompts == ["Stumble in the retry.", again, AGAIN + again, AGAIN + again]
    assert [text for text in story.said if "[OPERATION]" in text] == [
        "[OPERATION] Sends the prompt.",
        "[OPERATION] Sends the prompt, retry 1 of 1.",
        "[OPERATION] Sends the prompt again, retry 1 of 1, attempt 2 of 5.",
        "[OPERATION] Sends the prompt again, retry 1 of 1, attempt 3 of 5.",
    ]
    assert story.view.reason == "The criteria hold after 1 retry."


async def test_a_prompt_that_is_exhausted_in_a_retry_costs_that_retry(tasks: TaskHouse) -> None:
    after = criteria(DOCUMENT, retries=2)
    story = await tasks.perform(task("Stumble through a retry.", criteria=after))
    spent = f"The prompt is exhausted after 5 crashes in a row, the last: {NO_RESPONSE}"
    assert f"[DECISION] Retry 1 of 2 is spent: {spent}" in story.said
    assert [attempt.mission.round for attempt in story.attempts] == [0, *[1] * 5, 2]
    assert story.view.reason == "The criteria hold after 2 retries."


# What is not worth another try.


@pytest.mark.parametrize("several", [False, True])
async def test_a_service_that_says_no_fails_the_task_at_once(
    tasks: TaskHouse, several: bool
) -> None:
    after = criteria(DOCUMENT, retries=3, **(SEVERAL if several else {}))
    story = await tasks.perform(task("Be refused.", criteria=after))
    assert (story.view.state, story.view.reason) == ("failed", "400 I will not.")
    assert (story.view.missions, story.view.retries, story.view.crashes) == (1, 0, 0)
    [ended] = story.only(MissionEnded)
    assert (ended.outcome, ended.reason) == ("refused", "400 I will not.")
    assert story.said[-1] == "[TASK FAILED] 400 I will not."


@pytest.mark.parametrize("retries", [0, 3])
async def test_a_model_that_is_not_offered_fails_the_task_at_once(
    tasks: TaskHouse, retries: int
) -> None:
    after = criteria(retries=retries)
    story = await tasks.perform(task("Do it.", criteria=after, model={"id": "nobody"}))
    assert story.view.state == "failed"
    assert (story.view.reason or "").startswith("The model nobody is not available.")
    assert story.sessions == []
    assert story.said == [
        "[OPERATION] Sends the prompt.",
        f"[TASK FAILED] {story.view.reason}",
    ]


async def test_a_driving_model_that_is_not_offered_costs_the_retries(tasks: TaskHouse) -> None:
    after = criteria(condition=asks("Is it so?"), retries=1, **SEVERAL)
    models = {"driving": "nobody", "coding": "coder"}
    story = await tasks.perform(task("Do it.", criteria=after, **CODER), models=models)
    assert story.missions == ["prompt 0.1 coder", "prompt 1.1 coder"]
    reason = (
        "After 1 retry: criteria.condition could not be checked: The model nobody is not available."
    )
    assert (story.view.reason or "").startswith(reason)


async def test_an_override_that_is_not_offered_is_refused_before_anything_runs(
    tasks: TaskHouse,
) -> None:
    await tasks.install({"it": task("Do it.")})
    with pytest.raises(ModelIdNotFound):
        await tasks.begin(model="nobody")
    assert not tasks.services.runs.is_busy


async def test_a_folder_that_cannot_be_used_is_refused_before_anything_runs(
    tasks: TaskHouse, tmp_path: Path
) -> None:
    await tasks.install({"it": task("Do it.")})
    with pytest.raises(WorkingDirectoryMissing):
        await tasks.begin(cwd=str(tasks.work / "nowhere"))
    with pytest.raises(WorkingDirectoryNotAllowed):
        await tasks.begin(cwd=str(tmp_path))


@pytest.mark.parametrize("several", [False, True])
async def test_a_folder_that_vanishes_fails_the_task_at_once(
    tasks: TaskHouse, several: bool
) -> None:
    folder = tasks.work / f"brief-{several}"
    folder.mkdir()
    after = criteria(condition=asks("Is it so?"), retries=3, **(SEVERAL if several else {}))
    await tasks.install({"it": task("Take a moment.", criteria=after)})
    run = (await tasks.begin(cwd=str(folder))).id
    await tasks.under_way(run)
    shutil.rmtree(folder)
    story = await tasks.ended(run)
    # With several models no session is opened for it. Else the retry's prompt is refused as well.
    refused = [] if several else ["refused", "refused"]
    assert [attempt.outcome for attempt in story.attempts] == ["done", *refused]
    assert story.view.state == "failed"
    assert (story.view.reason or "").startswith(f"The folder {folder} does not exist.")


# Rights.


@pytest.mark.parametrize(
    ("entry", "own", "granted"),
    [
        (None, None, "read-only"),
        ("approve-all", None, "read-only"),
        ("approve-all", "approve-all", "read-only"),
        (None, "ask", "read-only"),
        ("deny-all", None, "deny-all"),
        ("deny-all", "approve-all", "deny-all"),
        ("approve-all", "deny-all", "deny-all"),
    ],
)
async def test_an_entry_that_nobody_trusts_narrows_and_never_widens(
    tasks: TaskHouse, entry: str | None, own: str | None, granted: str
) -> None:
    top = {"permissions": entry} if entry else {}
    given: dict[str, Any] = {"permissions": own} if own else {}
    story = await tasks.perform(task("Touch the file.", **given), **top)
    assert story.view.policy == granted
    [session] = story.sessions
    assert session.policy == granted
    [decided] = await tasks.story_of(session.id, PermissionDecided)
    assert (decided.allowed, decided.by) == (False, f"policy {granted}")
    assert not (tasks.work / "touched.txt").exists()


async def test_a_session_knows_which_task_asked(tasks: TaskHouse) -> None:
    story = await tasks.perform(task("Do it."))
    [accepted] = await tasks.story_of(story.sessions[0].id, PromptAccepted)
    assert (accepted.task, accepted.who) == (story.view.id, f"task {story.view.id}")
    assert accepted.prompt == story.attempts[0].prompt
