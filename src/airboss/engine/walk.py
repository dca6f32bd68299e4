"""How a job's tree is walked: a sequence of steps that depends on their answers alone.

No I/O, no clock, no chance: a durable engine walks it again with the answers that it has kept.
Every execution has a path that no other one has, also of the same work in a loop's next round.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final, TypeAlias

from airboss.entry.document import Alt, Entry, Loop, Model, Par, Ref, Seq, Work
from airboss.model.runs import LoneRunView, RunView

# A root of its own, so that a job that is a single `Ref` has another path than its run.
ROOT: Final = "0"
# Parts of a path; below these an outcome is an answer.
_CONDITIONS: Final = frozenset({"cond", "pre", "post"})


@dataclass(frozen=True)
class RunTask:
    """Run a task. Answered by `TaskOutcome`."""

    path: str
    ref: Ref
    # The tasks that ended last on the way here; several after a `Par`.
    previous: tuple[str, ...]

    @property
    def decides(self) -> bool:
        """Whether the way depends on its outcome. Where it has none, since it could not be asked,
        nobody answers this: the run ends."""
        return decides(self.path)


@dataclass(frozen=True)
class Branch:
    """A part of a tree that is walked beside others, by a walk of its own: never a single `Ref`."""

    path: str
    work: Work
    previous: tuple[str, ...]


@dataclass(frozen=True)
class RunBranches:
    """Run these at the same time and wait for all. Answered one by one, in this order."""

    branches: tuple[RunTask | Branch, ...]


@dataclass(frozen=True)
class TaskOutcome:
    """What came of a task."""

    succeeded: bool


@dataclass(frozen=True)
class Walked:
    """What came of a tree, which tasks ended last in it, and the paths of those that failed it."""

    succeeded: bool
    previous: tuple[str, ...]
    culprits: tuple[str, ...] = field(default=(), compare=False)


Step: TypeAlias = RunTask | RunBranches
Endings: TypeAlias = tuple[TaskOutcome | Walked, ...]
Walk: TypeAlias = Generator[Step, TaskOutcome | Endings, Walked]


def tree_of(view: RunView, entry: Entry) -> Work:
    """What a run walks: its job's tree, or the one task that was started by itself."""
    if not isinstance(view, LoneRunView):
        return entry.jobs[view.job].work
    override = Model(id=view.model) if view.model is not None else None
    return Ref(task_id=view.task, model_override=override)


def only_task(run: str, work: Work) -> RunTask:
    """The one step of a run of a task by itself."""
    if not isinstance(work, Ref):
        raise TypeError(f"{run} is no run of one task.")
    return RunTask(ROOT, work, ())


def decides(path: str) -> bool:
    """Whether this is a condition, or a part of one."""
    return not _CONDITIONS.isdisjoint(path.split("."))


def walk(work: Work, path: str = ROOT, previous: tuple[str, ...] = ()) -> Walk:
    """Yields what is to be run, takes how it went, and returns what came of the tree."""
    match work:
        case Ref():
            return (yield from _run(RunTask(path, work, previous)))
        case Seq():
            return (yield from _in_order(work, path, previous))
        case Par():
            return (yield from _at_once(work, path, previous))
        case Loop():
            return (yield from _again(work, path, previous))
        case Alt():
            return (yield from _either(work, path, previous))


def _run(task: RunTask) -> Walk:
    ended = yield task
    return _ending(task, None if isinstance(ended, tuple) else ended)


def _in_order(seq: Seq, path: str, previous: tuple[str, ...]) -> Walk:
    for index, work in enumerate(seq.works):
        walked = yield from walk(work, f"{path}.{index}", previous)
        if not walked.succeeded:
            return walked
        previous = walked.previous
    return Walked(succeeded=True, previous=previous)


def _at_once(par: Par, path: str, previous: tuple[str, ...]) -> Walk:
    branches = tuple(
        _branch(work, f"{path}.{index}", previous) for index, work in enumerate(par.works)
    )
    endings = yield RunBranches(branches)
    if not isinstance(endings, tuple) or len(endings) != len(branches):
        raise TypeError(f"The branches of {path} cannot be answered by {endings!r}.")
    walked = [_ending(branch, end) for branch, end in zip(branches, endings, strict=True)]
    return Walked(
        succeeded=all(end.succeeded for end in walked),
        # Each name once: it only matters who is among them.
        previous=tuple(dict.fromkeys(chain.from_iterable(end.previous for end in walked))),
        culprits=tuple(chain.from_iterable(end.culprits for end in walked)),
    )


def _branch(work: Work, path: str, previous: tuple[str, ...]) -> RunTask | Branch:
    if isinstance(work, Ref):
        return RunTask(path, work, previous)
    return Branch(path, work, previous)


def _ending(of: RunTask | Branch, end: TaskOutcome | Walked | None) -> Walked:
    if isinstance(of, RunTask) and isinstance(end, TaskOutcome):
        failed = () if end.succeeded else (of.path,)
        return Walked(end.succeeded, previous=(of.ref.task_id,), culprits=failed)
    if isinstance(of, Branch) and isinstance(end, Walked):
        return end
    raise TypeError(f"{type(of).__name__} {of.path} cannot be answered by {end!r}.")


def _again(loop: Loop, path: str, previous: tuple[str, ...]) -> Walk:
    for number in count(1):
        here = f"{path}.it{number}"
        if loop.pre_condition is not None:
            goes_on, condition = loop.pre_condition
            asked = yield from walk(condition, f"{here}.pre", previous)
            previous = asked.previous
            if asked.succeeded != goes_on:
                break
        done = yield from walk(loop.body, here, previous)
        if not done.succeeded:
            return done
        previous = done.previous
        if loop.post_condition is None:
            break
        goes_on, condition = loop.post_condition
        asked = yield from walk(condition, f"{here}.post", previous)
        previous = asked.previous
        if asked.succeeded != goes_on:
            break
    return Walked(succeeded=True, previous=previous)


def _either(alt: Alt, path: str, previous: tuple[str, ...]) -> Walk:
    asked = yield from walk(alt.condition, f"{path}.cond", previous)
    name, chosen = ("true", alt.true_work) if asked.succeeded else ("false", alt.false_work)
    if chosen is None:
        return Walked(succeeded=True, previous=asked.previous)
    return (yield from walk(chosen, f"{path}.{name}", asked.previous))
