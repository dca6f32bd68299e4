"""Loaded by Schemathesis: lets most of the generated requests name what the server really has."""

# pyright: basic
# Schemathesis leaves the types of what it hands over open.

import json
import os
from pathlib import Path
from typing import Any, Final, cast
from zlib import crc32

import schemathesis

_NAMES: Final[dict[str, list[str]]] = json.loads(
    Path(os.environ["AIRBOSS_FUZZ_NAMES"]).read_text("utf-8")
)
_ANSWERS: Final = Path(os.environ["AIRBOSS_FUZZ_ANSWERS"])
# What an operation's path names, where that is not simply what the parameter is called.
_WANTED: Final = {
    "delete_session": "closed session",
    "resume_session": "closed session",
    "delete_run": "ended run",
    "retry_run": "failed run",
    "delete_task_run": "ended task",
    "retry_task_run": "failed task",
    "decide": "approval",
    "answer": "question",
    "decline": "question",
    "show_extension": "extension",
    "switch_extension": "extension",
}
# The same of parameters behind the path.
_ASKED_WITH: Final = {
    "compare_two_runs": {"a": "ended run", "b": "failed run"},
    "list_extensions": {"cwd": "cwd"},
    "show_extension": {"cwd": "cwd"},
}
# These end what they are asked about: each takes one that nothing else needs, while there are any.
_ENDING: Final = {
    *("delete_session", "delete_run", "delete_task_run", "remove_rule"),
    *("decide", "decline"),
}


@schemathesis.hook
def before_call(
    context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]
) -> None:
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return  # what is wrong on purpose stays as it is
    operation = _name_of(case)
    for name, value in case.path_parameters.items():
        if name == "scope":  # one of two, and both are there
            continue
        is_task = case.path.startswith("/api/v1/task-runs")
        known = _NAMES.get(_WANTED.get(operation, "task_run" if is_task else name), [])
        # Of what can be done once for each, there are too few tries to leave any to chance.
        if known and (operation in _ENDING or _is_replaced(value)):
            may_end = operation in _ENDING and len(known) > 1
            case.path_parameters[name] = known.pop() if may_end else known[0]
    for name, kind in _ASKED_WITH.get(operation, {}).items():
        if case.query and name in case.query and _is_replaced(case.query[name]):
            case.query[name] = _NAMES[kind][0]
    if isinstance(case.body, dict):
        body = cast("dict[str, object]", case.body)
        for name, value in body.items():
            if name in _NAMES and isinstance(value, str) and _is_replaced(value):
                body[name] = _NAMES[name][0]


@schemathesis.hook
def after_call(
    context: schemathesis.HookContext, case: schemathesis.Case, response: schemathesis.Response
) -> None:
    """Notes what was answered: a share that reaches nothing would find nothing."""
    with _ANSWERS.open("a", encoding="utf-8") as file:
        file.write(f"{_name_of(case)} {response.status_code}\n")


def _name_of(case: schemathesis.Case) -> str:
    return str(case.operation.definition.raw["operationId"])


def _is_replaced(value: object) -> bool:
    """Three of four; the same ones for the same seed."""
    return crc32(str(value).encode("utf-8", "replace")) % 4 != 0
