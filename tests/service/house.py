"""The services without HTTP, on the real runtime and the built-in rehearsal."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airboss.app import opened_services
from airboss.errors import AirbossError
from airboss.harness.session_terms import OpenSession
from airboss.http.services import Services
from airboss.model.events import Event
from airboss.model.ids import SessionId
from airboss.model.views import SessionView
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from airboss.service.access import Access
from airboss.service.sessions import Sessions
from airboss.settings import Settings
from airboss.store.folder import DataFolder
from tests.houses import HOUSES

ME = "me"


@dataclass
class House:
    """One server's services; several after another may have the same folder."""

    services: Services
    work: Path

    @property
    def sessions(self) -> Sessions:
        return self.services.sessions

    async def start(self) -> SessionView:
        return await self.sessions.start("rehearsal", str(self.work), ME)

    async def story(self, session: str) -> list[Event]:
        """All events without deltas, when everything is written."""
        open_ones = self.sessions._open  # pyright: ignore[reportPrivateUsage]
        if talk := open_ones.get(SessionId(session)):
            with contextlib.suppress(AirbossError):  # the disk's trouble is the test's own
                await talk.writer.settle()  # who asked hears of a turn's end before the disk does
        page = await self.sessions.events(session, 0, 1000)
        return [said.event for said in page.items if not said.event.kind.endswith(".delta")]

    async def kinds(self, session: str) -> list[str]:
        return [event.kind for event in await self.story(session)]

    async def until(
        self, session: str, *states: str, turns: int = 0, seconds: float = 20
    ) -> SessionView:
        async with asyncio.timeout(seconds), self.sessions.follow(session, 0) as follower:
            view = await self.sessions.show(session)
            while view.state not in states or view.turns < turns:
                await follower.next(1)
                view = await self.sessions.show(session)
        return view

    async def until_event(self, session: str, kind: str, seconds: float = 20) -> None:
        async with asyncio.timeout(seconds), self.sessions.follow(session, 0) as follower:
            while kind not in [one.event.kind for one in await follower.next(1)]:
                pass

    def kill_runtime(self) -> None:
        pid = self.services.status.pool.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def lose_what_is_opened(self) -> OpenSession:
        """From now on the runtime dies between opening a session and saying so."""
        opened = self.sessions.open_session

        async def open_session(request: SessionRequest) -> RuntimeSession:
            agent = await opened(request)
            self.kill_runtime()
            async with asyncio.timeout(20):
                while agent.alive:  # noqa: ASYNC110 - it has no event for this
                    await asyncio.sleep(0.01)
            return agent

        self.sessions.open_session = open_session
        return opened


@contextlib.asynccontextmanager
async def house_in(folder: Path, **settings: Any) -> AsyncGenerator[House]:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    data = DataFolder(folder / "data")
    data.create()
    database = HOUSES.settings(data.path)
    given: dict[str, Any] = {"permissions": "read-only", "roots": (work,), **database, **settings}
    chosen = Settings(data=data.path, **given)
    access = Access(data)
    async with opened_services(chosen, data, access, "http://localhost", _nothing) as services:
        try:
            yield House(services, work)
        finally:  # left open by a test that fails, it would fail all that come after it
            await services.runs.close()
            await services.sessions.stop()


def _nothing() -> None:
    """Nobody stops this server."""
