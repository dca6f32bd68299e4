"""Steps of a walk as small JSON, as the engine's file keeps them."""

from typing import Any, TypeAlias

from pydantic import TypeAdapter

from airboss.engine.walk import Branch, RunTask, Walked
from airboss.entry.document import Ref, Work

Wire: TypeAlias = dict[str, Any]

_WORK: TypeAdapter[Work] = TypeAdapter(Work)


def task_to_wire(task: RunTask) -> Wire:
    return {"path": task.path, "ref": task.ref.to_wire(), "previous": [*task.previous]}


def task_of_wire(wire: Wire) -> RunTask:
    return RunTask(wire["path"], Ref.model_validate(wire["ref"]), tuple(wire["previous"]))


def branch_to_wire(branch: Branch) -> Wire:
    return {
        "path": branch.path,
        "work": branch.work.to_wire(),
        "previous": [*branch.previous],
    }


def branch_of_wire(wire: Wire) -> Branch:
    return Branch(wire["path"], _WORK.validate_python(wire["work"]), tuple(wire["previous"]))


def walked_to_wire(walked: Walked) -> Wire:
    return {"succeeded": walked.succeeded, "previous": [*walked.previous]}


def walked_of_wire(wire: Wire) -> Walked:
    return Walked(wire["succeeded"], tuple(wire["previous"]))
