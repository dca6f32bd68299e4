"""Owns the agent runtime: one process for all sessions, started on demand, watched, replaced.

A runtime that dies says nothing, and one that hangs says nothing either. All that lived on it is
told within 2 s, and what its agents left running is swept before the next one starts.
"""

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from airboss.background import Background
from airboss.errors import RuntimeUnavailable
from airboss.model.ids import new_id
from airboss.model.traces import asked_in
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
from airboss.runtime.handed_calls import ServeCall
from airboss.runtime.launcher import unreadable
from airboss.runtime.locate import Located, fallback, locate
from airboss.runtime.pids import note_in, runtime_under
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused
from airboss.runtime.sdk import load_sdk
from airboss.runtime.sdk_internals import (
    close_pipes,
    join_readers,
    process_of,
    tell_traces,
)
from airboss.runtime.sdk_wire import SdkWire
from airboss.runtime.span_target import SpanTarget
from airboss.runtime.sweep import CHILDREN, sweep_life
from airboss.runtime.watchdog import watch
from airboss.store.places import Places

if TYPE_CHECKING:
    from copilot import CopilotClient
    from copilot.rpc import ModelList

Answer = TypeVar("Answer")

_NOTICED_SECONDS = 0.3
_START_SECONDS = 20.0
_SHUTDOWN_SECONDS = 0.8
_EXIT_SECONDS = 0.5
_DEATH_SECONDS = 2.0
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")


@dataclass(frozen=True)
class RuntimePlan:
    """How a runtime is started: where it keeps its files, whose it is, and what it may not see."""

    home: Path
    owner: str
    path: Path | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    secrets: tuple[str, ...] = ()
    secret_names: tuple[str, ...] = ()
    signed_in_user: bool = False
    # Where it sends its own spans: an address on this machine.
    spans: SpanTarget | None = None
    # Where all else lies; without it beside the home.
    data: Path | None = None
    # Somebody else's, which is used in the place of one that we start.
    outside: OutsideRuntime | None = None
    # Whether other programs may use it too.
    is_shared: bool = False
    # Told what must never be shown.
    learn: Callable[[str], None] = lambda _: None
    # Makes its calls to models in its place.
    request_handler: ServeCall | None = None

    @property
    def _folder(self) -> Path:
        return self.home.parent if self.data is None else self.data

    @property
    def notes(self) -> Path:
        """Where it is written down which processes run, in the data folder."""
        return self._folder / "runtimes"

    @property
    def launchers(self) -> Path:
        """Where the copy of the runtime's program lies that agents cannot read."""
        return self._folder / "launcher"

    @property
    def places(self) -> Places:
        return Places(self._folder)


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
                await asyncio.to_thread(_let_go, process.child, _EXIT_SECONDS)
            process.end("The server is stopping.")
        # Not cancelled where it takes longer: it sweeps, until the loop ends.
        await self._background.wait(_DEATH_SECONDS)

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
        environ = agents_environment(
            plan.environ,
            owner=plan.owner,
            life=mark,
            secrets=plan.secrets,
            secret_names=plan.secret_names,
        )
        note = note_in(plan.notes, mark)
        temporary = await asyncio.to_thread(plan.places.begin, mark)
        environ |= dict.fromkeys(_TEMPORARY, str(temporary))
        program = await asyncio.to_thread(unreadable, located, plan.launchers)
        token = new_token() if plan.is_shared else None
        wanted = ClientPlan(
            *(program, note, plan.home, environ, plan.signed_in_user, plan.spans, token),
            request_handler=plan.request_handler,
        )
        client = own_client(wanted)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await client.start()
            if token is not None:
                plan.learn(token)
                await asyncio.to_thread(write_shared, client, token, _shared(note), plan.home)
        except BaseException as error:
            await _abandon(client)
            await asyncio.to_thread(plan.places.end, mark)
            if not isinstance(error, Exception):
                raise
            raise RuntimeUnavailable(_why_not(located, error)) from error
        child = process_of(client)
        if child is None:
            raise RuntimeUnavailable("The SDK does not say which process it started.")
        CHILDREN.known.add(child.pid)
        pid = await asyncio.to_thread(runtime_under, child, note)
        for number in {child.pid, pid}:
            give_back_descriptor_limit(number)
        wire = SdkWire(asyncio.get_running_loop(), plan.request_handler)
        wire.attach(client)
        self.starts += 1
        return RuntimeProcess(client, child, wire, mark, located, pid, plan.places)

    async def _keep(self, process: RuntimeProcess) -> None:
        """Watch `process` to its end, tell it, and clear up. The next one waits for this."""
        try:
            process.end(await watch(process))
        finally:
            process.end("The server is stopping.")
            try:
                await _abandon(process.client)
                await sweep_life(process.mark, process.sessions)
                await process.settle()
            finally:
                note = note_in(self.plan.notes, process.mark)
                for written in (note, _shared(note)):
                    written.unlink(missing_ok=True)
                await asyncio.to_thread(self.plan.places.end, process.mark)
                if process.child is not None:
                    CHILDREN.known.discard(process.child.pid)
                process.cleaned_up.set()
                self.on_change()


def _prepare(plan: RuntimePlan) -> Located:
    """Blocking work before a start: find the runtime, make its home, load the SDK (1 s once)."""
    located = locate(plan.path, plan.environ)
    plan.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    plan.home.chmod(0o700)
    plan.notes.mkdir(parents=True, exist_ok=True, mode=0o700)
    _load_sdk()
    return located


def _load_sdk() -> None:
    load_sdk()
    tell_traces(asked_in)
    # All its errors come to us as exceptions; its log only repeats them, with their tracebacks.
    logging.getLogger("copilot").setLevel(logging.CRITICAL)


def _shared(note: Path) -> Path:
    return note.with_suffix(SHARED_SUFFIX)


async def _abandon(client: "CopilotClient") -> None:
    """Kill the client's process, wait for its end, and close what the SDK leaves open."""
    process = process_of(client)
    if process is not None:
        await asyncio.to_thread(_end, process, client)
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.force_stop(), _DEATH_SECONDS)
    if process is not None:
        close_pipes(process)


def _let_go(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """It ends by itself when nobody speaks to it any more."""
    with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
        if process.stdin is not None:
            process.stdin.close()
        process.wait(seconds)


def _end(process: "subprocess.Popen[bytes]", client: "CopilotClient") -> None:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        if sys.platform == "linux":  # a supervisor takes all below it along
            process.terminate()
            process.wait(_DEATH_SECONDS / 2)
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait(_DEATH_SECONDS)
        join_readers(client, _DEATH_SECONDS / 4)


def _why_not(located: Located, error: Exception) -> str:
    said = str(error).strip().splitlines()
    reason = "it did not answer for 20 s" if isinstance(error, TimeoutError) else " ".join(said[:3])
    return (
        f"The agent runtime at {located.path} did not start: {reason or type(error).__name__}. "
        "To find out why, run `airboss doctor`. To reinstall it, run `airboss setup`."
    )
