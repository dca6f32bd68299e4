"""Several machines on one database: servers and workers, each with a data folder of its own."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from airboss.store.postgres_connection import connect
from bench.jobs import entry_in
from bench.processes import family
from bench.wire import Caller, Failed
from bench.workshop import (
    AIRBOSS,
    SECONDS,
    Server,
    Source,
    airboss,
    environment,
    first_line,
    prepare,
    running,
)

_WORKER_READY = "This worker is ready."
LEASE = 20.0


@dataclass
class Fleet:
    """All machines of a row, with one folder that they share."""

    folder: Path
    url: str
    source: Source
    lease: float = LEASE
    slots: int = 4
    _made: list[str] = field(default_factory=list[str])

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    def server(self, name: str) -> AbstractAsyncContextManager[Server]:
        folder, settings, options = self._of(name)
        return airboss(folder, self.source, options=options, more=settings, database=self.url)

    @contextlib.asynccontextmanager
    async def worker(self, name: str) -> AsyncGenerator[int]:
        """Its process id, once it is ready."""
        folder, settings, options = self._of(name)
        data, work = prepare(folder, self.source, more=settings)
        words = (str(AIRBOSS), "worker", "--data", str(data), "--root", str(work), *options)
        environ = {**environment((self.source,)), "AIRBOSS_DATABASE": self.url}
        log = folder / "worker.log"
        async with running(*words, environ=environ, log=log) as process:
            try:
                async with asyncio.timeout(SECONDS):
                    while _WORKER_READY not in await first_line(process):
                        pass
            except (Failed, TimeoutError) as failed:
                raise Failed(f"{failed} {log.read_text(encoding='utf-8')[-600:]}") from None
            yield process.pid

    def _of(self, name: str) -> tuple[Path, str, tuple[str, ...]]:
        self.shared.mkdir(exist_ok=True)
        self._made.append(name)
        folder = self.folder / f"{name}-{len(self._made)}"
        folder.mkdir()
        entry = entry_in(folder, self.source)
        named = {"name": name, "entry": str(entry)}
        settings = "".join(f"{key} = {json.dumps(value)}\n" for key, value in named.items())
        options = ("--shared-root", str(self.shared), "--max-tasks", str(self.slots))
        return folder, f"{settings}lease_seconds = {self.lease}\n", options

    async def start(self, caller: Caller, job: str) -> str:
        asked = {"job": job, "cwd": str(self.shared)}
        return str((await caller.post("/api/v1/runs", asked))["id"])

    # What the database says.

    def rows(self, asked: str, *values: object) -> list[Any]:
        with connect(self.url, autocommit=True) as connection:
            return connection.execute(asked.encode(), values).fetchall()

    async def states_of(self, runs: list[str]) -> list[str]:
        asked = "SELECT state FROM views WHERE stream = ANY(%s)"
        return [state for (state,) in await asyncio.to_thread(self.rows, asked, runs)]

    async def until_ended(self, runs: list[str], seconds: float = 120) -> list[str]:
        """Their states at the end."""
        async with asyncio.timeout(seconds):
            while True:
                with contextlib.suppress(OSError):
                    states = await self.states_of(runs)
                    if len(states) == len(runs) and {*states} <= _ENDED:
                        return states
                await asyncio.sleep(0.05)


_ENDED = {"succeeded", "failed", "stopped"}


def stop_all_of(pid: int) -> list[psutil.Process]:
    """As a machine that is gone: from one moment on, nothing of it runs any more."""
    stopped: list[psutil.Process] = []
    for process in family(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            os.kill(process.pid, signal.SIGSTOP)
            stopped.append(process)
    return stopped


def kill_all(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
