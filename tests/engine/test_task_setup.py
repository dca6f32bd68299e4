"""What is said about the sessions of a task, and who says it."""

from airboss.engine.task_setup import SaidOfTask
from airboss.entry.document import Entry, Model
from airboss.entry.validate import validate_entry

ENTRY: Entry = validate_entry(
    {
        "models": {
            "driving": {"id": "small", "reasoningEffort": "low"},
            "deep": {"id": "large", "reasoningEffort": "high"},
        },
        "promptVariables": {},
        "tasks": {
            "a": {
                "prompt": ["Do it."],
                "requireUserInput": False,
                "model": {"category": "deep"},
                "reasoningEffort": "max",
                "instructions": "off",
                "criteria": {
                    "runConditionInSameSession": False,
                    "failureAction": {"retryTimes": 0},
                },
            }
        },
        "jobs": {},
        "grid": [],
        "reasoningEffort": "medium",
    }
)


def efforts(said: SaidOfTask, model: str, *, is_driving: bool) -> list[tuple[str, str | None]]:
    found = said.about(model, is_driving=is_driving)
    return [(one.place("reasoning_effort"), one.keys.reasoning_effort) for one in found]


def test_the_task_speaks_last_and_before_it_the_name_of_its_model() -> None:
    said = SaidOfTask(ENTRY, "a", Model(category="deep"))
    assert efforts(said, "large", is_driving=False) == [
        ("entry.reasoningEffort", "medium"),
        ('entry.models["deep"].reasoningEffort', "high"),
        ('entry.tasks["a"].reasoningEffort', "max"),
    ]


def test_one_session_for_all_of_it_is_the_tasks_own() -> None:
    together = ENTRY.tasks["a"].model_copy(update={"criteria": None})
    entry = ENTRY.model_copy(update={"tasks": {"a": together}})
    found = efforts(SaidOfTask(entry, "a", Model(category="deep")), "large", is_driving=True)
    assert [effort for _, effort in found] == ["medium", "high", "max"]


def test_a_model_that_is_named_by_its_id_has_nothing_of_a_name() -> None:
    said = SaidOfTask(ENTRY, "a", Model(id="large"))
    assert [effort for _, effort in efforts(said, "large", is_driving=False)] == [
        "medium",
        None,
        "max",
    ]


def test_who_judges_does_not_think_as_long_as_the_task_and_has_all_else_of_it() -> None:
    said = SaidOfTask(ENTRY, "a", Model(category="deep"), trusted=True)
    assert [effort for _, effort in efforts(said, "small", is_driving=True)] == [
        "medium",
        "low",
        None,
    ]
    about = said.about("another", is_driving=True)
    assert [one.keys.reasoning_effort for one in about] == ["medium", None, None]
    assert about[-1].keys.instructions == "off"
    assert all(one.may_widen for one in about)
