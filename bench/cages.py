"""(r) What a cage costs: its walls, a runtime and sessions in it, its memory, its end."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from airboss.cage_settings import CageProfile
from airboss.harness.providers import Upstream
from airboss.harness.proxy import ProviderProxy
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.model.events import Event
from airboss.model.ids import new_session_id
from airboss.model.redaction import Redactor
from airboss.runtime.cage.ability import ability
from airboss.runtime.cage.attempt import attempt
from airboss.runtime.cage.plan import CagePlan, cage_key
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.pool import Pool
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.runtime_plan import RuntimePlan
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import Signal, TurnFailed, TurnIdle
from bench.bare import TURN_SECONDS
from bench.figures import Pairs, spread
from bench.table import Line, Say
from bench.wire import Failed
from bench.workshop import Source, environment, rehearsal

CAGES = 10
WARM_UP = 2
MOST_WALLS, MOST_READY, MOST_OPENED = 60.0, 100.0, 120.0
MOST_CAGE_MB, MOST_SESSION_MB = 110.0, 15.0
MOST_TEN_SECONDS = 6.0
MOST_GONE, MOST_RESUMED = 200.0, 400.0
# A runtime writes its history down a moment behind a turn.
_WRITTEN_SECONDS = 0.8


def holds() -> bool:
    return ability().kind == "strong"


@dataclass
class Yard:
    """A pool whose runtimes are in cages or not. Those in cages hand their model calls over."""

    folder: Path
    source: Source
    proxy: ProviderProxy = field(default_factory=ProviderProxy)
    pool: Pool = field(init=False)

    def __post_init__(self) -> None:
        self.work.mkdir(exist_ok=True)
        plan = RuntimePlan(
            self.folder / "home",
            f"bench-{os.getpid()}",
            environ=environment(()),
            data=self.folder / "data",
            request_handler=self.proxy.answer_handed,
        )
        self.pool = Pool(plan, self.key("first", caged=False), CAGES)

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def key(self, name: str, *, caged: bool) -> PoolKey:
        if not caged:
            return PoolKey(name, self.folder / f"home-{name}", "byok")
        cage = CagePlan(
            "strong", "default", CageProfile(), self.work, cage_key("i", self.work, "default", name)
        )
        return PoolKey("i", self.folder / "home", "byok", cage=cage)

    async def open(
        self, key: PoolKey, idle: asyncio.Future[None] | None = None, **more: Any
    ) -> RuntimeSession:
        def hear(said: Event | Signal) -> None:
            if idle is None or idle.done():
                return
            if isinstance(said, TurnFailed):
                idle.set_exception(Failed(said.message))
            elif isinstance(said, TurnIdle):
                idle.set_result(None)

        asked: dict[str, Any] = {"id": new_session_id(), **more}
        provider = self.source.provider()
        if key.cage is not None:
            headers = {"authorization": f"Bearer {self.source.key}"}
            upstream = Upstream("bench", self.source.base_url, headers, allows_private=True)
            lent = await self.proxy.lend(upstream, handed=True)
            provider = {**provider, "base_url": lent.url}
        return await self.pool.open(
            SessionRequest(
                cwd=self.work,
                model=self.source.model,
                hear=hear,
                decide=_no,
                redactor=Redactor(),
                provider=provider,
                tools=JOB_TOOL_OFFERS,
                place=key,
                **asked,
            )
        )

    async def turned(self, key: PoolKey) -> RuntimeSession:
        """A session that has had a turn."""
        idle = asyncio.get_running_loop().create_future()
        session = await self.open(key, idle)
        await session.send("say yes")
        await asyncio.wait_for(idle, TURN_SECONDS)
        return session


async def _no(_: PermissionRequest) -> PermissionAnswer:
    return PermissionAnswer(allowed=False, reason="Nothing here needs it.")


@contextlib.asynccontextmanager
async def _yard(folder: Path, source: Source) -> AsyncGenerator[Yard]:
    yard = Yard(folder, source)
    try:
        yield yard
    finally:
        await yard.pool.stop()
        await yard.proxy.close()


def _since(began: float) -> float:
    return 1000 * (time.perf_counter() - began)


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    if not holds():
        say(f"not measured: {ability().why}")
        return []
    async with rehearsal(folder) as source:
        return [
            await _walls(folder, 8 if quick else 30, say),
            *await _ready(folder, source, 6 if quick else 20, say),
            await _memory(folder, source, say),
            await _ten(folder, source, 1 if quick else 3, say),
            await _gone(folder, source, 3 if quick else 8, say),
            await _resumed(folder, source, 3 if quick else 8, say),
        ]


async def _walls(folder: Path, times: int, say: Say) -> Line:
    work = folder / "walls"
    work.mkdir()
    taken: list[float] = []
    for number in range(-WARM_UP, times):
        plan = CagePlan("strong", "default", CageProfile(), work, f"walls-{number}")
        began = time.perf_counter()
        ended = await attempt(plan, folder / "data", ("/bin/true",))
        if ended.code:
            raise ValueError(ended.errors.decode(errors="replace"))
        if number >= 0:
            taken.append(_since(began))
    found = spread(taken)
    say(f"walls alone: {found.words(' ms')}")
    words = f"{found.words(' ms')}, least {min(taken):.1f} ms; {times} times"
    what = "a cage with nothing in it, from its making to its end"
    return Line("r", what, words, f"≤ {MOST_WALLS:.0f} ms", found.middle <= MOST_WALLS)


async def _ready(folder: Path, source: Source, rounds: int, say: Say) -> list[Line]:
    ready, opened = Pairs(), Pairs()
    for number in range(-WARM_UP, rounds):
        for is_caged in (True, False) if number % 2 else (False, True):
            async with _yard(folder, source) as yard:
                key = yard.key(f"ready-{number}", caged=is_caged)
                began = time.perf_counter()
                async with yard.pool.use(key) as runtime:
                    await runtime.status()
                    started = _since(began)
                    began = time.perf_counter()
                    await yard.open(key)
                    took = _since(began)
            if number >= 0:
                side = "portal" if is_caged else "bare"
                getattr(ready, side).append(started)
                getattr(opened, side).append(took)
    say(f"ready {median(ready.portal):.0f} ms, opened {median(opened.portal):.0f} ms")
    return [
        _pair("a runtime in a new cage, until it is ready", ready, MOST_READY),
        _pair("a session in a cage that is there", opened, MOST_OPENED),
    ]


def _pair(what: str, pairs: Pairs, most: float) -> Line:
    found = spread(pairs.portal)
    words = f"{found.words(' ms')}; {median(pairs.bare):.1f} ms without; {len(pairs.bare)} pairs"
    return Line("r", what, words, f"≤ {most:.0f} ms", found.middle <= most)


async def _memory(folder: Path, source: Source, say: Say) -> Line:
    """What the second cage adds. With the first come the pages of the runtime's program, which all
    runtimes of the machine share."""
    async with _yard(folder, source) as yard:
        said = [_megabytes()]
        for name in ("first", "second"):
            await yard.turned(yard.key(name, caged=True))
            said.append(_megabytes())
        before, one, two = said
        more = 4
        for _ in range(more):
            await yard.turned(yard.key("second", caged=True))
        session = (_megabytes() - two) / more
    cage, first = two - one, one - before
    say(f"{cage:.0f} MB a cage, {first:.0f} MB the first, {session:.1f} MB a session more")
    return Line(
        "r",
        "memory of a cage with one session, and of each more in it",
        f"{cage:.0f} MB, {session:.1f} MB; {first:.0f} MB where no other runtime runs",
        f"≤ {MOST_CAGE_MB:.0f}, {MOST_SESSION_MB:.0f} MB",
        cage <= MOST_CAGE_MB and session <= MOST_SESSION_MB,
    )


def _megabytes() -> float:
    """Of all that runs below us; what several share is counted once."""
    total = 0.0
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            total += one.memory_full_info().pss
    return total / 2**20


async def _ten(folder: Path, source: Source, times: int, say: Say) -> Line:
    pairs = Pairs()
    for number in range(times):
        for is_caged in (True, False):
            async with _yard(folder, source) as yard:
                keys = [yard.key(f"ten-{number}-{one}", caged=is_caged) for one in range(CAGES)]
                began = time.perf_counter()
                async with asyncio.TaskGroup() as tasks:
                    for key in keys:
                        tasks.create_task(yard.turned(key))
                side = pairs.portal if is_caged else pairs.bare
                side.append(_since(began) / 1000)
    found = median(pairs.portal)
    say(f"{CAGES} cages: {found:.1f} s")
    words = f"{found:.2f} s; {median(pairs.bare):.2f} s without; {times} times"
    goal = f"≤ {MOST_TEN_SECONDS:.0f} s"
    what = f"{CAGES} cages at once, until each had its first turn"
    return Line("r", what, words, goal, found <= MOST_TEN_SECONDS)


async def _gone(folder: Path, source: Source, times: int, say: Say) -> Line:
    taken: list[float] = []
    for number in range(times):
        async with _yard(folder, source) as yard:
            await yard.turned(yard.key(f"gone-{number}", caged=True))
            runtime = psutil.Process(yard.pool.pid)
            family = [runtime, *runtime.parents()[:2], *runtime.children(recursive=True)]
            began = time.perf_counter()
            family[2].send_signal(signal.SIGKILL)
            await asyncio.to_thread(until_gone, family)
            taken.append(_since(began))
    say(f"gone after {max(taken):.0f} ms")
    words = f"p50 {median(taken):.0f} ms, at most {max(taken):.0f} ms; {times} times"
    what = "the outer process is killed, until all of the cage is gone"
    return Line("r", what, words, f"≤ {MOST_GONE:.0f} ms", max(taken) <= MOST_GONE)


def until_gone(processes: list[psutil.Process]) -> None:
    """Blocking."""
    while any(map(_lives, processes)):
        time.sleep(0.001)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


async def _resumed(folder: Path, source: Source, times: int, say: Say) -> Line:
    taken: list[float] = []
    async with _yard(folder, source) as yard:
        for number in range(times):
            key = yard.key(f"resumed-{number}", caged=True)
            session = await yard.turned(key)
            await asyncio.sleep(_WRITTEN_SECONDS)
            pid = next(state.pid for state in yard.pool.states if state.key == key)
            killed = psutil.Process(pid)
            began = time.perf_counter()
            killed.kill()
            await asyncio.to_thread(until_gone, [killed])
            await yard.open(key, id=session.id, resume=True)
            taken.append(_since(began))
    say(f"resumed after {median(taken):.0f} ms")
    words = f"p50 {median(taken):.0f} ms, at most {max(taken):.0f} ms; {times} times"
    what = "a runtime gets kill -9, until its session is open again in a new cage"
    goal = f"≤ {MOST_RESUMED:.0f} ms"
    return Line("r", what, words, goal, median(taken) <= MOST_RESUMED)
