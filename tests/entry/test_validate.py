"""The rules, their order, their exact words."""

from typing import Any

import pytest

from airboss.entry.document import Entry
from airboss.entry.validate import check_entry, validate_entry
from tests.entry.example import (
    Data,
    entry,
    every,
    first,
    first_of_job,
    first_of_task,
    par,
    ref,
    seq,
)


def bent(**more: Any) -> Data:
    return {**entry(), **more}


def test_a_valid_entry_comes_back_expanded_simplified_numbered_and_filled_in() -> None:
    data = entry()
    data["jobs"]["all"]["work"] = seq(ref("plan"), seq(ref("build", workIdInJob=7)))
    loaded = validate_entry(data)
    assert loaded.tasks["plan"].prompt == ("Plan this:\n$user-input",)
    asked = ("Is it so? Call job_boolean_true or job_boolean_false.",)
    build = loaded.tasks["build"]
    assert build.availability is not None
    assert build.availability.condition == asked
    assert build.criteria is not None
    assert build.criteria.condition == asked
    assert build.criteria.failure_action.additional_prompt == ("Go on.",)
    assert loaded.jobs["all"].to_wire() == {
        "work": seq(ref("plan", workIdInJob=0), ref("build", workIdInJob=1)),
        "requireUserInput": True,
    }


def test_what_was_loaded_can_be_loaded_again() -> None:
    once = validate_entry(entry())
    assert validate_entry(once) == once
    assert validate_entry(once.to_wire()) == once


def test_the_input_is_not_changed() -> None:
    data = entry()
    validate_entry(data)
    assert data == entry()


def test_a_driving_model_should_exist() -> None:
    assert first(bent(models={"coding": "x"})) == "entry.models.driving: Should exist."


def test_the_callers_prefix_stands_before_the_place() -> None:
    said = first(bent(models={}), "jobs.yaml: ")
    assert said == "jobs.yaml: entry.models.driving: Should exist."


def test_driving_retries_begin_with_the_driving_model() -> None:
    retries = [{"modelId": "gpt-5.2", "retries": 2}, {"modelId": "gpt-4.1", "retries": 1}]
    said = first(bent(drivingSessionRetries=retries))
    assert said == 'entry.drivingSessionRetries[0].modelId: Should be "gpt-4.1".'
    assert validate_entry(bent(drivingSessionRetries=retries[::-1])).driving_session_retries


def test_driving_retries_are_checked_after_the_driving_model_and_before_the_grid() -> None:
    data = bent(drivingSessionRetries=[{"modelId": "x", "retries": 1}])
    data["grid"][0]["jobs"][0]["jobName"] = "none"
    assert every(data) == [
        'entry.drivingSessionRetries[0].modelId: Should be "gpt-4.1".',
        'entry.grid[0].jobs[0].jobName: "none" is not a valid job name.',
    ]
    data["models"] = {}
    assert every(data)[0] == "entry.models.driving: Should exist."


def test_a_cell_of_the_grid_names_a_job() -> None:
    data = entry()
    data["grid"].append({"keyword": "more", "jobs": [None, {"name": "x", "jobName": "al"}]})
    assert first(data) == 'entry.grid[1].jobs[1].jobName: "al" is not a valid job name.'


def test_a_tasks_category_is_a_key_of_the_models() -> None:
    said = first_of_task("plan", model={"category": "codin"})
    assert said == 'entry.tasks["plan"].model.category: "codin" is not a valid model key.'


def test_a_tasks_model_id_may_be_any() -> None:
    data = entry()
    data["tasks"]["plan"]["model"] = {"id": "whatever"}
    assert check_entry(data).violations == ()


def test_a_prompt_should_expand() -> None:
    said = first_of_task("plan", prompt=["$nothing"])
    assert said == 'entry.tasks["plan"].prompt: Cannot find prompt variable: $nothing.'


def test_a_prompt_uses_the_input_that_it_requires() -> None:
    said = first_of_task("build", requireUserInput=True)
    assert said == (
        'entry.tasks["build"].requireUserInput: '
        "Prompt should use $user-input when requireUserInput is true."
    )
    said = first_of_task("plan", requireUserInput=False)
    assert said == (
        'entry.tasks["plan"].requireUserInput: '
        "Prompt should not use $user-input when requireUserInput is false."
    )


def test_input_counts_also_when_it_comes_by_a_variable() -> None:
    data = entry()
    data["promptVariables"]["wish"] = ["Do $user-input."]
    data["tasks"]["plan"]["prompt"] = ["$wish"]
    assert check_entry(data).violations == ()


def test_previous_tasks_are_tasks() -> None:
    said = first_of_task("build", availability={"previousTasks": ["plan", "plam"]})
    assert said == (
        'entry.tasks["build"].availability.previousTasks[1]: "plam" is not a valid task name.'
    )


@pytest.mark.parametrize("part", ["availability", "criteria"])
def test_a_condition_mentions_a_boolean_tool(part: str) -> None:
    more: Data = {"condition": ["Is it?"]}
    if part == "criteria":
        more["failureAction"] = {"retryTimes": 0}
    assert first_of_task("build", **{part: more}) == (
        f'entry.tasks["build"].{part}.condition: '
        "Boolean tool (job_boolean_true or job_boolean_false) must be mentioned."
    )


def test_a_tool_that_should_be_executed_is_one_of_the_four() -> None:
    criteria = {"toolExecuted": ["job_boolean_true", "shell"], "failureAction": {"retryTimes": 0}}
    said = first_of_task("build", criteria=criteria)
    assert (
        said == 'entry.tasks["build"].criteria.toolExecuted[1]: "shell" is not an available tool.'
    )


def test_all_four_tools_may_be_asked_for() -> None:
    data = entry()
    data["tasks"]["build"]["criteria"]["toolExecuted"] = [
        "job_prepare_document",
        "job_boolean_true",
        "job_boolean_false",
        "job_prerequisite_failed",
    ]
    assert check_entry(data).violations == ()


def test_the_additional_prompt_should_expand() -> None:
    action = {"retryTimes": 1, "additionalPrompt": ["$lost"]}
    said = first_of_task("build", criteria={"failureAction": action})
    assert said == (
        'entry.tasks["build"].criteria.failureAction.additionalPrompt: '
        "Cannot find prompt variable: $lost."
    )


def test_a_task_is_checked_in_the_order_of_the_rules_and_tasks_in_file_order() -> None:
    data = entry()
    data["tasks"] = {
        "z": {
            "criteria": {
                "failureAction": {"additionalPrompt": ["$f"], "retryTimes": 1},
                "condition": ["$e"],
                "toolExecuted": ["d"],
            },
            "availability": {"condition": ["$c"], "previousTasks": ["b"]},
            "requireUserInput": True,
            "prompt": ["hi"],
            "model": {"category": "a"},
        },
        "a": {"prompt": [], "requireUserInput": False, "model": {"id": "x"}},
    }
    data["jobs"]["all"]["work"] = ref("z")
    assert every(data) == [
        'entry.tasks["z"].model.category: "a" is not a valid model key.',
        'entry.tasks["z"].requireUserInput: '
        "Prompt should use $user-input when requireUserInput is true.",
        'entry.tasks["z"].availability.previousTasks[0]: "b" is not a valid task name.',
        'entry.tasks["z"].availability.condition: Cannot find prompt variable: $c.',
        'entry.tasks["z"].criteria.toolExecuted[0]: "d" is not an available tool.',
        'entry.tasks["z"].criteria.condition: Cannot find prompt variable: $e.',
        'entry.tasks["z"].criteria.failureAction.additionalPrompt: '
        "Cannot find prompt variable: $f.",
        'entry.tasks["a"].prompt: Prompt is empty.',
    ]


def test_the_grid_comes_before_the_tasks_and_these_before_the_jobs() -> None:
    data = entry()
    data["grid"][0]["jobs"][0]["jobName"] = "x"
    data["tasks"]["plan"]["model"] = {"category": "y"}
    data["jobs"]["all"]["work"] = ref("z")
    assert every(data) == [
        'entry.grid[0].jobs[0].jobName: "x" is not a valid job name.',
        'entry.tasks["plan"].model.category: "y" is not a valid model key.',
        'entry.jobs["all"].work.taskId: "z" is not a valid task name.',
    ]


def test_a_ref_names_a_task() -> None:
    assert first_of_job(ref("x")) == 'entry.jobs["all"].work.taskId: "x" is not a valid task name.'


def test_the_path_follows_the_tree() -> None:
    loop = {"kind": "Loop", "preCondition": [True, ref("x")], "body": ref("plan")}
    assert first_of_job(seq(ref("plan"), loop)) == (
        'entry.jobs["all"].work.works[1].preCondition[1].taskId: "x" is not a valid task name.'
    )
    loop = {"kind": "Loop", "body": ref("plan"), "postCondition": [False, par(ref("x"))]}
    assert first_of_job(loop) == (
        'entry.jobs["all"].work.postCondition[1].works[0].taskId: "x" is not a valid task name.'
    )
    alt = {"kind": "Alt", "condition": ref("plan"), "falseWork": ref("x")}
    assert first_of_job(alt) == (
        'entry.jobs["all"].work.falseWork.taskId: "x" is not a valid task name.'
    )


def test_the_path_is_that_of_the_simplified_tree() -> None:
    work = seq(seq(ref("plan"), seq(ref("plan"), ref("x"))))
    said = 'entry.jobs["all"].work.works[2].taskId: "x" is not a valid task name.'
    assert first_of_job(work) == said


def test_works_are_checked_in_the_order_of_their_numbers() -> None:
    data = entry()
    loop = {
        "kind": "Loop",
        "preCondition": [True, ref("a")],
        "body": ref("c"),
        "postCondition": [True, ref("b")],
    }
    alt = {"kind": "Alt", "falseWork": ref("f"), "trueWork": ref("e"), "condition": ref("d")}
    data["jobs"]["all"]["work"] = seq(loop, alt)
    names = [said.split('"')[3] for said in every(data)]
    assert names == ["a", "b", "c", "d", "e", "f"]


def test_an_overrides_category_is_a_key_of_the_models() -> None:
    said = first_of_job(ref("plan", modelOverride={"category": "x"}))
    assert said == 'entry.jobs["all"].work.modelOverride.category: "x" is not a valid model key.'


def test_a_task_without_a_model_needs_an_override_in_a_job() -> None:
    assert first_of_job(ref("check")) == (
        'entry.jobs["all"].work.modelOverride: '
        'must be defined because task "check" has no specified model.'
    )
    data = entry()
    data["jobs"]["all"]["work"] = ref("check", modelOverride={"category": "coding"})
    assert check_entry(data).violations == ()


@pytest.mark.parametrize("kind", ["Seq", "Par"])
def test_a_group_has_at_least_one_work(kind: str) -> None:
    said = first_of_job({"kind": kind, "works": []})
    assert said == 'entry.jobs["all"].work.works: should have at least one element.'


def test_groups_are_flattened_before_they_are_counted() -> None:
    said = 'entry.jobs["all"].work.works: should have at least one element.'
    assert first_of_job(seq(seq(), seq(seq()))) == said
    data = entry()
    data["jobs"]["all"]["work"] = seq(seq(), ref("plan"))
    loaded = validate_entry(data)
    assert loaded.jobs["all"].work.to_wire() == seq(ref("plan", workIdInJob=0))
    said = 'entry.jobs["all"].work.works[0].works: should have at least one element.'
    assert first_of_job(seq(par())) == said


def test_what_a_job_says_of_the_input_should_be_so() -> None:
    said = first_of_job(ref("plan"), requireUserInput=False)
    assert said == 'entry.jobs["all"].requireUserInput: Should be true but is false.'
    said = first_of_job(ref("build"), requireUserInput=True)
    assert said == 'entry.jobs["all"].requireUserInput: Should be false but is true.'


@pytest.mark.parametrize(("task", "needs"), [("plan", True), ("build", False)])
def test_a_job_requires_input_exactly_when_a_task_of_it_does(task: str, needs: bool) -> None:
    data = entry()
    condition = {"kind": "Alt", "condition": ref("build"), "trueWork": ref(task)}
    data["jobs"]["all"] = {"work": seq(ref("build"), condition)}
    assert validate_entry(data).jobs["all"].require_user_input is needs
    data["jobs"]["all"]["requireUserInput"] = needs
    assert validate_entry(data).jobs["all"].require_user_input is needs


def test_names_are_written_as_javascript_writes_them() -> None:
    data = entry()
    data["tasks"]['a "b"\n'] = {"prompt": [], "requireUserInput": False}
    assert first(data) == 'entry.tasks["a \\"b\\"\\n"].prompt: Prompt is empty.'


def test_a_wrong_name_is_quoted_as_it_is() -> None:
    said = 'entry.jobs["all"].work.taskId: "a"b" is not a valid task name.'
    assert first_of_job(ref('a"b')) == said


def test_a_name_that_is_nearly_right_is_offered() -> None:
    data = entry()
    data["jobs"]["all"]["work"] = ref("Bild")
    data["promptVariables"]["bord"] = ["x"]
    data["tasks"]["check"]["prompt"] = ["$board $usr-input $zzz"]
    hints = [violation.hint for violation in check_entry(data).violations]
    assert hints == [
        "Did you mean $bord?",
        "Did you mean $user-input?",
        None,
        'Did you mean "build"?',
    ]


def test_one_mistake_in_a_shared_variable_is_told_once() -> None:
    data = entry()
    data["promptVariables"]["ask"] = ["job_boolean_true $lost"]
    assert every(data) == [
        'entry.tasks["build"].availability.condition/$ask: Cannot find prompt variable: $lost.'
    ]


def test_what_is_broken_in_shape_breaks_no_rule_besides() -> None:
    data = entry()
    data["tasks"]["plan"]["requireUserInput"] = "yes"
    data["tasks"]["build"]["model"] = 5
    data["tasks"]["check"]["prompt"] = "Check $this."
    data["promptVariables"]["ask"] = "Is it?"
    data["jobs"]["all"]["requireUserInput"] = False
    data["jobs"]["odd"] = {"work": {"kind": "Seq", "works": [{"kind": "Rf"}]}}
    assert every(data) == [
        'entry.promptVariables["ask"]: Should be a list.',
        'entry.tasks["plan"].requireUserInput: Should be true or false.',
        'entry.tasks["build"].model: Should be an object.',
        'entry.tasks["check"].prompt: Should be a list.',
        'entry.jobs["odd"].work.works[0].kind: '
        '"Rf" is not a kind of work: Ref, Seq, Par, Loop, Alt.',
    ]


def test_names_break_no_rule_where_nobody_knows_which_there_are() -> None:
    data = entry()
    data.update(tasks=5, promptVariables=[])
    del data["models"]
    assert every(data) == [
        "entry.models: Should exist.",
        "entry.promptVariables: Should be an object.",
        "entry.tasks: Should be an object.",
    ]


def test_rules_are_told_beside_faults_of_shape() -> None:
    data = entry()
    data["tasks"]["plan"]["colour"] = "red"
    data["jobs"]["all"]["work"]["works"][1]["taskId"] = "bulid"
    assert every(data) == [
        'entry.tasks["plan"].colour: There is no such field.',
        'entry.jobs["all"].work.works[1].taskId: "bulid" is not a valid task name.',
    ]


def test_an_entry_may_be_given_as_parts_in_python() -> None:
    made = Entry.model_validate(entry())
    assert validate_entry(made) == validate_entry(entry())
    assert validate_entry({**entry(), "tasks": made.tasks}) == validate_entry(entry())
