"""A small valid entry that tests bend, and how to ask what is wrong with it."""

from copy import deepcopy
from typing import Any, Final

import pytest

from airboss.entry.validate import check_entry, validate_entry
from airboss.entry.violations import EntryInvalid

Data = dict[str, Any]

_ENTRY: Final[Data] = {
    "models": {"driving": "gpt-4.1", "coding": "gpt-5.2"},
    "promptVariables": {"ask": ["Is it so? Call job_boolean_true or job_boolean_false."]},
    "tasks": {
        "plan": {
            "model": {"category": "coding"},
            "prompt": ["Plan this:", "$user-input"],
            "requireUserInput": True,
        },
        "build": {
            "model": {"id": "gpt-4.1"},
            "prompt": ["Build it."],
            "requireUserInput": False,
            "availability": {"previousTasks": ["plan"], "condition": ["$ask"]},
            "criteria": {
                "toolExecuted": ["job_prepare_document"],
                "condition": ["$ask"],
                "runConditionInSameSession": False,
                "failureAction": {"retryTimes": 2, "additionalPrompt": ["Go on."]},
            },
        },
        "check": {"prompt": ["Check it."], "requireUserInput": False},
    },
    "jobs": {"all": {"work": {"kind": "Seq", "works": []}}},
    "grid": [{"keyword": "make", "jobs": [{"name": "All", "jobName": "all"}, None]}],
}


def ref(task: str, **more: Any) -> Data:
    return {"kind": "Ref", "taskId": task, **more}


def seq(*works: Data) -> Data:
    return {"kind": "Seq", "works": [*works]}


def par(*works: Data) -> Data:
    return {"kind": "Par", "works": [*works]}


def entry() -> Data:
    """A fresh copy; bend it as you like."""
    made = deepcopy(_ENTRY)
    made["jobs"]["all"]["work"] = seq(ref("plan"), ref("build"))
    return made


def first(data: object, prefix: str = "") -> str:
    """The violation that is raised, whole."""
    with pytest.raises(EntryInvalid) as caught:
        validate_entry(data, prefix)
    return str(caught.value)


def every(data: object) -> list[str]:
    """All violations at once."""
    return [str(violation) for violation in check_entry(data).violations]


def first_of_job(work: object, **more: Any) -> str:
    bent = entry()
    bent["jobs"]["all"] = {"work": work, **more}
    return first(bent)


def first_of_task(name: str, **more: Any) -> str:
    bent = entry()
    bent["tasks"][name].update(more)
    return first(bent)
