"""What to write instead: the words, the names that there are, and examples that do heal."""

from collections.abc import Callable

import pytest
import yaml

from airboss.entry.advice import listed, of_text, pair
from airboss.entry.load import check_text
from airboss.entry.validate import check_entry
from airboss.entry.violations import EntryInvalid, Violation, Writing
from tests.entry.example import Data, entry, ref, seq

LOOP = {"kind": "Loop", "body": ref("build"), "preCondition": ["yes", ref("build")]}


def bent(*steps: str | int, value: object = None, gone: bool = False) -> Data:
    """An entry that is wrong in one place."""
    data = entry()
    here: object = data
    for step in steps[:-1]:
        here = here[step]  # type: ignore[index]
    if gone:
        del here[steps[-1]]  # type: ignore[attr-defined]
    else:
        here[steps[-1]] = value  # type: ignore[index]
    return data


TASK = ("tasks", "build")
HEALED = [
    bent("models", gone=True),
    bent("promptVariables", gone=True),
    bent("grid", value=5),
    bent("grid", 0, "jobs", value="all"),
    bent("models", "coding", value=5),
    bent("promptVariables", "ask", value="Is it so? Call job_boolean_true."),
    bent("promptVariables", "ask", 0, value=7),
    bent("permissions", value="all"),
    bent("limits", value={"minutes": "10"}),
    bent("limits", value={"cost": -1}),
    bent(*TASK, "prompt", value="Build it."),
    bent(*TASK, "prompt", gone=True),
    bent(*TASK, "requireUserInput", value="no"),
    bent(*TASK, "requireUserInput", value="perhaps"),
    bent(*TASK, "requireUserInput", value=True),
    bent(*TASK, "model", value={}),
    bent(*TASK, "criteria", "failureAction", gone=True),
    bent(*TASK, "criteria", "failureAction", "retryTimes", value="3"),
    bent(*TASK, "criteria", "condition", value="job_boolean_true?"),
    bent("jobs", "all", "work", value=seq()),
    bent("jobs", "all", "work", value=ref("check")),
    bent("jobs", "all", "work", value=LOOP),
    bent("jobs", "all", "requireUserInput", value=False),
    bent("drivingSessionRetries", value=[]),
    bent("drivingSessionRetries", value=[{"modelId": "x", "retries": 1}]),
]


@pytest.mark.parametrize("data", HEALED)
def test_an_example_written_in_its_place_corrects_the_mistake(data: Data) -> None:
    [first, *_] = check_entry(data).violations
    assert first.example is not None
    healed = yaml.safe_load(yaml.safe_dump(data))
    here = healed
    for step in first.loc[:-1]:
        here = here[step]
    read = yaml.safe_load(first.example)
    here[first.loc[-1]] = read if isinstance(first.loc[-1], int) else read[first.loc[-1]]
    assert str(first) not in [str(left) for left in check_entry(healed).violations]


def test_an_example_keeps_what_was_written_in_another_type() -> None:
    [said] = check_entry(bent(*TASK, "prompt", value="Build it: now.")).violations
    assert (said.advice, said.example) == ("Write this:", 'prompt: ["Build it: now."]')
    [said] = check_entry(bent(*TASK, "prompt", value="long " * 100)).violations
    assert said.advice == "Write, for example:"


@pytest.mark.parametrize(
    ("writing", "example"),
    [
        ("yaml", "requireUserInput: false"),
        ("json", '"requireUserInput": false'),
        ("python", '"requireUserInput": False'),
    ],
)
def test_an_example_is_written_as_its_file_is(writing: Writing, example: str) -> None:
    data = bent(*TASK, "requireUserInput", gone=True)
    [said] = check_entry(data, writing=writing).violations
    assert (said.advice, said.example) == ("Add it, for example:", example)


def advice(bend: Callable[[Data], object]) -> str | None:
    data = entry()
    bend(data)
    return check_entry(data).violations[0].advice


def test_an_unknown_name_comes_with_those_that_there_are() -> None:
    assert advice(lambda e: e["jobs"]["all"].update(work=ref("biuld"))) == (
        "The tasks of this entry are: plan, build, check."
    )
    assert advice(lambda e: e["tasks"]["plan"].update(model={"category": "x"})) == (
        "The models of this entry are: driving, coding."
    )
    assert advice(lambda e: e.update(jobs={})) == (
        "This entry has no jobs yet. Add one below `jobs`."
    )
    told = advice(lambda e: e["tasks"]["build"]["criteria"].update(toolExecuted=["shell"]))
    assert told is not None
    assert told.startswith("The tools are: job_prepare_document, job_boolean_true")
    told = advice(lambda e: e["tasks"]["check"].update(prompt=["$lost"]))
    assert told is not None
    assert told.startswith("This entry has $ask; every prompt has $user-input, $task-model")


def test_an_unknown_field_comes_with_those_that_there_are() -> None:
    assert advice(lambda e: e["tasks"]["plan"]["model"].update(nam="x")) == (
        "Remove it, or use one of these fields: category, id."
    )
    told = advice(lambda e: e["jobs"]["all"]["work"]["works"][0].update(nam="x"))
    assert told == "Remove it, or use one of these fields: kind, taskId, modelOverride."


def test_a_driving_model_under_another_name_is_renamed() -> None:
    assert advice(lambda e: e.update(models={"drivin": "x", "coding": "y"})) == (
        'Rename "drivin" to driving.'
    )


def test_of_many_names_the_first_are_listed_and_the_others_counted() -> None:
    names = [f"task-{number}" for number in range(40)]
    assert listed(names).endswith("task-10, task-11 and 28 more")
    assert len(listed(["x" * 5000])) < 100


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a:\n\t- b", "Indent with spaces, not with tabs."),
        ("a: b: c", 'Put a text that has ": " in it in quotes'),
        (
            "a: [b\n\nc: d",
            "Close the bracket, or put a comma between two values. It began in line 1.",
        ),
        ("a: *b", "Define it above this line with `&name`"),
        ("a: 'b\nc: d\n", "Close the quotes that were opened. It began in line 1."),
        ("a: @b", "Put the text in quotes."),
    ],
)
def test_a_text_that_is_no_yaml_comes_with_what_to_do(text: str, told: str) -> None:
    assert told in (unread(text).advice or "")


def unread(text: str) -> Violation:
    with pytest.raises(EntryInvalid) as caught:
        check_text(text, "yaml")
    return caught.value.violations[0]


def test_a_field_that_stands_twice_says_where_the_other_one_is() -> None:
    said = check_text("models: {}\ngrid: []\nmodels: {}\n", "yaml").violations[0]
    assert said.advice == "It is in line 1 already. Remove one of the two, or rename it."


def test_every_sentence_has_an_advice_whatever_the_reason() -> None:
    for writing in ("yaml", "json", "python"):
        assert of_text(writing, "something new").endswith(".")
    assert pair("a b", ["yes", "true", "x: y"], "yaml") == '"a b": ["yes", "true", "x: y"]'
