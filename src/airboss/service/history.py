"""What is left of sessions that have ended: it can be looked for, and deleted for good."""

from dataclasses import dataclass

from airboss.errors import Conflict
from airboss.log.log import EventLog
from airboss.model.views import SessionView
from airboss.service.sessions import Sessions


@dataclass
class History:
    """All that was said on this server."""

    log: EventLog
    sessions: Sessions

    async def delete_session(self, session: str) -> None:
        """For good. What belongs to something else goes with that."""
        async with self.sessions.alone(session):
            await self.log.last_view(session)  # what it said a moment ago is written, then deleted
            view = await self.sessions.show(session)
            if self.sessions.is_open(session) or view.is_open:
                raise Conflict("The session is open. Close it first.")
            await self._must_be_its_own(view)
            await self.log.forget([view.id])

    async def _must_be_its_own(self, view: SessionView) -> None:
        if view.run is not None and await self.log.view(view.run) is not None:
            raise Conflict(
                f"The session belongs to the run {view.run}. Delete the run, and it goes with it."
            )
        if view.task is None:
            return
        task = await self.log.view(view.task)
        if task is not None and task.is_open:
            raise Conflict(f"The session belongs to the task run {view.task}. Stop that first.")
