"""How this server is: what it runs on, who is signed in, and what a doctor would say."""

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from airboss.errors import AirbossError
from airboss.harness.models import Catalog
from airboss.log.log import EventLog
from airboss.model.roles import Role
from airboss.provider_settings import Provider
from airboss.runtime.agent_runtime import Runtime, RuntimeSignIn
from airboss.runtime.locate import CLI_VERSION, locate
from airboss.runtime.undumpable import remedy, why_open
from airboss.service.entries import Entries
from airboss.service.folders import Folders
from airboss.service.sessions import Sessions
from airboss.settings import Settings
from airboss.store.folder import DataFolder

_CHECK_SECONDS = 25.0
_SIGN_IN_SECONDS = 2.0
_LITTLE_SPACE = 500 * 1024 * 1024


class _StatusPart(BaseModel):
    model_config = ConfigDict(frozen=True)


class RuntimeState(_StatusPart):
    """The agent runtime's process, or why there is none."""

    state: Literal["stopped", "running", "missing"]
    path: str | None = None
    source: str | None = None
    native: bool | None = None
    version: str = CLI_VERSION
    pid: int | None = None
    restarts: int = 0
    detail: str = ""


class CopilotState(_StatusPart):
    """Who is signed in to Copilot, and how. `signed_in` is null until the runtime was asked."""

    signed_in: bool | None
    how: str
    login: str | None
    detail: str


class ProviderState(_StatusPart):
    """A provider of one's own. Its key is told by its presence only."""

    name: str
    type: str
    base_url: str
    models: tuple[str, ...]
    key: Literal["set", "missing", "none"]


class RehearsalState(_StatusPart):
    """Whether a scripted model is served."""

    on: bool
    builtin: bool
    script: str | None


class SessionCounts(_StatusPart):
    """Sessions of this server right now."""

    open: int
    working: int


class EntryState(_StatusPart):
    """The entry in use, and what a person should know about it."""

    source: str
    path: str | None
    digest: str
    tasks: int
    jobs: int
    problem: str | None
    # Of the file that should be used and cannot be.
    mistakes: int = 0
    mistaken_path: str | None = None


class Status(_StatusPart):
    """Everything a person asks first."""

    version: str
    started_at: int
    data_folder: str
    url: str
    # Every name and port that this server is called by: links there are links to itself.
    hosts: tuple[str, ...]
    policy: str
    repo_root: str
    roots: tuple[str, ...]
    who: str
    # What whoever asks may do; null for one whose token ended while they asked.
    role: Role | None
    runtime: RuntimeState
    copilot: CopilotState
    providers: tuple[ProviderState, ...]
    rehearsal: RehearsalState
    sessions: SessionCounts
    # Null in test mode, before one was installed.
    entry: EntryState | None
    trouble: str | None


class Check(_StatusPart):
    """One thing the doctor looked at."""

    id: str
    state: Literal["ok", "warn", "fail"]
    summary: str
    detail: str = ""
    remedy: str = ""
    ms: int = 0


@dataclass
class ServerStatus:
    """Asks every part how it is. Nothing here waits without a limit."""

    version: str
    url: str
    hosts: tuple[str, ...]
    started_at: int
    settings: Settings
    environ: Mapping[str, str]
    folders: Folders
    runtime: Runtime
    catalog: Catalog
    sessions: Sessions
    entries: Entries
    log: EventLog
    _sign_in: RuntimeSignIn | None = None

    async def show(self, who: str, role: Role | None) -> Status:
        settings, rehearsal = self.settings, self.catalog.rehearsal
        opened, working = self.sessions.open_count()
        if self.runtime.pid and self._sign_in is None:
            with contextlib.suppress(AirbossError, TimeoutError):  # then it is not known yet
                async with asyncio.timeout(_SIGN_IN_SECONDS):
                    await self.learn_who_is_signed_in()
        return Status(
            version=self.version,
            started_at=self.started_at,
            data_folder=str(settings.data),
            url=self.url,
            hosts=self.hosts,
            policy=settings.permissions,
            repo_root=str(self.folders.repo_root),
            roots=tuple(str(root) for root in self.folders.roots),
            who=who,
            role=role,
            runtime=await asyncio.to_thread(self._runtime),
            copilot=self._copilot(),
            providers=tuple(self._provider(provider) for provider in settings.providers),
            rehearsal=RehearsalState(
                on=rehearsal is not None,
                builtin=rehearsal is not None and rehearsal.builtin,
                script=str(settings.rehearsal) if settings.rehearsal else None,
            ),
            sessions=SessionCounts(open=opened, working=working),
            entry=await self._entry(),
            trouble=str(self.log.trouble) if self.log.trouble else None,
        )

    async def _entry(self) -> EntryState | None:
        used = await self.entries.current()
        if used is None:
            return None
        return EntryState(
            source=used.source,
            path=used.shown_path,
            digest=used.digest,
            tasks=len(used.entry.tasks),
            jobs=len(used.entry.jobs),
            problem=used.problem,
            mistakes=used.mistakes,
            mistaken_path=used.shown_mistaken_path,
        )

    def _runtime(self) -> RuntimeState:
        try:
            located = locate(self.settings.copilot_cli, self.environ)
        except AirbossError as error:
            return RuntimeState(state="missing", detail=str(error))
        pid = self.runtime.pid
        return RuntimeState(
            state="running" if pid else "stopped",
            path=str(located.path),
            source=located.source,
            native=located.native,
            pid=pid,
            restarts=max(0, self.runtime.starts - 1),
            detail="" if pid else "It starts with the first session.",
        )

    def _copilot(self) -> CopilotState:
        identity, said = self.catalog.identity, self._sign_in
        if identity.token:
            problem = self.catalog.problem
            detail = problem or f"Each session uses the token in {identity.how}."
            return CopilotState(
                signed_in=problem is None, how=identity.how, login=None, detail=detail
            )
        if said is None:
            return CopilotState(
                signed_in=None,
                how="cli",
                login=None,
                detail="Not known until the runtime has started.",
            )
        how = "cli" if said.signed_in else "none"
        detail = said.message or "No token is set, and nobody is signed in."
        return CopilotState(signed_in=said.signed_in, how=how, login=said.login, detail=detail)

    async def learn_who_is_signed_in(self) -> None:
        """Starts the runtime where it does not run: a status alone never does that."""
        if self.catalog.identity.token is None:
            self._sign_in = await self.runtime.sign_in()

    def _provider(self, provider: Provider) -> ProviderState:
        key: Literal["set", "missing", "none"] = "none"
        if provider.key_variable:
            key = "set" if self.environ.get(provider.key_variable) else "missing"
        return ProviderState(
            name=provider.name,
            type=provider.type,
            base_url=provider.base_url,
            models=tuple(model.id for model in provider.models),
            key=key,
        )

    async def examine(self) -> list[Check]:
        """Every check, at the same time, each with its own limit."""
        checks: dict[str, Callable[[], Awaitable[Check]]] = {
            "store": self._check_store,
            "runtime": self._check_runtime,
            "sign-in": self._check_sign_in,
            "models": self._check_models,
            "providers": self._check_providers,
            "entry": self._check_entry,
            "exposure": self._check_exposure,
            "agents-user": self._check_user,
            "memory": self._check_memory,
        }
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_timed(name, work)) for name, work in checks.items()]
        return [task.result() for task in running]

    async def _check_store(self) -> Check:
        free = (await asyncio.to_thread(shutil.disk_usage, self.settings.data)).free
        found = f"{self.settings.data}, {free // (1024 * 1024):,} MB free"
        if not await asyncio.to_thread(DataFolder(self.settings.data).database.exists):
            remedy = "Stop the server, restore the folder, and start it again."
            detail = "The database is no longer in the data folder."
            return Check(id="store", state="fail", summary=found, detail=detail, remedy=remedy)
        if self.log.trouble:
            remedy = "Free up disk space or fix the folder's permissions. No restart is needed."
            detail = str(self.log.trouble)
            return Check(id="store", state="fail", summary=found, detail=detail, remedy=remedy)
        if free < _LITTLE_SPACE:
            return Check(id="store", state="warn", summary=found, remedy="Free up disk space.")
        return Check(id="store", state="ok", summary=found)

    async def _check_runtime(self) -> Check:
        said = await self.runtime.status()
        kind = "native" if said.located.native else "single-file"
        summary = f"{said.version}, protocol {said.protocol}, {kind}, process {said.pid}"
        if said.version != CLI_VERSION:
            detail = f"{said.located.path} is not the version that Airboss is tested with."
            remedy = f"Run `airboss setup` to install {CLI_VERSION}."
            return Check(id="runtime", state="warn", summary=summary, detail=detail, remedy=remedy)
        return Check(id="runtime", state="ok", summary=summary)

    async def _check_sign_in(self) -> Check:
        await self.learn_who_is_signed_in()
        said = self._copilot()
        if said.signed_in:
            return Check(id="sign-in", state="ok", summary=f"{said.how}: {said.detail}")
        home = self.settings.data / "copilot-home"
        remedy = (
            "Set COPILOT_GITHUB_TOKEN before `airboss serve`, or sign the CLI in with "
            f"`COPILOT_HOME={home} copilot login`, or add a provider to {_file(self.settings)}."
        )
        return Check(id="sign-in", state="warn", summary=said.detail, remedy=remedy)

    async def _check_models(self) -> Check:
        offers = await self.catalog.offers()
        if not offers:
            remedy = "Sign in to Copilot, add a provider, or start with --rehearsal FILE."
            return Check(id="models", state="fail", summary="No models available.", remedy=remedy)
        sources = sorted({offer.source for offer in offers})
        return Check(id="models", state="ok", summary=f"{len(offers)} from {', '.join(sources)}")

    async def _check_providers(self) -> Check:
        missing = [
            provider.key_variable
            for provider in self.settings.providers
            if provider.key_variable and not self.environ.get(provider.key_variable)
        ]
        if missing:
            names = ", ".join(str(name) for name in missing)
            remedy = f"Set {names} before `airboss serve`."
            return Check(id="providers", state="fail", summary=f"No key in {names}.", remedy=remedy)
        plain = [p.name for p in self.settings.providers if p.base_url.startswith("http:")]
        detail = f"Reached over http: {', '.join(plain)}." if plain else ""
        count = len(self.settings.providers)
        return Check(id="providers", state="ok", summary=f"{count} configured", detail=detail)

    async def _check_entry(self) -> Check:
        used = await self._entry()
        if used is None:
            return Check(id="entry", state="ok", summary="No entry is installed yet (test mode).")
        summary = f"{used.path or used.source}, tasks: {used.tasks}, jobs: {used.jobs}"
        if used.problem:
            remedy = (
                "To see the entry in use: `airboss entry`. To see all errors: `airboss check FILE`."
            )
            detail = used.problem
            return Check(id="entry", state="warn", summary=summary, detail=detail, remedy=remedy)
        return Check(id="entry", state="ok", summary=summary)

    async def _check_exposure(self) -> Check:
        settings = self.settings
        summary = f"Listens on {settings.host}"
        if settings.no_token:
            remedy = "Any program on this machine can use the agents. Start without --no-token."
            return Check(id="exposure", state="warn", summary=f"{summary}, no token", remedy=remedy)
        return Check(id="exposure", state="ok", summary=f"{summary}, a token is required")

    async def _check_user(self) -> Check:
        summary = "Agents run as the user of this server and can read what that user can read."
        remedy = "To keep agents away from your files, run `airboss serve` as a separate user."
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        state = "warn" if is_root else "ok"
        return Check(id="agents-user", state=state, summary=summary, remedy=remedy)

    async def _check_memory(self) -> Check:
        runtime = (await self.runtime.status()).pid
        why = await asyncio.to_thread(why_open, runtime)
        if why:
            return Check(id="memory", state="warn", summary=why, remedy=remedy(why))
        summary = "Agents cannot read the memory of the server or of the agent runtime."
        return Check(id="memory", state="ok", summary=summary)


def _file(settings: Settings) -> Path:
    return settings.data / "settings.toml"


async def _timed(name: str, work: Callable[[], Awaitable[Check]]) -> Check:
    began = time.monotonic()
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            found = await work()
    except TimeoutError:
        found = Check(id=name, state="fail", summary=f"No answer within {_CHECK_SECONDS:g} s.")
    except (AirbossError, OSError) as error:
        found = Check(id=name, state="fail", summary=str(error))
    return found.model_copy(update={"ms": int((time.monotonic() - began) * 1000)})
