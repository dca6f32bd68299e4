"""What runs need once something runs: an engine, those who work on tasks, and places for them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from airboss.model.ids import RunId, TaskRunId
from airboss.model.run_events import RunEnding
from airboss.model.runs import LoneRunView, RunView

if TYPE_CHECKING:
    from airboss.engine.slots import Slots
    from airboss.entry.document import Entry, Work
    from airboss.log.writer import LogLine


class RunEngine(Protocol):
    """Runs what was accepted, durably."""

    async def start(self, run: str, *, is_lone: bool = False) -> None: ...
    async def stop(self, run: str) -> None: ...
    async def known(self, run: str) -> bool: ...
    async def is_open(self, run: str) -> bool: ...
    async def forget(self, run: str) -> None: ...
    async def recover(self) -> None: ...
    async def close(self) -> None: ...


class Crew(Protocol):
    """Those who work on the tasks of runs."""

    async def stop_task(self, task_run: TaskRunId, who: str) -> bool: ...

    async def accept_lone(self, view: LoneRunView, user_input: str, first: "LogLine") -> TaskRunId:
        """The task of such a run: on disk with the run's own word, before anything works on it."""
        ...

    async def dismiss(self, run: RunId, ending: RunEnding) -> None:
        """Every task of the run that is not over ends now, with its agents."""
        ...


@dataclass(frozen=True)
class EngineRoom:
    """Made when the first run begins, or is taken up."""

    engine: RunEngine
    crew: Crew
    slots: "Slots"


def name_of(run: RunId, attempt: int) -> str:
    """What the engine knows a run by: each time it is tried is one of its own."""
    return run if attempt == 1 else f"{run}~{attempt}"


def run_of(name: str) -> tuple[RunId, int]:
    run, _, attempt = name.partition("~")
    return RunId(run), int(attempt or 1)


def work_of(view: RunView, entry: "Entry") -> "Work":
    """The tree that a run walks: its job's, or the one task that was started by itself."""
    if not isinstance(view, LoneRunView):
        return entry.jobs[view.job].work
    from airboss.entry.document import Model, Ref

    override = Model(id=view.model) if view.model is not None else None
    return Ref(task_id=view.task, model_override=override)
