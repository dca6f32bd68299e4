"""Which tasks made a run fail: those are done again when it is retried."""

from collections.abc import Collection, Mapping

from airboss.engine.walk import (
    Branch,
    Endings,
    RunBranches,
    RunTask,
    TaskOutcome,
    Walk,
    Walked,
    decides,
    walk,
)
from airboss.entry.document import Work


class _NotRun(Exception):
    """The walk had not come to this; what has failed beside it fails the tree all the same."""

    def __init__(self, culprits: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.culprits = culprits


def find_culprits(
    work: Work, ended: Mapping[str, bool], unasked: Collection[str] = ()
) -> tuple[str, ...]:
    """The paths whose failure made the tree fail. `ended` says how each task went, by its path;
    a condition that did not hold is an answer, and no fault; one that could not be asked is."""
    asked = {path: went for path, went in ended.items() if not (path in unasked and decides(path))}
    try:
        return _walked(walk(work), asked).culprits
    except _NotRun as stopped:
        failed = tuple(path for path in stopped.culprits if not decides(path))
        return failed + tuple(path for path in ended if path not in asked)


def _walked(steps: Walk, ended: Mapping[str, bool]) -> Walked:
    try:
        step = next(steps)
        while True:
            answer = _ended(step, ended) if isinstance(step, RunTask) else _branches(step, ended)
            step = steps.send(answer)
    except StopIteration as end:
        return end.value


def _branches(step: RunBranches, ended: Mapping[str, bool]) -> Endings:
    answers: list[TaskOutcome | Walked] = []
    culprits: list[str] = []
    is_whole = True
    for part in step.branches:
        try:
            if isinstance(part, Branch):
                walked = _walked(walk(part.work, part.path, part.previous), ended)
                culprits += walked.culprits
                answers.append(walked)
            else:
                answers.append(_ended(part, ended))
                culprits += () if ended[part.path] else (part.path,)
        except _NotRun as stopped:
            culprits += stopped.culprits
            is_whole = False
    if not is_whole:
        raise _NotRun(tuple(culprits))
    return tuple(answers)


def _ended(task: RunTask, ended: Mapping[str, bool]) -> TaskOutcome:
    if task.path not in ended:
        raise _NotRun
    return TaskOutcome(ended[task.path])
