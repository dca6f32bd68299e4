"""Which tasks made a run fail: those are done again when it is retried."""

from collections.abc import Mapping

from airboss.engine.walk import Branch, Ended, Endings, RunTask, Walk, Walked, walk
from airboss.entry.document import Work


class _NotRun(Exception):
    """The walk had not come to this."""


def find_culprits(work: Work, ended: Mapping[str, bool]) -> tuple[str, ...]:
    """The paths whose failure made the tree fail. `ended` says how each task went, by its path;
    a condition that did not hold is an answer, and no fault."""
    try:
        return _walked(walk(work), ended).culprits
    except _NotRun:
        return ()


def _walked(steps: Walk, ended: Mapping[str, bool]) -> Walked:
    try:
        step = next(steps)
        while True:
            answer: Ended | Endings
            if isinstance(step, RunTask):
                answer = _ended(step, ended)
            else:
                answer = tuple(
                    _walked(walk(part.work, part.path, part.previous), ended)
                    if isinstance(part, Branch)
                    else _ended(part, ended)
                    for part in step.branches
                )
            step = steps.send(answer)
    except StopIteration as end:
        return end.value


def _ended(task: RunTask, ended: Mapping[str, bool]) -> Ended:
    if task.path not in ended:
        raise _NotRun
    return Ended(ended[task.path])
