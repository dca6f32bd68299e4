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
from typing import TYPE_CHECKING, Any, TypeVar

from airboss.background import Background
from airboss.errors import AirbossError, NotSignedIn, RuntimeUnavailable, SessionGone
from airboss.model.ids import new_id
from airboss.runtime.descriptors import give_back_descriptor_limit
from airboss.runtime.environment import agents_environment
from airboss.runtime.launcher import unreadable
from airboss.runtime.locate import Located, fallback, locate
from airboss.runtime.pids import note_in, runtime_under, supervised
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused
from airboss.runtime.sdk import load_sdk
from airboss.runtime.sdk_internals import buffered, close_pipes, join_readers, process_of
from airboss.runtime.sdk_wire import SdkWire
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

    @property
    def notes(self) -> Path:
        """Where it is written down which processes run: beside its home, in the data folder."""
        return self.home.parent / "runtimes"

    @property
    def launchers(self) -> Path:
        """Where the copy of the runtime's program lies that agents cannot read."""
        return self.home.parent / "launcher"

    @property
    def places(self) -> Places:
        return Places(self.home.parent)


@dataclass(frozen=True)
class RuntimeStatus:
    """What runs now."""

    version: str
    protocol: int
    pid: int
    located: Located
    starts: int
    sessions: int


@dataclass(frozen=True)
class RuntimeSignIn:
    """Who the runtime itself is signed in as, where no token is given."""

    signed_in: bool
    login: str | None
    how: str | None
    message: str | None


@dataclass(frozen=True)
class CopilotModel:
    """A model that Copilot's service offers to the one who asked."""

    id: str
    name: str
    multiplier: float | None
    max_prompt_tokens: int | None
    policy: str | None
    context_tokens: int | None = None
    efforts: tuple[str, ...] = ()
    vision: bool | None = None
    max_output_tokens: int | None = None


class Runtime:
    """The runtime of one server. Anything asked of it starts it, also after it died."""

    def __init__(self, plan: RuntimePlan) -> None:
        self.plan = plan
        self.starts = 0
        self._process: RuntimeProcess | None = None
        self._door = asyncio.Lock()
        self._background = Background("runtime")
        self._stopped = False

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        process = self._process
        return process.pid if process is not None and process.alive else None

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
        return tuple(_offer(model) for model in said.models)

    async def stop(self) -> None:
        """End it: first asking, then not. Nothing of it is left; never raises, never waits long."""
        self._stopped = True
        async with self._door:
            process = self._process
        if process is not None and process.alive:
            await asyncio.to_thread(process.put_outputs_aside)
            with contextlib.suppress(RuntimeUnavailable):
                shutdown = process.client.rpc.runtime.shutdown(timeout=_SHUTDOWN_SECONDS)
                await process.ask(shutdown, _SHUTDOWN_SECONDS)
            await asyncio.to_thread(_let_go, process.child, _EXIT_SECONDS)
            process.end("The server is stopping.")
        # Not cancelled where it takes longer: it sweeps, until the loop ends.
        await self._background.wait(_DEATH_SECONDS)

    async def _begin(self) -> RuntimeProcess:
        plan = self.plan
        first = await asyncio.to_thread(_prepare, plan)
        try:
            return await self._start(first)
        except RuntimeUnavailable:
            second = fallback(first)
            if second is None:
                raise
        return await self._start(second)

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
        client = _client(program, plan, environ, note)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await client.start()
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
        wire = SdkWire(asyncio.get_running_loop())
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
                note_in(self.plan.notes, process.mark).unlink(missing_ok=True)
                await asyncio.to_thread(self.plan.places.end, process.mark)
                CHILDREN.known.discard(process.child.pid)
                process.cleaned_up.set()


def _prepare(plan: RuntimePlan) -> Located:
    """Blocking work before a start: find the runtime, make its home, load the SDK (1 s once)."""
    located = locate(plan.path, plan.environ)
    plan.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    plan.home.chmod(0o700)
    plan.notes.mkdir(parents=True, exist_ok=True, mode=0o700)
    load_sdk()
    # All its errors come to us as exceptions; its log only repeats them, with their tracebacks.
    logging.getLogger("copilot").setLevel(logging.CRITICAL)
    return located


def _client(
    program: Path, plan: RuntimePlan, environ: dict[str, str], note: Path
) -> "CopilotClient":
    from copilot import CopilotClient, RuntimeConnection

    path, arguments = supervised(program, note) or (str(program), ())
    return buffered(CopilotClient)(
        connection=RuntimeConnection.for_stdio(path=path, args=arguments),
        working_directory=str(plan.home),
        base_directory=str(plan.home),
        env=environ,
        use_logged_in_user=plan.signed_in_user,
        log_level="error",
    )


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


def in_words(error: RuntimeRefused) -> RuntimeUnavailable | NotSignedIn:
    """A refusal for want of a sign-in says what to do; any other stays what it is."""
    said = str(error)
    refused = any(word in said for word in ("401", "403", "Unauthorized", "Forbidden"))
    if refused or "authenticated" in said or "No GitHub" in said:
        return NotSignedIn(
            "Copilot's service did not accept the sign-in. Set COPILOT_GITHUB_TOKEN to a valid "
            "token, or sign in with the Copilot CLI."
        )
    if "network fetch failed" in said:
        return RuntimeUnavailable(
            "Could not connect to Copilot. Check the network, or the proxy in HTTPS_PROXY. "
            f"Your own providers and the rehearsal model still work. Details: {said}"
        )
    return error


def gone(error: RuntimeRefused, session: str) -> AirbossError:
    if "not found" in str(error).lower() and "session" in str(error).lower():
        return SessionGone(f"The agent runtime has no record of session {session} any more.")
    return in_words(error)


def _offer(model: Any) -> CopilotModel:
    billing, policy = getattr(model, "billing", None), getattr(model, "policy", None)
    capabilities = getattr(model, "capabilities", None)
    limits = getattr(capabilities, "limits", None)
    state = getattr(policy, "state", None)
    return CopilotModel(
        id=str(model.id),
        name=str(model.name),
        multiplier=getattr(billing, "multiplier", None),
        max_prompt_tokens=getattr(limits, "max_prompt_tokens", None),
        policy=None if state is None else str(getattr(state, "value", state)),
        context_tokens=getattr(limits, "max_context_window_tokens", None),
        efforts=tuple(getattr(model, "supported_reasoning_efforts", None) or ()),
        vision=getattr(getattr(capabilities, "supports", None), "vision", None),
        max_output_tokens=getattr(limits, "max_output_tokens", None),
    )
