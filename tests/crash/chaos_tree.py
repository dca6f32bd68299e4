"""A random job from a seed: its entry, what the scripted model does in it, and what must come of
it by the pure walk."""

import json
import random
from dataclasses import dataclass, field
from typing import Any, Final

from airboss.engine.walk import Branch, Endings, RunTask, Step, TaskOutcome, Walk, Walked, walk
from airboss.entry.load import check_text
from tests.contract.job_guest import alt, loop, par, seq

JOB: Final = "chaos"
# More tasks than this are no harder, only longer; and a loop may have no end.
_MOST_TASKS: Final = 12
_FEWEST_TASKS: Final = 4
_TRUE: Final = "job_boolean_true"
_SAY_SO: Final = "Call job_boolean_true or job_boolean_false."
# Every tick is a line too: one that comes late is seen, whenever its attempt was cut off.
_TICK: Final = 'echo "$COPILOT_AGENT_SESSION_ID $EPOCHREALTIME" >> "{cwd}/ticks.txt"'
_TICKING: Final = f"for i in $(seq 50); do {_TICK}; sleep 0.01; done"
# What becomes of each kind of task.
_KINDS: Final = {
    "plain": True,
    "tool": True,
    "retry": True,
    "asked": True,
    "asked-apart": True,
    "checked": True,
    "no-tool": False,
    "no-retry": False,
    "denied": False,
    "unchecked": False,
    "refused": False,
}
_LIKELY: Final = (30, 20, 10, 10, 10, 10, 1, 1, 1, 1, 1)
# The last part of a condition's path.
_CONDITIONS: Final = ("cond", "pre", "post")
# A condition is as good a test when it does not hold.
_EVENLY: Final = (4, 4, 2, 2, 2, 2, 4, 3, 3, 3, 3)


@dataclass(frozen=True)
class Outcome:
    """What must come of a run: which works were walked, and how each ended."""

    succeeded: bool
    works: dict[str, bool]


@dataclass
class Tree:
    """One job. All chance in it comes from the seed."""

    seed: int
    # The tasks that it has, where chance is not asked.
    chosen: tuple[str, ...] = ()
    at_once: bool = False
    # Its agents work in cages.
    caged: bool = False
    # Where several jobs are in one entry: what its own name and those of its tasks begin with.
    prefix: str = ""
    chance: random.Random = field(init=False)
    tasks: dict[str, Any] = field(default_factory=dict[str, Any])
    rules: list[Any] = field(default_factory=list[Any])
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    after: dict[str, str] = field(default_factory=dict[str, str])
    entry: str = ""
    outcome: Outcome = field(default_factory=lambda: Outcome(succeeded=True, works={}))

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311
        while True:
            for made in (self.tasks, self.rules, self.kinds, self.after):
                made.clear()
            work = self._chosen() if self.chosen else self._work(3)
            self.entry = json.dumps(self._entry(work))
            found = self._foretell()
            if found is not None and (self.chosen or len(found.works) >= _FEWEST_TASKS):
                self.outcome = found
                return

    @classmethod
    def of(cls, *kinds: str, at_once: bool = False, caged: bool = False) -> "Tree":
        """These kinds of tasks, slow enough to be killed in the middle."""
        return cls(0, kinds, at_once, caged)

    def _chosen(self) -> Any:
        for number, kind in enumerate(self.chosen):
            self._make(f"{self.prefix}t{number}", kind)
        refs = [_ref(name) for name in self.tasks]
        return par(*refs) if self.at_once else seq(*refs)

    @property
    def job(self) -> str:
        return f"{self.prefix}{JOB}"

    @property
    def script(self) -> str:
        models = [{"id": "driver"}, {"id": "other"}]
        return json.dumps({"models": models, "rules": [*self.rules, {"steps": [{"say": "So."}]}]})

    def _entry(self, work: Any) -> dict[str, Any]:
        return {
            **({"permissions": "caged"} if self.caged else {}),
            "models": {"driving": "driver", "second": "other"},
            "promptVariables": {},
            "tasks": self.tasks,
            "jobs": {self.job: {"work": work}},
            "grid": [],
        }

    def _work(self, depth: int) -> Any:
        shape = self.chance.choice(("seq", "par", "loop", "alt", "task")) if depth else "task"
        if depth == 3:
            shape = self.chance.choice(("seq", "seq", "par"))
        match shape:
            case "seq":
                return seq(*(self._work(depth - 1) for _ in range(self.chance.randint(2, 4))))
            case "par":
                return par(*(self._work(depth - 1) for _ in range(self.chance.randint(2, 4))))
            case "loop":
                return self._loop(depth)
            case "alt":
                parts = self._work(depth - 1), self._work(depth - 1)
                return alt(self._task(_EVENLY), *parts)
            case _:
                return self._task()

    def _loop(self, depth: int) -> Any:
        match self.chance.choice(("two rounds", "pre", "post")):
            case "two rounds":
                return self._two_rounds()
            case "pre":
                first = self._task()
                condition = [True, self._after(first)]
                return seq(first, loop(self._work(depth - 1), pre=condition))
            case _:
                condition = [self.chance.random() < 0.5, self._task(_EVENLY)]
                return loop(self._work(depth - 1), post=condition)

    def _two_rounds(self) -> Any:
        """The first round goes one way, since it comes behind another task than the second."""
        first, one, other = (self._task() for _ in range(3))
        body = alt(self._after(first), one, other)
        return seq(first, loop(body, post=[True, self._after(one)]))

    def _task(self, weights: tuple[int, ...] = _LIKELY) -> Any:
        """A new one, or one that is there already: the same task at two places is two works."""
        if self.tasks and self.chance.random() < 0.1:
            return _ref(self.chance.choice([*self.tasks]))
        name = f"{self.prefix}t{len(self.tasks)}"
        self._make(name, self.chance.choices([*_KINDS], weights)[0])
        return _ref(name)

    def _after(self, ref: Any) -> Any:
        """One that succeeds where that one ended last before it."""
        name = f"{self.prefix}t{len(self.tasks)}"
        self._make(name, "plain")
        self.after[name] = ref["taskId"]
        self.tasks[name]["availability"] = {"previousTasks": [ref["taskId"]]}
        return _ref(name)

    def _make(self, name: str, kind: str) -> None:
        self.kinds[name] = kind
        made: dict[str, Any] = {"prompt": [f"Do {name}."], "requireUserInput": False}
        criteria: dict[str, Any] = {"failureAction": {"retryTimes": 0}}
        match kind:
            case "tool" | "no-tool":
                made["criteria"] = criteria | {"toolExecuted": [_TRUE]}
            case "retry" | "no-retry":
                criteria["failureAction"] = {"retryTimes": 1}
                made["criteria"] = criteria | {"toolExecuted": [_TRUE]}
            case "asked" | "denied" | "asked-apart":
                made["criteria"] = criteria | {"condition": [f"Judge {name}. {_SAY_SO}"]}
                made["criteria"]["runConditionInSameSession"] = kind != "asked-apart"
            case "checked" | "unchecked":
                made["availability"] = {"condition": [f"Look at {name}. {_SAY_SO}"]}
            case _:
                pass
        self.tasks[name] = made
        self._play(name, kind)

    def _play(self, name: str, kind: str) -> None:
        yes, no = (_call(word) for word in (_TRUE, "job_boolean_false"))
        says = {"asked": yes, "asked-apart": yes, "denied": no, "checked": yes, "unchecked": no}
        if kind in says:
            mission = "availability" if "checked" in kind else "criteria"
            verb = "Look at" if mission == "availability" else "Judge"
            self._rule(rf"{verb} {name}\.", self._line(name, mission, 0), says[kind])
        if "retry" in kind:
            last = yes if kind == "retry" else {"say": "No."}
            again = rf"Do {name}\.[\s\S]*Required Tool Not Called"
            self._rule(again, self._line(name, "prompt", 1), last)
        ends = {"tool": yes, "refused": {"fail": {"status": 400}}}
        last = ends.get(kind, {"say": "Done."})
        self._rule(rf"Do {name}\.", self._line(name, "prompt", 0), last)

    def _rule(self, when: str, *steps: Any) -> None:
        self.rules.append({"when": when, "steps": [*steps]})

    def _line(self, name: str, mission: str, number: int) -> Any:
        """The session tells an attempt: behind a crash there is a new one. The shell knows the time
        by itself, so nothing lies between looking at it and writing it."""
        before, behind = (self.chance.choice((0, 0.1, 0.4, 0.8)) for _ in range(2))
        words = f"{name} {mission} {number} $COPILOT_AGENT_SESSION_ID $RANDOM $EPOCHREALTIME"
        wait = _TICKING if self.chosen else f"sleep {before}"
        line = f'{wait}; echo "{words}" >> "{{cwd}}/lines.txt"; sleep {behind}'
        return {"call": {"tool": "bash", "arguments": {"description": "write", "command": line}}}

    def _foretell(self) -> Outcome | None:
        """What the walk makes of it; None where nobody can say, or where it has too many tasks."""
        checked = check_text(self.entry, "json")
        assert checked.entry is not None, checked
        works: dict[str, bool] = {}
        try:
            walked = self._walked(walk(checked.entry.jobs[self.job].work), works)
        except (_TooLongError, _UnaskedError):
            return None
        return Outcome(walked.succeeded, works)

    def _walked(self, steps: Walk, works: dict[str, bool]) -> Walked:
        try:
            step = next(steps)
            while True:
                step = steps.send(self._answer(step, works))
        except StopIteration as end:
            return end.value

    def _answer(self, step: Step, works: dict[str, bool]) -> TaskOutcome | Endings:
        if isinstance(step, RunTask):
            return self._ended(step, works)
        return tuple(
            self._walked(walk(part.work, part.path, part.previous), works)
            if isinstance(part, Branch)
            else self._ended(part, works)
            for part in step.branches
        )

    def _ended(self, task: RunTask, works: dict[str, bool]) -> TaskOutcome:
        if len(works) >= _MOST_TASKS:
            raise _TooLongError
        name = task.ref.task_id
        is_condition = task.path.rpartition(".")[2] in _CONDITIONS
        if is_condition and self.kinds[name] == "refused":
            raise _UnaskedError
        succeeded = _KINDS[self.kinds[name]]
        if name in self.after:
            succeeded = self.after[name] in task.previous
        works[task.path] = succeeded
        return TaskOutcome(succeeded)


class _TooLongError(Exception):
    """More tasks than a trial has time for."""


class _UnaskedError(Exception):
    """A condition that no model answers ends the run, and how far the works beside it have come
    by then is a matter of time."""


def _call(tool: str) -> Any:
    return {"call": {"tool": tool, "arguments": {"argument": "so it is"}}}


def _ref(name: str) -> Any:
    return {"kind": "Ref", "taskId": name, "modelOverride": {"category": "driving"}}
