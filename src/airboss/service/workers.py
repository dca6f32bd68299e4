"""Who works on what, for people: all machines of a database, each with its beat as this server sees
it, or the one server that there is. It moves nothing."""

import asyncio
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from airboss.background import Background
from airboss.engine.slots import Slots
from airboss.log.log import EventLog
from airboss.machines.lease import BeatNotes, LeaseTimes
from airboss.model.runs import OPEN_RUNS, LoneRunView, RunState, RunView
from airboss.model.words import Frozen
from airboss.service.pages import page_of_views
from airboss.service.runs import Runs
from airboss.settings import Settings
from airboss.store.database import Database
from airboss.store.notices import WORK
from airboss.store.ownership import HERE
from airboss.store.worker_rows import (
    AllWorkers,
    OpenRun,
    WorkerRow,
    WorkerState,
    read_workers,
)

# What pages are told when a machine comes, goes, or is not heard.
MACHINES: Final = "machines"
# The database is asked no more often, however many look.
LOOK_SECONDS: Final = 1.0
# Behind the end of a lease: until somebody has looked, and has taken what is free.
_TAKING_MS: Final = 2_000
_MOST_RUNS: Final = 100


class WorkerRun(Frozen):
    """A run that has not ended, as one who looks at machines needs it."""

    id: str
    # `lone`: around a task that was started by itself.
    kind: str
    job: str
    title: str
    state: RunState
    started_at: int
    # How many of its tasks have ended, and those that are at work by their names.
    done: int
    working: tuple[str, ...] = ()
    waits_for: str | None = None
    cwd: str
    # Whether other machines have its folder, too.
    can_move: bool = False


class WaitingRun(WorkerRun):
    """One that nobody works on. `held_by`: the machine that had it last."""

    held_by: str | None = None


class WorkerFacts(Frozen):
    """A worker: one process, from its start to its end. A machine that starts anew has another."""

    id: str
    name: str
    host: str
    pid: int
    version: str
    state: WorkerState
    # Whether it is the server that answers, and whether people can open pages there.
    is_here: bool
    has_pages: bool
    # How long ago this server saw its beat move, by its own clock; null of one that has ended.
    beat_age_ms: int | None = None
    # Whether that is no longer than usual. One that is not heard may still live.
    is_heard: bool = True
    # Of one that is not heard: in about so long its runs go on elsewhere.
    takeover_ms: int | None = None
    # When it was last heard of, by the database's clock.
    seen_at: int
    slots: int
    slots_used: int
    runs: tuple[WorkerRun, ...] = ()
    labels: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    shared_roots: tuple[str, ...] = ()
    # How far its clock is ahead of the database's.
    clock_offset_ms: int = 0
    began_at: int | None = None
    # When it left or was found lost, and how many runs it had then.
    ended_at: int | None = None
    runs_left: int = 0


class WorkerList(Frozen):
    """Those that live first, then those that were heard of last."""

    items: tuple[WorkerFacts, ...]
    # Runs that nobody works on, the oldest first.
    waiting: tuple[WaitingRun, ...] = ()
    # Whether several machines can share the database.
    is_shared: bool
    # So many tasks may be at work on all machines together, and so many wait for room there.
    max_tasks_all: int | None = None
    tasks_waiting: int = 0
    lease_ms: int | None = None
    # The shared database, and how long it took to answer.
    database: str | None = None
    answered_ms: int | None = None


class Workers(Protocol):
    """What a page of machines asks."""

    async def all(self) -> WorkerList: ...

    def counts(self) -> dict[str, int]:
        """What this one did among others, since its start."""
        ...


@dataclass(frozen=True)
class OneWorker:
    """A server with a data folder of its own: nobody else works there."""

    settings: Settings
    version: str
    pid: int
    runs: Runs
    slots: Slots

    async def all(self) -> WorkerList:
        found: list[RunView] = []
        for kind in (RunView, LoneRunView):
            page = await page_of_views(self.runs.index, kind, OPEN_RUNS, None, _MOST_RUNS)
            found += page.items
        here = WorkerFacts(
            id=HERE.worker,
            name=self.settings.name or platform.node(),
            host=platform.node(),
            pid=self.pid,
            version=self.version,
            state="alive",
            is_here=True,
            has_pages=True,
            beat_age_ms=0,
            seen_at=time.time_ns() // 1_000_000,
            slots=self.slots.count,
            slots_used=self.slots.taken_count,
            runs=tuple(WorkerRun(**_words(run)) for run in sorted(found, key=_age)),
            roots=tuple(str(root) for root in self.settings.roots),
        )
        return WorkerList(items=(here,), is_shared=False)

    def counts(self) -> dict[str, int]:
        return {}


@dataclass
class SharedWorkers:
    """All workers of one database, as this one sees them: `notes` are those of its own heart."""

    me: str
    times: LeaseTimes
    notes: BeatNotes
    database: Database
    log: EventLog
    counts: Callable[[], dict[str, int]]
    slots: Slots
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _found: AllWorkers | None = None
    _found_at: float = 0.0
    _took_ms: int = 0
    _work: Background = field(default_factory=lambda: Background("workers"))

    def start(self) -> None:
        self._work.start(self._watch(), "watching")
        self._work.start(self._listen(), "listening")

    async def close(self) -> None:
        await self._work.close(cancel=True)

    async def all(self) -> WorkerList:
        found = await self._look()
        waiting = [run for run in found.runs if run.owner is None]
        return WorkerList(
            items=tuple(self._facts(row, found) for row in found.workers),
            waiting=tuple(_waiting(run) for run in waiting[:_MOST_RUNS]),
            is_shared=True,
            max_tasks_all=self.slots.overall,
            tasks_waiting=found.tasks_waiting,
            lease_ms=round(self.times.seconds * 1000),
            database=f"PostgreSQL {found.version}",
            answered_ms=self._took_ms,
        )

    async def _look(self) -> AllWorkers:
        async with self._asking:
            if self._found is None or time.monotonic() - self._found_at >= LOOK_SECONDS:
                began = time.monotonic()
                self._found = await self.database.read(read_workers)
                self._found_at = time.monotonic()
                self._took_ms = round((self._found_at - began) * 1000)
            return self._found

    def _facts(self, row: WorkerRow, found: AllWorkers) -> WorkerFacts:
        lives, is_here = row.state in ("alive", "draining"), row.id == self.me
        age = None
        if lives:
            seen = None if is_here else self.notes.age(row.id, row.beat, time.monotonic())
            age = seen or 0.0
        times = LeaseTimes(self.notes.lease_of(row.id))
        is_heard = age is None or age < times.quiet
        left = None if is_heard or age is None else round((times.seconds - age) * 1000)
        return WorkerFacts(
            id=row.id,
            name=row.name,
            host=row.host,
            pid=row.pid,
            version=row.version,
            state=row.state,
            is_here=is_here,
            has_pages=row.pages,
            beat_age_ms=None if age is None else round(age * 1000),
            is_heard=is_heard and lives,
            takeover_ms=None if left is None else max(0, left) + _TAKING_MS,
            seen_at=row.seen_at,
            slots=row.slots,
            slots_used=found.slots_used(row.id),
            runs=tuple(
                WorkerRun(**_words(run.view), can_move=run.can_move)
                for run in found.runs_of(row.id)[:_MOST_RUNS]
            ),
            labels=tuple(row.labels),
            roots=tuple(row.roots),
            shared_roots=tuple(row.shared_roots),
            clock_offset_ms=row.offset_ms,
            began_at=row.began_at,
            ended_at=row.ended_at,
            runs_left=row.runs_left,
        )

    async def _listen(self) -> None:
        """Who ends says so, and frees what it had."""
        with self.log.changes(WORK) as heard:
            while not heard.is_over:
                if await heard.within():
                    self._tell()

    async def _watch(self) -> None:
        """Who begins, or is silent, says nothing: it is seen."""
        known: dict[str, bool] = {}
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            seen = self.notes.moved_since(time.monotonic() - self.times.quiet)
            if seen != known:
                known = seen
                self._tell()

    def _tell(self) -> None:
        self._found = None
        if self.log.is_heard:
            self.log.announce(MACHINES)


def _waiting(run: OpenRun) -> WaitingRun:
    return WaitingRun(**_words(run.view), can_move=run.can_move, held_by=run.held_by)


def _words(run: RunView) -> dict[str, Any]:
    return {
        "id": run.id,
        "kind": run.stream_kind,
        "job": run.job,
        "title": _title(run),
        "state": run.state,
        "started_at": run.created_at,
        "done": run.task_runs,
        "working": tuple(work.task for work in run.running if work.waits_for is None),
        "waits_for": run.waits_for,
        "cwd": run.cwd,
    }


def _age(run: RunView) -> int:
    return run.created_at


def _title(run: RunView) -> str:
    if isinstance(run, LoneRunView):
        return run.task
    job = run.title or run.job
    return f"{job}: {run.short_title}" if run.short_title else job
