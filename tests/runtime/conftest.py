"""A real runtime in a folder of its own, a model on loopback, and somebody who listens."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from airboss.model.events import Event
from airboss.model.ids import new_session_id
from airboss.model.redaction import Redactor
from airboss.runtime.agent_runtime import Runtime, RuntimePlan
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.session import RuntimeSession, open_session
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import RuntimeLost, Signal, TurnIdle
from tests.pauses import pauses
from tests.runtime.copilot_service import Stage, on_stage

Told = TypeVar("Told")


@dataclass
class Listener:
    """Hears one session, and can wait for what it hears."""

    told: list[Event | Signal] = field(default_factory=list[Event | Signal])
    permissions: list[PermissionRequest] = field(default_factory=list[PermissionRequest])
    answer: PermissionAnswer = PermissionAnswer(allowed=True, reason="")  # noqa: RUF009
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, said: Event | Signal) -> None:
        self.told.append(said)
        self._came.set()

    async def decide(self, request: PermissionRequest) -> PermissionAnswer:
        self.permissions.append(request)
        return self.answer

    def all(self, kind: type[Told]) -> list[Told]:
        return [said for said in self.told if isinstance(said, kind)]

    async def until(self, kind: type[Told], seconds: float = 15) -> Told:
        """The next one of this kind that is told; what came before it is forgotten afterwards."""
        async with asyncio.timeout(seconds):
            while not self.all(kind):
                self._came.clear()
                await self._came.wait()
        return self.all(kind)[0]

    async def until_over(self, seconds: float = 15) -> TurnIdle | RuntimeLost:
        async with asyncio.timeout(seconds):
            while not (over := [*self.all(TurnIdle), *self.all(RuntimeLost)]):
                self._came.clear()
                await self._came.wait()
        return over[0]


@dataclass
class Flight:
    """What a test about sessions needs."""

    runtime: Runtime
    stage: Stage
    folder: Path

    async def session(self, listener: Listener, **changes: Any) -> RuntimeSession:
        request = SessionRequest(
            id=new_session_id(),
            cwd=self.folder,
            model="stand-in",
            hear=listener.hear,
            decide=listener.decide,
            redactor=Redactor(),
            provider=self.stage.provider,
        )
        return await open_session(self.runtime, replace(request, **changes))


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    async with on_stage(Stage()) as stage:
        yield stage


@pytest.fixture
def environ() -> dict[str, str]:
    """The server's environment, for tests that add to it."""
    return dict(os.environ)


@contextlib.asynccontextmanager
async def in_flight(stage: Stage, folder: Path, environ: dict[str, str]) -> AsyncGenerator[Flight]:
    (folder / "work").mkdir(exist_ok=True)
    places = ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    addresses = ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL")
    plan = RuntimePlan(
        home=folder / "copilot-home",
        owner=f"test-{folder.name}-{os.getpid()}",
        environ={
            **environ,
            **{name: str(folder / name) for name in places},
            **dict.fromkeys(addresses, stage.address),
        },
    )
    runtime = Runtime(plan)
    try:
        yield Flight(runtime, stage, folder / "work")
    finally:
        await runtime.stop()


@pytest.fixture
async def flight(
    stage: Stage, environ: dict[str, str], tmp_path: Path, anyio_backend: str
) -> AsyncGenerator[Flight]:
    async with in_flight(stage, tmp_path, environ) as flight:
        yield flight


@pytest.fixture
def listener() -> Listener:
    return Listener()


def running(words: str) -> list[int]:
    """The processes whose command line has these words, zombies left out."""
    found: list[int] = []
    for process in psutil.process_iter():
        try:
            if words in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


async def soon(condition: Callable[[], object], seconds: float = 15) -> bool:
    """Whether `condition` becomes true in time."""
    loop = asyncio.get_running_loop()
    end, pause = loop.time() + seconds, pauses()
    while not (met := bool(condition())) and loop.time() < end:  # noqa: ASYNC110  # no event
        await asyncio.sleep(next(pause))
    return met
