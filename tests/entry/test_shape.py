"""The shape of an entry: each fault has the form of the rules and names its place."""

from collections.abc import Callable

import pytest

from airboss.entry.shape import MAX_DEPTH
from airboss.entry.validate import check_entry, validate_entry
from tests.entry.example import Data, entry, every, first, first_of_job, first_of_task, ref, seq


@pytest.mark.parametrize("data", [None, 5, "text", [], [1], True])
def test_an_entry_is_an_object(data: object) -> None:
    assert first(data) == "entry: Should be an object."


def test_all_that_an_empty_object_misses_is_told() -> None:
    assert every({}) == [
        "entry.models: Should exist.",
        "entry.promptVariables: Should exist.",
        "entry.tasks: Should exist.",
        "entry.jobs: Should exist.",
        "entry.grid: Should exist.",
    ]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("models", [], "entry.models: Should be an object."),
        ("models", {"driving": 5}, "entry.models.driving: Should be text."),
        ("models", {"driving": "x", "b": None}, 'entry.models["b"]: Should be text.'),
        ("promptVariables", {"a": "x"}, 'entry.promptVariables["a"]: Should be a list.'),
        ("promptVariables", {"a": ["x", 5]}, 'entry.promptVariables["a"][1]: Should be text.'),
        ("tasks", {"a": 5}, 'entry.tasks["a"]: Should be an object.'),
        ("jobs", {"a": {}}, 'entry.jobs["a"].work: Should exist.'),
        ("grid", {}, "entry.grid: Should be a list."),
        ("grid", [None], "entry.grid[0]: Should be an object."),
        ("grid", [{"keyword": "k"}], "entry.grid[0].jobs: Should exist."),
        (
            "grid",
            [{"keyword": "k", "jobs": [{"name": "x"}]}],
            "entry.grid[0].jobs[0].jobName: Should exist.",
        ),
        (
            "permissions",
            "all",
            'entry.permissions: Should be "ask", "caged", "approve-all", "read-only" or '
            '"deny-all".',
        ),
        ("limits", {"turns": "5"}, "entry.limits.turns: Should be a number."),
        ("limits", {"turns": True}, "entry.limits.turns: Should be a number."),
        ("limits", {"cost": -1}, "entry.limits.cost: Should be 0 or more."),
        (
            "limits",
            {"cost": float("inf")},
            "entry.limits.cost: Should be a number that JSON can write.",
        ),
        ("limits", {"hours": 1}, "entry.limits.hours: There is no such field."),
        (
            "drivingSessionRetries",
            [],
            "entry.drivingSessionRetries: should have at least one element.",
        ),
        (
            "drivingSessionRetries",
            [{"modelId": "gpt-4.1", "retries": 1.5}],
            "entry.drivingSessionRetries[0].retries: Should be a whole number.",
        ),
        ("colour", "red", "entry.colour: There is no such field."),
        ("a b", "red", 'entry["a b"]: There is no such field.'),
    ],
)
def test_a_wrong_part_of_the_entry_is_named(field: str, value: object, said: str) -> None:
    assert first({**entry(), field: value}) == said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"prompt": "x"}, ".prompt: Should be a list."),
        ({"requireUserInput": 1}, ".requireUserInput: Should be true or false."),
        ({"require_user_input": True}, ".require_user_input: There is no such field."),
        ({"model": {}}, ".model: Should have either category or id."),
        ({"model": {"id": "a", "category": "b"}}, ".model: Should have either category or id."),
        (
            {"availability": {"previousTasks": "x"}},
            ".availability.previousTasks: Should be a list.",
        ),
        ({"criteria": {}}, ".criteria.failureAction: Should exist."),
        (
            {"criteria": {"failureAction": {"retryTimes": -1}}},
            ".criteria.failureAction.retryTimes: Should be 0 or more.",
        ),
        (
            {"criteria": {"failureAction": {"retryTimes": True}}},
            ".criteria.failureAction.retryTimes: Should be a whole number.",
        ),
    ],
)
def test_a_wrong_part_of_a_task_is_named(more: Data, said: str) -> None:
    assert first_of_task("plan", **more) == f'entry.tasks["plan"]{said}'


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (5, ": Should be an object."),
        ({}, ".kind: Should exist."),
        ({"kind": 5}, ".kind: Should be text."),
        ({"kind": "Run"}, '.kind: "Run" is not a kind of work: Ref, Seq, Par, Loop, Alt.'),
        ({"kind": "Ref"}, ".taskId: Should exist."),
        ({"kind": "Ref", "taskId": "plan", "works": []}, ".works: There is no such field."),
        ({"kind": "Seq"}, ".works: Should exist."),
        ({"kind": "Par", "works": {}}, ".works: Should be a list."),
        ({"kind": "Loop"}, ".body: Should exist."),
        (
            {"kind": "Loop", "body": ref("plan"), "preCondition": [True]},
            ".preCondition[1]: Should exist.",
        ),
        (
            {"kind": "Loop", "body": ref("plan"), "preCondition": ["true", ref("plan")]},
            ".preCondition[0]: Should be true or false.",
        ),
        (
            {"kind": "Loop", "body": ref("plan"), "postCondition": [True, ref("plan"), 5]},
            ".postCondition: Should have two elements: true or false, then a work.",
        ),
        ({"kind": "Alt", "trueWork": ref("plan")}, ".condition: Should exist."),
        (seq(ref("plan"), {"kind": "Ref"}), ".works[1].taskId: Should exist."),
    ],
)
def test_a_wrong_part_of_a_work_is_named(work: object, said: str) -> None:
    assert first_of_job(work) == f'entry.jobs["all"].work{said}'


@pytest.mark.parametrize("kind", ["Ref", "Seq", "kind"])
def test_a_task_may_be_called_like_a_kind_of_work(kind: str) -> None:
    data = entry()
    data["tasks"][kind] = {"kind": kind, "prompt": ["x"], "requireUserInput": False}
    assert first(data) == f'entry.tasks["{kind}"].kind: There is no such field.'


def test_an_absent_part_is_left_out_not_null() -> None:
    data = entry()
    data["tasks"]["plan"]["limits"] = None
    data["jobs"]["all"]["work"] = {"kind": "Alt", "condition": ref("plan"), "trueWork": None}
    assert every(data) == [
        'entry.tasks["plan"].limits: Should not be null; leave it out.',
        'entry.jobs["all"].work.trueWork: Should not be null; leave it out.',
    ]


def test_an_empty_cell_of_the_grid_is_null() -> None:
    data = entry()
    data["grid"][0]["jobs"] = [None, None]
    assert validate_entry(data).to_wire()["grid"] == [{"keyword": "make", "jobs": [None, None]}]


BENDS: list[tuple[Callable[[Data], object], str | None]] = [
    (lambda e: e.update(task={}), 'Did you mean "tasks"?'),
    (lambda e: e["tasks"]["plan"].update(promt=[]), 'Did you mean "prompt"?'),
    (lambda e: e["jobs"]["all"].update(works=1), 'Did you mean "work"?'),
    (lambda e: e["jobs"]["all"]["work"].update(work=1), 'Did you mean "works"?'),
    (lambda e: e["tasks"]["build"]["criteria"].update(tool=1), None),
    (lambda e: e["tasks"]["build"]["criteria"].update(tolExecuted=1), '"toolExecuted"'),
    (lambda e: e["tasks"]["plan"]["model"].update(categry=1), '"category"'),
    (lambda e: e["grid"][0].update(keywords=1), 'Did you mean "keyword"?'),
    (lambda e: e["grid"][0]["jobs"][0].update(jobname=1), 'Did you mean "jobName"?'),
]


@pytest.mark.parametrize(("bend", "hint"), BENDS)
def test_a_field_that_is_nearly_right_is_offered(
    bend: Callable[[Data], object], hint: str | None
) -> None:
    data = entry()
    bend(data)
    found = check_entry(data).violations[0]
    assert found.reason == "There is no such field."
    assert found.hint == hint or (hint is not None and hint in (found.hint or ""))


def nested(levels: int) -> Data:
    work = ref("plan")
    for _ in range(levels):
        work = {"kind": "Seq", "works": [work]}
    return work


def test_works_may_be_nested_deeper_than_anybody_writes() -> None:
    data = entry()
    data["jobs"]["all"]["work"] = nested(90)
    assert validate_entry(data).jobs["all"].work.to_wire() == seq(ref("plan", workIdInJob=0))


@pytest.mark.parametrize("levels", [101, 5_000])
def test_deeper_nesting_is_refused_in_words_with_the_bound(levels: int) -> None:
    said = f'entry.jobs["all"].work: Is nested more than {MAX_DEPTH} levels deep.'
    assert first_of_job(nested(levels)) == said
    data = entry()
    data["jobs"]["all"]["work"] = nested(levels)
    assert every(data) == [said]


def test_data_that_holds_itself_is_refused() -> None:
    data = entry()
    data["tasks"]["plan"]["limits"] = data
    assert "Is nested more than" in first(data)


def test_data_that_multiplies_itself_is_refused() -> None:
    work = ref("plan")
    for _ in range(40):
        work = seq(work, work)
    assert first_of_job(work) == "entry: Has more than 2,000,000 parts."


def test_half_a_character_is_refused() -> None:
    said = first_of_task("plan", prompt=["\ud800"])
    assert said == 'entry.tasks["plan"].prompt[0]: Should have no halves of characters.'
    said = first({**entry(), "hooks": {"preToolUse": [{"command": ["a", "\ud800"]}]}})
    assert said.startswith("entry.hooks.preToolUse[0].command[1]: ")
    data = entry()
    data["tasks"]["\ud800"] = 5
    assert first(data).encode("utf-8")
