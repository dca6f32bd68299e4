"""A run that this worker has, and that another one is to go on with."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from airboss.engine.run_records import name_of
from airboss.log.writer import now_ms
from airboss.model.ids import RunId, SessionId
from airboss.model.runs import LoneRunView, RunView
from airboss.model.task_runs import TaskRunView
from airboss.model.views import SessionView
from airboss.service.runs import Runs
from airboss.service.sessions import Sessions
from airboss.service.shared_runs import SharedRuns
from airboss.store.claims import GivenTo
from airboss.store.notices import WORK

_MOVED: Final = "The run goes on on another machine."


# So long a run may take from its acceptance to its first task.
_BEGINNING_MS: Final = 2_000
_LOOK_SECONDS: Final = 0.1


def _is_beginning(view: RunView) -> bool:
    is_new = now_ms() - view.updated_at < _BEGINNING_MS
    return view.is_open and is_new and not view.running


@dataclass
class RunRelease:
    """Everything of it ends here and is on disk; then it is free, with all that is below it."""

    runs: Runs
    sessions: Sessions
    shared: SharedRuns
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_at_it(self) -> bool:
        return self._one.locked()

    def resting(self) -> list[RunView]:
        """Runs of this worker of which no task is at work. One in a lent session stays with it."""
        return [
            view
            for view in self.runs.records.open_views()
            if view.ending is None
            and not _is_beginning(view)
            and not (isinstance(view, LoneRunView) and view.session is not None)
            and all(work.waits_for for work in view.running)
        ]

    async def _begun(self, run: RunId) -> RunView:
        """One that was accepted a moment ago is let begin first."""
        while True:
            view = await self.runs.view(run)
            if not _is_beginning(view):
                return view
            await asyncio.sleep(_LOOK_SECONDS)

    async def release(self, run: RunId, to: GivenTo | None = None, who: str | None = None) -> None:
        """For anybody, or for the one that `who` has chosen."""
        async with self._one:
            view, records = await self._begun(run), self.runs.records
            if not view.is_open:
                return
            below = await self._leave(view)
            records.log.let_go([view.id, *below])
            await self.shared.claims.hand_back(view.id, below, to, who)
        records.log.announce(WORK)
        self.shared.on_room()

    async def _leave(self, view: RunView) -> list[str]:
        """Nothing of it works here any more. Answers what is below it."""
        room, records = self.runs.room, self.runs.records
        await room.engine.leave(name_of(view.id, view.attempt))
        tasks = [await records.log.view(work.task_run) for work in view.running]
        begun = [task for task in tasks if isinstance(task, TaskRunView)]
        sessions: list[SessionId] = [one for task in begun for one in task.sessions]
        await self.sessions.leave(sessions, _MOVED)
        await room.executor.leave(view.id)
        await records.leave(view.id)
        return [*(task.id for task in begun), *sessions]

    async def drop(self, stream: str) -> None:
        """Another worker has it by now: nothing that needs it works on here."""
        view = await self.runs.log.view(stream)
        match view:
            case SessionView():
                await self.sessions.leave([view.id], _MOVED)
            case TaskRunView() if run := view.own_run or view.run:
                await self.drop(run)
            case RunView() if view.id in {one.id for one in self.runs.records.open_views()}:
                async with self._one:
                    await self._leave(view)
            case _:
                return
        self.shared.on_room()
