"""The services without HTTP, on the real runtime."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

from airboss.app import opened_services
from airboss.http.services import Services
from airboss.model.events import Recorded
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from airboss.service.access import Access
from airboss.settings import Settings
from airboss.store.folder import DataFolder


@dataclass
class House:
    """The services without HTTP, and the runtime's side of every session that they open."""

    services: Services
    agents: list[RuntimeSession] = field(default_factory=list[RuntimeSession])

    async def until_idle(self, session: str, after: int) -> list[Recorded]:
        found: list[Recorded] = []
        async with self.services.sessions.follow(session, after) as follower:
            while not found or found[-1].event.kind != "session.idle":
                said = await follower.next(20)
                assert said, "nothing came"
                found += said
        return found


@contextlib.asynccontextmanager
async def opened_house(tmp_path: Path) -> AsyncGenerator[House]:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    settings = Settings(data=folder.path, roots=(tmp_path,))
    access = Access(folder)
    async with opened_services(settings, folder, access, "http://localhost", _nothing) as services:
        house = House(services)
        open_session = services.sessions.open_session

        async def remembering(asked_for: SessionRequest) -> RuntimeSession:
            agent = await open_session(asked_for)
            house.agents.append(agent)
            return agent

        services.sessions.open_session = remembering
        try:
            yield house
        finally:  # left open, the engine would fail the tests that come after this one
            await services.runs.close()
            await services.sessions.stop()


def _nothing() -> None: ...
