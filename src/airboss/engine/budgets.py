"""What task runs and runs may use: their limits, with what they have used so far."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airboss.background import Background
from airboss.engine.run_story import story_of_run
from airboss.harness.limits import Budget
from airboss.log.log import EventLog
from airboss.model.ids import RunId, TaskRunId
from airboss.model.limits import Granted, UsageLimits
from airboss.model.runs import RunView
from airboss.model.task_runs import TaskRunView
from airboss.model.usage import Usage
from airboss.model.views import SessionView

if TYPE_CHECKING:
    from airboss.entry.document import Entry
    from airboss.entry.document import Limits as WrittenLimits


async def untold_by(log: EventLog, view: TaskRunView, *, waits: bool = True) -> Usage:
    """What the sessions of a task used and no mission's end has told, turns that were cut off
    included. Without waiting, what was said a moment ago may be missing."""
    look = log.last_view if waits else log.view
    whole = Usage()
    for session in view.opened:
        said = await look(session)
        if isinstance(said, SessionView):
            whole += said.usage + said.spending
    return whole.beyond(view.usage)


@dataclass
class Budgets:
    """Those of all that is at work. What was used is read once, where an earlier server began."""

    log: EventLog
    _of_tasks: dict[TaskRunId, tuple[Budget, ...]] = field(
        default_factory=dict[TaskRunId, tuple[Budget, ...]]
    )
    _of_runs: "dict[RunId, asyncio.Task[tuple[Budget, ...]]]" = field(
        default_factory=dict[RunId, "asyncio.Task[tuple[Budget, ...]]"]
    )

    _reading: Background = field(default_factory=lambda: Background("budgets"))

    async def close(self) -> None:
        await self._reading.close(cancel=True)

    def of(self, task_run: TaskRunId | None) -> tuple[Budget, ...]:
        return () if task_run is None else self._of_tasks.get(task_run, ())

    async def begin(self, task_run: TaskRunId, task: str, run: RunView, entry: "Entry") -> None:
        """The limits of job and entry hold for all tasks of the run together."""
        own = _budgets((f"task {task}", entry.tasks[task].limits))
        if own:
            await self._read(own, [task_run])
        if run.id not in self._of_runs:
            self._of_runs[run.id] = self._reading.call(self._begin_run(run, entry), run.id)
        self._of_tasks[task_run] = (*own, *await asyncio.shield(self._of_runs[run.id]))

    def end_task(self, task_run: TaskRunId) -> None:
        self._of_tasks.pop(task_run, None)

    def end_run(self, run: RunId) -> None:
        self._of_runs.pop(run, None)

    async def _begin_run(self, run: RunView, entry: "Entry") -> tuple[Budget, ...]:
        job = entry.jobs.get(run.job)  # none around a task that was started by itself
        budgets = _budgets((f"job {run.job}", job and job.limits), ("entry", entry.limits))
        if budgets:
            story = await story_of_run(self.log, run)
            await self._read(budgets, [work.task_run for work in story.works])
        return budgets

    async def _read(self, budgets: tuple[Budget, ...], task_runs: Iterable[TaskRunId]) -> None:
        used, granted = Usage(), list[Granted]()
        for task_run in task_runs:
            view = await self.log.last_view(task_run)
            for session in view.opened if isinstance(view, TaskRunView) else ():
                said = await self.log.last_view(session)
                if isinstance(said, SessionView):
                    used += said.usage + said.spending
                    granted += said.granted
        for budget in budgets:
            budget.spend(used)
            budget.grant(granted)


def _budgets(*given: "tuple[str, WrittenLimits | None]") -> tuple[Budget, ...]:
    """Only those that have a limit."""
    found = [(scope, UsageLimits(**dict(limits))) for scope, limits in given if limits is not None]
    return tuple(Budget(scope, limits) for scope, limits in found if limits != UsageLimits())
