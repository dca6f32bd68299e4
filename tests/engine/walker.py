"""Walks trees with scripted outcomes, branch by branch, and tells what was run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from airboss.engine.walk import Branch, Endings, RunTask, Step, TaskOutcome, Walk, Walked, walk
from airboss.entry.document import Work

Luck: TypeAlias = Callable[[RunTask], bool]
UNENDED: Final = Walked(succeeded=False, previous=("unended",))


@dataclass
class Tour:
    """What was run, in order, and what came of it. Branches are walked one after the other."""

    runs: list[RunTask] = field(default_factory=list[RunTask])
    # Of all that a workflow is made for: tasks and branches.
    paths: list[str] = field(default_factory=list[str])
    walked: Walked = UNENDED

    @property
    def names(self) -> list[str]:
        return [run.ref.task_id for run in self.runs]

    @property
    def places(self) -> dict[str, str]:
        return {run.path: run.ref.task_id for run in self.runs}

    @property
    def befores(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each task with those that ended last before it."""
        return [(run.ref.task_id, run.previous) for run in self.runs]


def tour(work: Work, luck: Luck) -> Tour:
    toured = Tour()
    toured.walked = drive(walk(work), luck, toured)
    return toured


def drive(steps: Walk, luck: Luck, toured: Tour) -> Walked:
    try:
        step = next(steps)
        while True:
            step = steps.send(_answer(step, luck, toured))
    except StopIteration as end:
        return end.value


def _answer(step: Step, luck: Luck, toured: Tour) -> TaskOutcome | Endings:
    if isinstance(step, RunTask):
        return _end(step, luck, toured)
    return tuple(_ending(branch, luck, toured) for branch in step.branches)


def _ending(of: RunTask | Branch, luck: Luck, toured: Tour) -> TaskOutcome | Walked:
    if isinstance(of, RunTask):
        return _end(of, luck, toured)
    toured.paths.append(of.path)
    return drive(walk(of.work, of.path, of.previous), luck, toured)


def _end(run: RunTask, luck: Luck, toured: Tour) -> TaskOutcome:
    toured.runs.append(run)
    toured.paths.append(run.path)
    return TaskOutcome(luck(run))


def failing(*names: str) -> Luck:
    """Every task succeeds but these."""
    return lambda run: run.ref.task_id not in names


def scripted(**outcomes: str) -> Luck:
    """Outcomes by the task's name, one letter for each time: `y` or `n`; others succeed."""
    left = {name: iter(letters) for name, letters in outcomes.items()}
    return lambda run: next(left[run.ref.task_id]) == "y" if run.ref.task_id in left else True
