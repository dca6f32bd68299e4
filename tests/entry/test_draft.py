"""An entry that somebody is writing: what is known of it although something is wrong."""

import pytest

from airboss.entry.draft import Draft, cleaned, find_draft, taken_up, written
from airboss.entry.shape import TooManyParts
from airboss.model.redaction import Redactor
from tests.entry.test_repairs import GRID, HEAD, JOBS

SECRET = "ghp_" + "a" * 30


def draft(text: str) -> Draft:
    return find_draft(text.encode(), "yaml")


def broken(told: Draft) -> dict[str, list[str]]:
    """The nodes of each job that name no task."""
    return {
        job.name: [node["label"] for node in job.chart["nodes"] if "broken" in node]
        for job in told.jobs
    }


def test_a_good_entry_has_its_tasks_and_all_its_charts() -> None:
    told = draft(HEAD + JOBS + GRID)
    assert (told.violations, told.mistakes, told.tasks) == ((), 0, ("fix-tests", "free"))
    [job] = told.jobs
    assert (job.name, job.require_user_input) == ("all", False)
    assert job.chart == {"nodes": [{"id": 0, "hint": ["TaskNode", 0], "label": "fix-tests"}]}
    assert job.work == {"kind": "Ref", "taskId": "fix-tests", "workIdInJob": 0}


def test_jobs_are_drawn_although_others_have_mistakes() -> None:
    told = draft(
        HEAD
        + """\
jobs:
  good: {work: {kind: Ref, taskId: fix-tests}}
  near: {work: {kind: Par, works: [{kind: Ref, taskId: fix-test}, {kind: Ref, taskId: free}]}}
  odd: {work: {kind: Nothing}}
  empty: {work: {kind: Seq, works: []}}
  none: {}
  text: later
  extra: {work: {kind: Ref, taskId: fix-tests}, unknown: 1}
grid: nothing
"""
    )
    assert broken(told) == {"good": [], "near": ["fix-test"], "extra": []}
    near = next(job for job in told.jobs if job.name == "near")
    assert [node.get("broken") for node in near.chart["nodes"]] == [
        None,
        "no such task",
        None,
        None,
    ]
    assert told.mistakes > 4


def test_a_condition_that_names_no_task_is_marked_too() -> None:
    told = draft(
        "jobs: {a: {work: {kind: Alt, condition: {kind: Ref, taskId: no}, "
        "trueWork: {kind: Seq, works: [{kind: Seq, works: [{kind: Ref, taskId: no2}]}]}}}}"
    )
    assert broken(told) == {"a": ["no", "no2"]}


def test_whether_input_is_needed_follows_from_the_tasks() -> None:
    text = "tasks: {a: {requireUserInput: true}, b: {requireUserInput: odd}}\njobs:\n"
    told = draft(
        text + "  x: {work: {kind: Ref, taskId: a}}\n  y: {work: {kind: Ref, taskId: b}}\n"
    )
    assert {job.name: job.require_user_input for job in told.jobs} == {"x": True, "y": False}


@pytest.mark.parametrize(
    "text",
    ["", "tasks: [", "[]", "null", "a: &a [*a]", "\t", "tasks: 1\njobs: 2", "x\0y", "\ud800"],
)
def test_whatever_somebody_types_there_is_an_answer(text: str) -> None:
    told = find_draft(text.encode("utf-8", "surrogatepass"), "yaml")
    assert told.mistakes
    assert told.violations
    assert told.jobs == ()
    told = find_draft(text.encode("utf-8", "surrogatepass"), "json")
    assert told.violations


def test_every_beginning_of_a_text_has_an_answer() -> None:
    """As it comes while somebody types."""
    text = HEAD + JOBS + GRID
    drawn = 0
    for end in range(len(text)):
        told = draft(text[:end])
        assert told.mistakes == len(told.violations)
        drawn += bool(told.jobs)
    assert drawn


def test_what_multiplies_goes_to_the_process_with_bounds() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    text = "\n".join(lines).encode()
    with pytest.raises(TooManyParts):
        find_draft(text, "yaml", 20_000)
    told = find_draft(text, "yaml")
    assert "Has more than 2,000,000 parts" in str(told.violations[0])
    assert (told.tasks, told.jobs) == ((), ())


def test_charts_have_an_end() -> None:
    works = ", ".join("{kind: Ref, taskId: free}" for _ in range(600))
    jobs = "\n".join(f"  j{n}: {{work: *w}}" for n in range(1, 60))
    text = f"jobs:\n  j0: {{work: &w {{kind: Seq, works: [{works}]}}}}\n{jobs}\n"
    told = draft(text)
    assert sum(len(job.chart["nodes"]) for job in told.jobs) <= 20_000
    assert len(told.jobs) == 33


def test_what_is_wished_for_comes_along() -> None:
    told = draft(HEAD + JOBS + GRID + "permissions: approve-all\n")
    assert [(ask.place.where, ask.wished) for ask in told.requests] == [
        ("entry.permissions", "approve-all")
    ]


@pytest.mark.parametrize(
    "text", [HEAD + JOBS + GRID, HEAD + JOBS, HEAD + JOBS.replace("tests", "test"), "tasks: ["]
)
def test_it_goes_over_a_pipe_as_it_is(text: str) -> None:
    told, came = draft(text), taken_up(written(draft(text)))
    assert (came.tasks, came.jobs, came.mistakes) == (told.tasks, told.jobs, told.mistakes)
    assert [(str(said), said.repairs) for said in came.violations] == [
        (str(said), said.repairs) for said in told.violations
    ]
    assert [ask.wished for ask in came.requests] == [ask.wished for ask in told.requests]


def test_no_secret_comes_back() -> None:
    text = HEAD.replace("fix-tests", SECRET).replace("[Fix it.]", SECRET) + JOBS.replace(
        "fix-tests", SECRET[:-1] + "b"
    )
    told = cleaned(draft(text), Redactor().text)
    assert SECRET not in "".join(str(repair) for v in told.violations for repair in v.repairs)
    assert SECRET not in str(told.tasks) + str(told.jobs)
