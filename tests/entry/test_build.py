"""Small words to build works in Python."""

import pytest
from pydantic import ValidationError

from airboss.entry.build import alt, loop, only, par, ref, retry, seq, thinking, told
from airboss.entry.document import Alt, Entry, FailureAction, Loop, Model, Par, Ref, Seq, Task
from airboss.entry.validate import validate_entry


def test_each_word_builds_its_work() -> None:
    a, b, c = ref("a"), ref("b"), ref("c")
    assert a == Ref(task_id="a")
    assert seq(a, b) == Seq(works=(a, b))
    assert par(a, b) == Par(works=(a, b))
    made = loop(a, before=(True, b), after=(False, c))
    assert made == Loop(pre_condition=(True, b), body=a, post_condition=(False, c))
    assert alt(a, true=b, false=c) == Alt(condition=a, true_work=b, false_work=c)
    assert alt(a, false=c) == Alt(condition=a, false_work=c)


def test_a_ref_may_name_another_model() -> None:
    assert ref("a", category="x").model_override == Model(category="x")
    assert ref("a", model="x").model_override == Model(id="x")
    with pytest.raises(ValidationError, match="either category or id"):
        ref("a", category="x", model="y")


def test_retry_is_what_is_done_when_criteria_are_not_met() -> None:
    assert retry(3) == FailureAction(retry_times=3)
    assert retry(1, "Look", "again.").additional_prompt == ("Look", "again.")


def test_groups_that_grow_step_by_step_stay_flat() -> None:
    work = seq(ref("a"))
    for _ in range(300):
        work = seq(work, ref("b"))
    assert len(work.works) == 301
    assert par(par(ref("a")), ref("b")) == par(ref("a"), ref("b"))


def test_what_is_said_about_sessions_is_built_as_files_write_it() -> None:
    built = Entry(
        models={"driving": "m", "deep": thinking("n", "high")},
        prompt_variables={},
        tasks={
            "a": Task(
                prompt=("Do it.",), require_user_input=False, tools=only("@read", deny=("grep",))
            )
        },
        jobs={},
        grid=(),
        system_message=told("Use tabs.", "Be terse."),
    )
    wire = validate_entry(built).to_wire()
    assert wire["models"]["deep"] == {"id": "n", "reasoningEffort": "high"}
    assert wire["systemMessage"] == {"append": ["Use tabs.\nBe terse."]}
    assert wire["tasks"]["a"]["tools"] == {"allow": ["@read"], "deny": ["grep"]}
