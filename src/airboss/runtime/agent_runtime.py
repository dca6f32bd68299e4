"""Owns the agent runtime: one process for all sessions, started on demand, watched, replaced.

A runtime that dies says nothing, and one that hangs says nothing either. All that lived on it is
told within 2 s, and what its agents left running is swept before the next one starts.
"""

import asyncio
import contextlib
import logging
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from airboss.background import Background
from airboss.errors import RuntimeUnavailable
from airboss.model.ids import new_id
from airboss.model.traces import asked_in
from airboss.runtime.cage.launch import CagedLaunch, RunningCage, caged_launch
from airboss.runtime.cage.watch import Limit
from airboss.runtime.client_end import DEATH_SECONDS, abandon, let_go
from airboss.runtime.connection import (
    SHARED_SUFFIX,
    ClientPlan,
    OutsideRuntime,
    connected,
    new_token,
    own_client,
    write_shared,
)
from airboss.runtime.copilot_models import CopilotModel, copilot_model, in_words
from airboss.runtime.descriptors import give_back_descriptor_limit
from airboss.runtime.environment import agents_environment
from airboss.runtime.launcher import unreadable
from airboss.runtime.locate import Located, fallback, locate
from airboss.runtime.pids import note_in, runtime_under
from airboss.runtime.runtime_plan import RuntimePlan
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused
from airboss.runtime.sdk import load_sdk
from airboss.runtime.sdk_internals import process_of, tell_traces
from airboss.runtime.sdk_wire import SdkWire
from airboss.runtime.sweep import CHILDREN, sweep_life
from airboss.runtime.watchdog import watch

if TYPE_CHECKING:
    from copilot import CopilotClient
    from copilot.rpc import ModelList

Answer = TypeVar("Answer")

_NOTICED_SECONDS = 0.3
_START_SECONDS = 20.0
_SHUTDOWN_SECONDS = 0.8
_EXIT_SECONDS = 0.5
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")


@dataclass(frozen=True)
class RuntimeStatus:
    """What runs now."""

    version: str
    protocol: int
    # None for one that somebody else started.
    pid: int | None
    located: Located | None
    starts: int
    sessions: int


@dataclass(frozen=True)
class RuntimeSignIn:
    """Who the runtime itself is signed in as, where no token is given."""

    signed_in: bool
    login: str | None
    how: str | None
    message: str | None


class Runtime:
    """One runtime of a server. Anything asked of it starts it, also after it died."""

    def __init__(self, plan: RuntimePlan) -> None:
        self.plan = plan
        self.starts = 0
        self._process: RuntimeProcess | None = None
        self._door = asyncio.Lock()
        self._background = Background("runtime")
        self._stopped = False
        # Called when somebody has left it, and when it has ended.
        self.on_change: Callable[[], None] = lambda: None

    @property
    def open_sessions(self) -> int:
        return self._process.open_sessions if self._process is not None else 0

    @property
    def in_use(self) -> int:
        """Sessions that are open on it, or about to leave it."""
        return self._process.in_use if self._process is not None else 0

    @property
    def served(self) -> int:
        """How many sessions its process has had."""
        process = self._process
        return len(process.sessions) if process is not None and process.alive else 0

    async def swept(self) -> None:
        """Until what a process that died left running is ended."""
        process = self._process
        if process is not None and not process.alive:
            await process.cleaned_up.wait()

    @property
    def pid(self) -> int | None:
        """The process, while there is one that we started."""
        process = self._process
        return process.pid if process is not None and process.alive else None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.alive

    async def process(self) -> RuntimeProcess:
        """The living process; a new one where the last died, after its leftovers are swept."""
        async with self._door:
            if self._stopped:
                raise RuntimeUnavailable("The server is stopping.")
            process = self._process
            if process is not None and process.alive:
                return process
            if process is not None:
                await process.cleaned_up.wait()
            self._process = process = await self._begin()
            process.on_change = self.on_change
            self._background.start(self._keep(process), "watchdog")
            if process.cage is not None:
                self.plan.hear_cage(process.cage.news("opened"))
                self._background.start(self._bound(process, process.cage), "limits")
            return process

    async def on_process(self, work: Callable[[RuntimeProcess], Awaitable[Answer]]) -> Answer:
        """Do `work` on the living process; where that dies under it, once more on the next."""
        process = await self.process()
        try:
            return await work(process)
        except RuntimeRefused:
            raise
        except RuntimeUnavailable:
            # The SDK may see a process end a moment before the watchdog does.
            await asyncio.wait({process.ended}, timeout=_NOTICED_SECONDS)
            if process.alive or self._stopped:
                raise
        return await work(await self.process())

    async def status(self) -> RuntimeStatus:
        return await self.on_process(self._status)

    async def _status(self, process: RuntimeProcess) -> RuntimeStatus:
        said = await process.ask(process.client.get_status())
        return RuntimeStatus(
            version=said.version,
            protocol=said.protocol_version,
            pid=process.pid,
            located=process.located,
            starts=self.starts,
            sessions=process.open_sessions,
        )

    async def sign_in(self) -> RuntimeSignIn:
        """Who is signed in on this machine; a token that is given per session is not seen here."""
        said = await self.on_process(lambda process: process.ask(process.client.get_auth_status()))
        return RuntimeSignIn(said.isAuthenticated, said.login, said.authType, said.statusMessage)

    async def list_models(self, github_token: str | None = None) -> tuple[CopilotModel, ...]:
        """The models of Copilot's service, for this token or for the signed-in user."""

        def ask(process: RuntimeProcess) -> "Awaitable[ModelList]":
            from copilot.rpc import ModelsListRequest

            asked = ModelsListRequest(git_hub_token=github_token)
            return process.ask(process.client.rpc.models.list(asked))

        try:
            said = await self.on_process(ask)
        except RuntimeRefused as error:
            raise in_words(error) from error
        return tuple(copilot_model(model) for model in said.models)

    async def stop(self) -> None:
        """End it: first asking, then not. Nothing of it is left; never raises, never waits long."""
        self._stopped = True
        async with self._door:
            process = self._process
        if process is not None and process.alive:
            await asyncio.to_thread(process.put_outputs_aside)
            if process.child is not None:  # one of somebody else goes on
                with contextlib.suppress(RuntimeUnavailable):
                    shutdown = process.client.rpc.runtime.shutdown(timeout=_SHUTDOWN_SECONDS)
                    await process.ask(shutdown, _SHUTDOWN_SECONDS)
                await asyncio.to_thread(let_go, process.child, _EXIT_SECONDS)
            process.end("The server is stopping.")
        # Not cancelled where it takes longer: it sweeps, until the loop ends.
        await self._background.wait(DEATH_SECONDS)

    async def _begin(self) -> RuntimeProcess:
        plan = self.plan
        if plan.outside is not None:
            return await self._join(plan.outside)
        first = await asyncio.to_thread(_prepare, plan)
        try:
            return await self._start(first)
        except RuntimeUnavailable:
            second = fallback(first)
            if second is None:
                raise
        return await self._start(second)

    async def _join(self, outside: OutsideRuntime) -> RuntimeProcess:
        await asyncio.to_thread(_load_sdk)
        client = await connected(outside, was_lost=self.starts > 0)
        wire = SdkWire(asyncio.get_running_loop())
        wire.attach(client)
        self.starts += 1
        places, mark = self.plan.places, new_id("rtl")
        await asyncio.to_thread(places.begin, mark)
        return RuntimeProcess(client, None, wire, mark, None, None, places, outside.url)

    async def _start(self, located: Located) -> RuntimeProcess:
        plan, mark = self.plan, new_id("rtl")
        note = note_in(plan.notes, mark)
        temporary = await asyncio.to_thread(plan.places.begin, mark)
        program = await asyncio.to_thread(unreadable, located, plan.launchers)
        launch = await self._caged(located, program, note, mark)
        wanted = self._free(program, note, mark, temporary) if launch is None else launch.client
        token = wanted.shared_token
        client = own_client(wanted)
        cage: RunningCage | None = None
        try:
            async with asyncio.timeout(_START_SECONDS):
                await client.start()
            if token is not None:
                plan.learn(token)
                await asyncio.to_thread(write_shared, client, token, _shared(note), plan.home)
            child = _child_of(client)
            pid = await asyncio.to_thread(runtime_under, child, note)
            if launch is not None:
                cage = await launch.entered(child.pid, pid)
        except BaseException as error:
            await abandon(client)
            if launch is not None:
                await launch.life.close()
            await asyncio.to_thread(plan.places.end, mark)
            if not isinstance(error, Exception):
                raise
            raise RuntimeUnavailable(_why_not(located, error)) from error
        CHILDREN.known.add(child.pid)
        pid = pid if cage is None else cage.pid
        for number in {child.pid, pid}:
            give_back_descriptor_limit(number)
        is_caged = cage is not None
        wire = SdkWire(asyncio.get_running_loop(), plan.request_handler, is_caged=is_caged)
        wire.attach(client)
        self.starts += 1
        # In a cage long outputs stay in its own temporary folder: what an agent can write, it could
        # replace by a link while we move it.
        places = plan.places if cage is None else None
        process = RuntimeProcess(client, child, wire, mark, located, pid, places, cage=cage)
        wire.distrust = process.end
        return process

    async def _caged(
        self, located: Located, program: Path, note: Path, mark: str
    ) -> CagedLaunch | None:
        """How one is started that is in a cage."""
        plan = self.plan
        if plan.cage is None:
            return None
        try:
            return await caged_launch(plan, plan.cage, located, program, note, mark)
        except BaseException:
            await asyncio.to_thread(plan.places.end, mark)
            raise

    def _free(self, program: Path, note: Path, mark: str, temporary: Path) -> ClientPlan:
        """How one is started that is in no cage."""
        plan = self.plan
        environ = agents_environment(
            plan.environ,
            owner=plan.owner,
            life=mark,
            secrets=plan.secrets,
            secret_names=plan.secret_names,
        )
        environ |= dict.fromkeys(_TEMPORARY, str(temporary))
        token = new_token() if plan.is_shared else None
        return ClientPlan(
            *(program, note, plan.home, environ, plan.signed_in_user, plan.spans, token),
            request_handler=plan.request_handler,
        )

    async def _keep(self, process: RuntimeProcess) -> None:
        """Watch `process` to its end, tell it, and clear up. The next one waits for this."""
        try:
            reason = await watch(process)
            if process.alive and process.cage is not None:
                self._over_limit(process, process.cage, await process.cage.ended_by())
            process.end(reason)
        finally:
            process.end("The server is stopping.")
            try:
                await abandon(process.client)
                await sweep_life(process.mark, process.sessions)
                await process.settle()
                if process.cage is not None:
                    await process.cage.life.close()
                    self.plan.hear_cage(process.cage.news("closed"))
            finally:
                note = note_in(self.plan.notes, process.mark)
                for written in (note, _shared(note)):
                    written.unlink(missing_ok=True)
                await asyncio.to_thread(self.plan.places.end, process.mark)
                if process.child is not None:
                    CHILDREN.known.discard(process.child.pid)
                process.cleaned_up.set()
                self.on_change()

    async def _bound(self, process: RuntimeProcess, cage: RunningCage) -> None:
        """End a cage that goes over its limits. It is over with the process."""
        watching = self._background.call(cage.until_over(), "watch")
        try:
            await asyncio.wait({watching, process.ended}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                self._over_limit(process, cage, watching.result())
        finally:
            watching.cancel()

    def _over_limit(
        self, process: RuntimeProcess, cage: RunningCage, over: tuple[Limit, str] | None
    ) -> None:
        if over is not None and process.alive:
            self.plan.hear_cage(cage.news("limit", over[0]))
            process.end(over[1])


def _prepare(plan: RuntimePlan) -> Located:
    """Blocking work before a start: find the runtime, make its home, load the SDK (1 s once)."""
    located = locate(plan.path, plan.environ)
    plan.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    plan.home.chmod(0o700)
    plan.notes.mkdir(parents=True, exist_ok=True, mode=0o700)
    _load_sdk()
    return located


def _child_of(client: "CopilotClient") -> "subprocess.Popen[bytes]":
    child = process_of(client)
    if child is None:
        raise RuntimeUnavailable("The SDK does not say which process it started.")
    return child


def _load_sdk() -> None:
    load_sdk()
    tell_traces(asked_in)
    # All its errors come to us as exceptions; its log only repeats them, with their tracebacks.
    logging.getLogger("copilot").setLevel(logging.CRITICAL)


def _shared(note: Path) -> Path:
    return note.with_suffix(SHARED_SUFFIX)


def _why_not(located: Located, error: Exception) -> str:
    said = str(error).strip().splitlines()
    reason = "it did not answer for 20 s" if isinstance(error, TimeoutError) else " ".join(said[:3])
    return (
        f"The agent runtime at {located.path} did not start: {reason or type(error).__name__}. "
        "To find out why, run `airboss doctor`. To reinstall it, run `airboss setup`."
    )
