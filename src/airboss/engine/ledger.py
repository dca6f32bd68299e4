"""What the engine's database says of a run, asked without DBOS: loading that takes half a second
and 30 MB, and a server without jobs needs neither."""

from dataclasses import dataclass

from airboss.engine import dbos_internals
from airboss.engine.dbos_internals import WorkflowRows
from airboss.engine.homes import EngineHome


@dataclass(frozen=True)
class EngineLedger:
    """Every call reads or writes the database: none belongs on the event loop."""

    home: EngineHome

    def knows(self, run: str) -> bool:
        return self.home.asked(lambda rows: dbos_internals.has_workflow(rows, run), False)

    def has_open(self, run: str | None = None) -> bool:
        return self.home.asked(lambda rows: dbos_internals.has_open_workflow(rows, run), False)

    def has_queued(self) -> bool:
        """Whether one is still to be taken up by this worker."""
        queue = self.home.queue
        return self.home.asked(lambda rows: dbos_internals.has_queued_workflow(rows, queue), False)

    def open_elsewhere(self, runs: list[str]) -> list[str]:
        """Those of `runs` that are going on under another worker's name."""
        if not runs:
            return []
        me = self.home.executor

        def ask(rows: WorkflowRows) -> list[str]:
            return dbos_internals.open_elsewhere(rows, runs, me)

        return self.home.asked(ask, [], is_frequent=True)

    def open_of_others(self) -> dict[str, str]:
        """What is open under another worker's name, and under which."""
        me = self.home.executor

        def ask(rows: WorkflowRows) -> dict[str, str]:
            return dbos_internals.open_of_others(rows, me)

        return self.home.asked(ask, {}, is_frequent=True)

    def forget(self, run: str) -> None:
        """All that is kept of a run that has ended."""

        def delete(rows: WorkflowRows) -> None:
            dbos_internals.delete_workflows_of(rows, run)

        self.home.asked(delete, None)
