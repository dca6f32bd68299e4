"""What a worker that is gone left open beside its runs: chats, and tasks that no run goes on with.

Whoever finds a chat free ends it. Its history is where it was: so only its own place goes on with
one in which a person had decided something that its agent was not told.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.errors import AirbossError, StoreUnavailable
from airboss.log.log import EventLog
from airboss.model.ids import SessionId
from airboss.model.inbox_events import INBOX
from airboss.model.task_runs import TaskRunView
from airboss.model.views import OPEN_STATES, SessionView
from airboss.service.sessions import Sessions
from airboss.service.tasks import TaskRuns
from airboss.store.claims import Claims
from airboss.store.decided_chats import DecidedChat, DecidedChats

_RUNNING: Final = ("running",)

_log = logging.getLogger(__name__)


@dataclass
class LeftWork:
    """In the name of one worker."""

    log: EventLog
    sessions: Sessions
    tasks: TaskRuns
    claims: Claims
    _resuming: set[str] = field(default_factory=set[str])
    _work: Background = field(default_factory=lambda: Background("left work"))

    @property
    def _decided(self) -> DecidedChats:
        claims = self.claims
        return DecidedChats(claims.database, claims.worker, claims.place)

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def interrupt(self, names: Sequence[str]) -> None:
        """Sessions that this worker has claimed, and that another one left open."""
        # What others listed there is not listed again.
        await self.log.refresh(INBOX)
        views = [await self.log.view(name) for name in names]
        left = [view for view in views if isinstance(view, SessionView) and view.is_open]
        await self.sessions.interrupt(left)

    async def end_chats(self) -> None:
        """Whoever is asked to resume one has it then. Those of tasks go with their run."""
        for name in await self.claims.free(SessionView.stream_kind, OPEN_STATES):
            view = await self.log.view(name)
            if not isinstance(view, SessionView) or await self._has_open_run(view):
                continue
            async with self.sessions.alone(name):  # nobody here resumes it meanwhile
                if name not in await self.claims.claim([name]):
                    continue
                await self._note_decided(view)
                await self.interrupt([view.id])
                if view.task is None:
                    await self._release(name)
            if view.task is not None:
                await self.sessions.close(view.id, view.who)

    async def end_forgotten(self, names: Sequence[str]) -> None:
        """Chats that this worker has and does not work on: it wrote that it begins one, and the
        database was away before it heard so."""
        for name in names:
            async with self.sessions.alone(name):  # nobody here is just opening it
                view = await self.log.view(name)
                if not isinstance(view, SessionView) or not view.is_open or view.task is not None:
                    continue
                if not self.sessions.is_open(name):
                    await self.interrupt([view.id])
                    await self._release(name)

    async def release_unresumed(self, session: SessionId) -> None:
        """It could not be resumed here: another server may. One whose history is on this machine
        stays, for it would start over elsewhere."""
        bindings = self.sessions.bindings
        place = await bindings.store.place_of(session) if bindings else None
        view = await self.log.view(session)
        if place != self.claims.place and isinstance(view, SessionView) and view.task is None:
            await self._release(session)

    async def _release(self, name: str) -> None:
        await self.claims.release([name])
        self.log.let_go([name])

    async def _note_decided(self, view: SessionView) -> None:
        """First: where this worker ends in between, the next one finds the chat as it was."""
        who, bindings = await self.sessions.decided_by(view), self.sessions.bindings
        place = await bindings.store.place_of(view.id) if who and bindings else None
        if who and place:
            await self._decided.add(DecidedChat(view.id, who), place)

    async def resume_own(self) -> None:
        """Chats of this place that go on with what was decided."""
        for chat in await self._decided.own():
            if chat.session in self._resuming:
                continue
            view = await self.log.view(chat.session)
            if not isinstance(view, SessionView) or view.state == "closed":
                await self._decided.forget(chat.session)
            elif not view.is_open:
                self._resuming.add(chat.session)
                self._work.start_if_open(self._resume(chat, view), f"resume {chat.session}")

    async def _resume(self, chat: DecidedChat, view: SessionView) -> None:
        try:
            bindings = self.sessions.bindings
            place = await bindings.store.place_of(view.id) if bindings else None
            if place == self.claims.place:  # else somebody has gone on with it elsewhere
                await self.sessions.resume(chat.session, chat.who)
        except StoreUnavailable:
            return  # it is tried again
        except AirbossError as error:  # the session says so as well
            _log.info("Session %s was not resumed with a decision: %s", chat.session, error)
        finally:
            self._resuming.discard(chat.session)
        await self._decided.forget(chat.session)

    async def end_tasks(self) -> None:
        """Those that no run goes on with have crashed with their worker."""
        for name in await self.claims.free(TaskRunView.stream_kind, _RUNNING):
            view = await self.log.view(name)
            if not isinstance(view, TaskRunView) or await self.tasks.goes_on(view):
                continue
            if name in await self.claims.claim([name]):
                await self.tasks.crash(view)

    async def others(self, names: Sequence[SessionId]) -> frozenset[str]:
        """Those of these sessions that another worker has."""
        return await self.claims.others(names)

    async def _has_open_run(self, view: SessionView) -> bool:
        task = await self.log.view(view.task) if view.task else None
        if not isinstance(task, TaskRunView):
            return False
        run = await self.log.view(task.own_run or task.run or "")
        return run is not None and run.is_open
