"""The runtimes of one server: a process for each identity, home and account that sessions have.

One of them that dies is nobody's loss but its own sessions'. One that nobody uses ends after a
while, and the one that was idle for longest ends at once where there are too many.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final

import psutil

from airboss.background import Background
from airboss.errors import CageUnavailable, RuntimesBusy, RuntimeUnavailable
from airboss.runtime.agent_runtime import Runtime, RuntimePlan, RuntimeSignIn, RuntimeStatus
from airboss.runtime.cage.programs import CagePrograms, ProgramNotStarted
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.session import RuntimeSession, open_session
from airboss.runtime.session_request import SessionRequest

IDLE_SECONDS: Final = 300.0
# A cage is of one chat or one run of a task: nobody else can use it when that has left it, and it
# takes its memory, and its time when the server ends. The next session of a run comes sooner.
_CAGE_IDLE_SECONDS: Final = 15.0
# A process grows by some 8 KB with each session that it has served.
_MOST_SESSIONS: Final = 5_000
_MOST_BYTES: Final = 700 * 1024 * 1024
# Its memory is looked at after so many.
_WEIGHED_EVERY: Final = 100


@dataclass
class PooledRuntime:
    """One of them. `users` are those who ask it something now, beside the sessions on it."""

    key: PoolKey
    runtime: Runtime
    users: int = 0
    idle_at: float = 0.0
    idle: asyncio.TimerHandle | None = None
    # While it ends: whoever wants it waits for that, and has a new one then.
    ending: "asyncio.Task[None] | None" = None
    weighed: int = 0

    @property
    def is_used(self) -> bool:
        return self.users > 0 or self.runtime.in_use > 0

    def counts_beside(self, key: PoolKey) -> bool:
        """Whether it is one of those of which there may be so many: those in cages and the others
        are counted apart."""
        is_there = self.is_used or self.runtime.is_running or self.ending is not None
        return is_there and (self.key.cage is None) == (key.cage is None)


@dataclass(frozen=True)
class PooledState:
    """One of them, as others see it."""

    key: PoolKey
    pid: int | None
    starts: int
    sessions: int


@dataclass
class Pool:
    """`plan` says how each is started; its home and sign-in are those of the key."""

    plan: RuntimePlan
    # For who asks about the runtime while none is there.
    default: PoolKey
    most: int = 8
    most_cages: int = 24
    idle_seconds: float = IDLE_SECONDS
    cage_idle_seconds: float = _CAGE_IDLE_SECONDS
    most_sessions: int = _MOST_SESSIONS
    most_bytes: int = _MOST_BYTES
    weighed_every: int = _WEIGHED_EVERY
    # Asked where all cages are in use; whether one is not any more.
    spare_cage: Callable[[], Awaitable[bool]] | None = None
    _runtimes: dict[PoolKey, PooledRuntime] = field(default_factory=dict[PoolKey, PooledRuntime])
    _background: Background = field(default_factory=lambda: Background("runtimes"))
    _room: asyncio.Event = field(default_factory=asyncio.Event)
    # Of those that are there no more.
    _past_starts: int = 0
    _past_restarts: int = 0
    _is_stopping: bool = False

    @contextlib.asynccontextmanager
    async def use(self, key: PoolKey) -> AsyncGenerator[Runtime]:
        """The runtime of this key, which does not end meanwhile. Refused where there are too many
        and all are in use."""
        entry = await self._entered(key)
        try:
            yield entry.runtime
        finally:
            entry.users -= 1
            self._look_at(entry)

    async def open(self, asked: SessionRequest) -> RuntimeSession:
        async with self.use(asked.place or self.default) as runtime:
            if asked.resume:
                await self._swept(runtime)
            return await open_session(runtime, asked)

    async def programs(self, key: PoolKey) -> CagePrograms:
        """What starts programs in the cage of this key; the cage is opened where it is not."""
        async with self.use(key) as runtime:
            cage = (await runtime.process()).cage
        if cage is None:
            raise ProgramNotStarted("It is in no cage.")
        return cage.programs

    async def _swept(self, runtime: Runtime) -> None:
        """What a process that died left running is ended, by the marks of its sessions too: one of
        them that goes on elsewhere would be swept with it."""
        for entry in list(self._runtimes.values()):
            if entry.runtime is not runtime:
                await entry.runtime.swept()

    async def _entered(self, key: PoolKey) -> PooledRuntime:
        while True:
            if self._is_stopping:
                raise RuntimeUnavailable("The server is stopping.")
            entry = self._runtimes.get(key)
            if entry is not None and entry.ending is not None:
                await asyncio.wait({entry.ending})
            elif (other := self._other_in_folder(key)) is not None:
                _must_be_free(other)
                await asyncio.wait({self._end(other)})
            elif self._has_room_for(key):
                return self._enter(key)
            elif (idlest := self._idlest(key)) is not None:
                await asyncio.wait({self._end(idlest)})
            elif not await self._spared(key):
                raise self._busy(key)

    def _other_in_folder(self, key: PoolKey) -> PooledRuntime | None:
        """The cage that lives in the folder that this one would live in, on other terms."""
        if key.cage is None:
            return None
        for one in self._runtimes.values():
            if one.key != key and one.key.cage and one.key.cage.key == key.cage.key:
                return one
        return None

    async def _spared(self, key: PoolKey) -> bool:
        """Whether somebody gave a cage back that nobody works in."""
        return key.cage is not None and self.spare_cage is not None and await self.spare_cage()

    def _enter(self, key: PoolKey) -> PooledRuntime:
        entry = self._runtimes.get(key)
        if entry is None:
            signs_in = key.mode == "cli"
            # Without a network only: others reach the proxy by its address.
            handler = self.plan.request_handler if key.cage is not None else None
            plan = replace(self.plan, home=key.home, signed_in_user=signs_in)
            runtime = Runtime(replace(plan, cage=key.cage, request_handler=handler))
            entry = self._runtimes[key] = PooledRuntime(key, runtime)
            runtime.on_change = lambda: self._look_at(entry)
        entry.users += 1
        if entry.idle is not None:
            entry.idle.cancel()
            entry.idle = None
        return entry

    def _has_room_for(self, key: PoolKey) -> bool:
        known = self._runtimes.get(key)
        if known is not None and known.counts_beside(key):
            return True
        most = self.most if key.cage is None else self.most_cages
        return sum(entry.counts_beside(key) for entry in self._runtimes.values()) < most

    def _idlest(self, key: PoolKey) -> PooledRuntime | None:
        counted = [one for one in self._runtimes.values() if one.counts_beside(key)]
        idle = [one for one in counted if not one.is_used]
        return min(idle, key=lambda one: one.idle_at, default=None)

    def _look_at(self, entry: PooledRuntime) -> None:
        """Whether it is idle now."""
        if entry.is_used or entry.ending is not None or self._is_stopping:
            return
        loop = asyncio.get_running_loop()
        if entry.idle is None:
            entry.idle_at = loop.time()
            seconds = self.idle_seconds if entry.key.cage is None else self.cage_idle_seconds
            entry.idle = loop.call_later(seconds, self._end_if_idle, entry)
        self._room.set()
        if entry.runtime.served >= self.most_sessions:
            self._end(entry)
        elif entry.runtime.served - entry.weighed >= self.weighed_every:
            entry.weighed = entry.runtime.served
            self._background.start_if_open(self._weigh(entry), "weigh")

    async def _weigh(self, entry: PooledRuntime) -> None:
        size = await asyncio.to_thread(_size_of, entry.runtime.pid)
        if size > self.most_bytes:
            self._end_if_idle(entry)

    def _end_if_idle(self, entry: PooledRuntime) -> None:
        if not entry.is_used and not self._is_stopping:
            self._end(entry)

    def _end(self, entry: PooledRuntime) -> "asyncio.Task[None]":
        if entry.ending is None:
            entry.ending = self._background.start(self._stop(entry), "stop")
        return entry.ending

    async def _stop(self, entry: PooledRuntime) -> None:
        if entry.idle is not None:
            entry.idle.cancel()
        try:
            await entry.runtime.stop()
        finally:
            self._past_starts += entry.runtime.starts
            self._past_restarts += max(0, entry.runtime.starts - 1)
            if self._runtimes.get(entry.key) is entry:
                del self._runtimes[entry.key]
            self._room.set()

    async def room(self) -> None:
        """Until one of them may have become free."""
        self._room.clear()
        await self._room.wait()

    async def must_have_room(self, key: PoolKey) -> None:
        """Refused as `use` would, before anything is written down."""
        if (other := self._other_in_folder(key)) is not None:
            _must_be_free(other)
        while not self._has_room_for(key) and self._idlest(key) is None:
            if not await self._spared(key):
                raise self._busy(key)

    def _busy(self, key: PoolKey) -> RuntimesBusy:
        if key.cage is not None:
            return RuntimesBusy(
                f"All {self.most_cages} cages are in use. Close sessions that run in one, or raise "
                "max_cages in the settings.",
                cages=self.most_cages,
            )
        return RuntimesBusy(
            f"All {self.most} agent runtimes are in use. Close the sessions of another account or "
            "identity, or raise max_runtimes in the settings."
        )

    async def end_cages(self, owners: Collection[str]) -> None:
        """Those of these owners that nobody uses."""
        caged = [one for one in self._runtimes.values() if one.key.cage is not None]
        meant = [one for one in caged if one.key.cage and one.key.cage.owner in owners]
        ending = [self._end(one) for one in meant if not one.is_used]
        if ending:
            await asyncio.wait(ending)

    async def stop(self) -> None:
        """All at the same time; nothing of them is left. Never raises."""
        self._is_stopping = True
        ending = [self._end(entry) for entry in list(self._runtimes.values())]
        if ending:
            await asyncio.wait(ending)
        self._room.set()

    # What others want to know.

    @property
    def states(self) -> tuple[PooledState, ...]:
        """Those that run."""
        return tuple(
            PooledState(one.key, one.runtime.pid, one.runtime.starts, one.runtime.open_sessions)
            for one in self._runtimes.values()
            if one.runtime.is_running
        )

    @property
    def starts(self) -> int:
        return self._past_starts + sum(one.runtime.starts for one in self._runtimes.values())

    @property
    def restarts(self) -> int:
        """How often one was started again after it died."""
        now = sum(max(0, one.runtime.starts - 1) for one in self._runtimes.values())
        return self._past_restarts + now

    @property
    def pid(self) -> int | None:
        """Of the one that has most sessions."""
        return max(self.states, key=lambda one: one.sessions).pid if self.states else None

    @property
    def outside(self) -> str | None:
        """The address of the runtime that somebody else started, where that is used."""
        return self.plan.outside and self.plan.outside.url

    def is_running(self, key: PoolKey) -> bool:
        return any(one.key == key for one in self.states)

    async def status(self) -> tuple[RuntimeStatus, ...]:
        """Of all that run; where none does, one is started."""
        keys = [one.key for one in self.states] or [self.default]
        return tuple([await self._status(key) for key in keys])

    async def _status(self, key: PoolKey) -> RuntimeStatus:
        async with self.use(key) as runtime:
            return await runtime.status()

    async def sign_in(self, key: PoolKey) -> RuntimeSignIn:
        async with self.use(key) as runtime:
            return await runtime.sign_in()


def _must_be_free(other: PooledRuntime) -> None:
    """A cage believes what is in its folder, and two of them would answer for each other."""
    if other.is_used:
        profile = other.key.cage.profile if other.key.cage else ""
        raise CageUnavailable(
            f"Another session works in this cage, with the profile {profile} as it was before it "
            "was changed. Try again when that session has ended."
        )


def _size_of(pid: int | None) -> int:
    try:
        return psutil.Process(pid).memory_info().rss if pid is not None else 0
    except psutil.Error:
        return 0
