"""Steps and answers as small JSON, as the engine's file keeps them."""

from typing import Any, TypeAlias

from pydantic import TypeAdapter

from airboss.engine.acts import Answer, Crashed, Done, Opened, Refused
from airboss.engine.walk import Branch, RunTask, Walked
from airboss.entry.document import Ref, Work
from airboss.model.ids import SessionId
from airboss.model.task_events import ToolCall

Wire: TypeAlias = dict[str, Any]

_WORK: TypeAdapter[Work] = TypeAdapter(Work)


def answer_to_wire(answer: Answer) -> Wire | None:
    match answer:
        case Opened(session=session):
            return {"opened": session}
        case Done(calls=calls):
            return {"done": [[call.tool, call.argument] for call in calls]}
        case Crashed(reason=reason, is_restart=is_restart):
            return {"crashed": reason, "is_restart": is_restart}
        case Refused(reason=reason):
            return {"refused": reason}
        case None:
            return None


def answer_of_wire(wire: Wire | None) -> Answer:
    match wire:
        case {"opened": session}:
            return Opened(SessionId(session))
        case {"done": calls}:
            return Done(tuple(ToolCall(tool=tool, argument=said) for tool, said in calls))
        case {"crashed": reason, **more}:
            return Crashed(reason, is_restart=bool(more.get("is_restart")))
        case {"refused": reason}:
            return Refused(reason)
        case None:
            return None
        case _:
            raise ValueError(f"No answer is kept as {wire!r}.")


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
