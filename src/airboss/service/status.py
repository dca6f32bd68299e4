"""How this server is: what it runs on, who is signed in, and what a doctor would say."""

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from airboss.errors import AirbossError
from airboss.harness.homes import Homes
from airboss.harness.identity import CLI
from airboss.harness.models import Catalog
from airboss.log.log import EventLog
from airboss.model.roles import Role
from airboss.provider_settings import Provider
from airboss.runtime.agent_runtime import RuntimeSignIn
from airboss.runtime.locate import locate
from airboss.runtime.pool import Pool
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.undumpable import remedy, why_open
from airboss.service.account_checks import StatusPart, accounts_check, homes_check
from airboss.service.doctor_checks import (
    Check,
    check_processes,
    check_skills,
    check_telemetry,
    check_transcripts,
    check_wishes,
)
from airboss.service.entries import Entries
from airboss.service.folders import Folders
from airboss.service.runtime_status import (
    CopilotState,
    RuntimeState,
    check_runtime,
    copilot_state,
    runtime_state,
)
from airboss.service.sessions import Sessions
from airboss.session_keys import DEFAULT_IDENTITY
from airboss.settings import Settings
from airboss.store.folder import DataFolder

if TYPE_CHECKING:
    from airboss.service.doctor_rows import DoctorRows
    from airboss.service.mirror import Mirror
    from airboss.telemetry.tracing import Tracing

_CHECK_SECONDS = 25.0
_SIGN_IN_SECONDS = 2.0
_LITTLE_SPACE = 500 * 1024 * 1024
_MEND_FOLDER = "Free up disk space or fix the folder's permissions. No restart is needed."
_MEND_DATABASE = "See to it that the database can be reached and written. No restart is needed."


class ProviderState(StatusPart):
    """A provider of one's own. Its key is told by its presence only."""

    name: str
    type: str
    base_url: str
    models: tuple[str, ...]
    key: Literal["set", "missing", "none"]


class RehearsalState(StatusPart):
    """Whether a scripted model is served."""

    on: bool
    builtin: bool
    script: str | None


class SessionCounts(StatusPart):
    """Sessions of this server right now."""

    open: int
    working: int


class EntryState(StatusPart):
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


class Status(StatusPart):
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
    # The cage that sessions get which wish one.
    cage: Literal["strong", "narrow", "none"]
    # Whether all transcripts are whole; without a folder for them, nothing.
    audit: Literal["complete", "incomplete"] | None = None


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
    pool: Pool
    homes: Homes
    catalog: Catalog
    sessions: Sessions
    entries: Entries
    log: EventLog
    tracing: "Tracing | None" = None
    mirror: "Mirror | None" = None
    rows: "DoctorRows | None" = None
    _sign_in: RuntimeSignIn | None = None

    async def show(self, who: str, role: Role | None) -> Status:
        settings, rehearsal = self.settings, self.catalog.rehearsal
        opened, working = self.sessions.open_count()
        if self._sign_in is None and self.pool.is_running(self._cli):
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
            copilot=copilot_state(self.catalog, self._sign_in),
            providers=tuple(self._provider(provider) for provider in self.catalog.providers),
            rehearsal=RehearsalState(
                on=rehearsal is not None,
                builtin=rehearsal is not None and rehearsal.builtin,
                script=str(settings.rehearsal) if settings.rehearsal else None,
            ),
            sessions=SessionCounts(open=opened, working=working),
            entry=await self._entry(),
            trouble=str(self.log.trouble) if self.log.trouble else None,
            cage=(await self.sessions.cages.held()).kind,
            audit=self.mirror and self.mirror.audit,
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
            outside = self.pool.outside
            located = None if outside else locate(self.settings.copilot_cli, self.environ)
        except AirbossError as error:
            return RuntimeState(state="missing", detail=str(error))
        return runtime_state(located, self.pool)

    @property
    def _cli(self) -> PoolKey:
        return self.homes.key(DEFAULT_IDENTITY, self.catalog.accounts.unread(CLI))

    async def learn_who_is_signed_in(self) -> None:
        """Starts the runtime where it does not run: a status alone never does that."""
        if not self.catalog.accounts.has_token:
            self._sign_in = said = await self.pool.sign_in(self._cli)
            self.catalog.accounts.cli_is_signed_in = said.signed_in

    def _provider(self, provider: Provider) -> ProviderState:
        key: Literal["set", "missing", "none"] = "none"
        if provider.key_variable or provider.key_kept:
            key = "set" if self.catalog.key(provider) else "missing"
        return ProviderState(
            name=provider.name,
            type=provider.type,
            base_url=provider.base_url,
            models=tuple(model.id for model in provider.models),
            key=key,
        )

    async def examine(self, *, deep: bool = False) -> list[Check]:
        """Every check, at the same time, each with its own limit. With `deep`, a model of each
        provider and account is called once, which may cost something."""
        checks: dict[str, Callable[[], Awaitable[Check]]] = {
            "store": self._check_store,
            "runtime": self._check_runtime,
            "sign-in": self._check_sign_in,
            "accounts": self._check_accounts,
            "homes": self._check_homes,
            "models": self._check_models,
            "providers": self._check_providers,
            "entry": self._check_entry,
            "exposure": self._check_exposure,
            "agents-user": self._check_user,
            "memory": self._check_memory,
            "telemetry": self._check_telemetry,
            "transcripts": self._check_transcripts,
            "processes": lambda: check_processes(self.pool),
            "skills": self._check_skills,
            "wishes": self._check_wishes,
        }
        checks |= self.rows.rows(deep=deep) if self.rows else {}
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_timed(name, work)) for name, work in checks.items()]
        return [task.result() for task in running]

    async def _check_store(self) -> Check:
        free = (await asyncio.to_thread(shutil.disk_usage, self.settings.data)).free
        found = f"{self.settings.data}, {free // (1024 * 1024):,} MB free"
        is_file = self.settings.database is None
        if is_file and not await asyncio.to_thread(DataFolder(self.settings.data).database.exists):
            remedy = "Stop the server, restore the folder, and start it again."
            detail = "The database is no longer in the data folder."
            return Check(id="store", state="fail", summary=found, detail=detail, remedy=remedy)
        if self.log.trouble:
            remedy = _MEND_FOLDER if is_file else _MEND_DATABASE
            detail = str(self.log.trouble)
            return Check(id="store", state="fail", summary=found, detail=detail, remedy=remedy)
        if free < _LITTLE_SPACE:
            return Check(id="store", state="warn", summary=found, remedy="Free up disk space.")
        return Check(id="store", state="ok", summary=found)

    async def _check_runtime(self) -> Check:
        return await check_runtime(self.pool)

    async def _check_sign_in(self) -> Check:
        await self.learn_who_is_signed_in()
        said = copilot_state(self.catalog, self._sign_in)
        if said.signed_in:
            return Check(id="sign-in", state="ok", summary=f"{said.how}: {said.detail}")
        home = self.settings.data / "copilot-home"
        if self.pool.outside:
            remedy = f"Sign in the runtime at {self.pool.outside}, or add a provider in Settings."
            return Check(id="sign-in", state="warn", summary=said.detail, remedy=remedy)
        remedy = (
            "Sign in or add a provider in Settings, under Accounts and providers, or run "
            f"`airboss account add NAME` or `COPILOT_HOME={home} copilot login`."
        )
        return Check(id="sign-in", state="warn", summary=said.detail, remedy=remedy)

    async def _check_accounts(self) -> Check:
        return accounts_check(self.catalog.accounts)

    async def _check_homes(self) -> Check:
        return await asyncio.to_thread(homes_check, DataFolder(self.settings.data))

    async def _check_models(self) -> Check:
        offers = await self.catalog.offers()
        if not offers:
            remedy = "Sign in to Copilot or add a provider in Settings, or use --rehearsal FILE."
            return Check(id="models", state="fail", summary="No models available.", remedy=remedy)
        sources = sorted({offer.source for offer in offers})
        return Check(id="models", state="ok", summary=f"{len(offers)} from {', '.join(sources)}")

    async def _check_providers(self) -> Check:
        known = self.catalog.providers
        without = [provider for provider in known if not self.catalog.key(provider)]
        missing = [provider.key_variable for provider in without if provider.key_variable]
        unkept = [provider.name for provider in without if provider.key_kept]
        if missing:
            names = ", ".join(missing)
            remedy = f"Set {names} before `airboss serve`."
            return Check(id="providers", state="fail", summary=f"No key in {names}.", remedy=remedy)
        if unkept:
            summary = f"The key cannot be read: {', '.join(unkept)}."
            remedy = "Enter it again in Settings, or with `airboss secret set NAME`."
            return Check(id="providers", state="fail", summary=summary, remedy=remedy)
        plain = [provider.name for provider in known if provider.base_url.startswith("http:")]
        detail = f"Reached over http: {', '.join(plain)}." if plain else ""
        count = len(known)
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
        found = await self.pool.status()
        reasons = [await asyncio.to_thread(why_open, one.pid) for one in found]
        why = next((reason for reason in reasons if reason), None)
        if why:
            return Check(id="memory", state="warn", summary=why, remedy=remedy(why))
        summary = "Agents cannot read the memory of the server or of the agent runtime."
        return Check(id="memory", state="ok", summary=summary)

    async def _check_transcripts(self) -> Check:
        return check_transcripts(self.mirror)

    async def _check_skills(self) -> Check:
        return await asyncio.to_thread(check_skills, self.settings.session.skills or ())

    async def _check_wishes(self) -> Check:
        used = await self.entries.current()
        return check_wishes(used.ungranted if used else ())

    async def _check_telemetry(self) -> Check:
        return check_telemetry(self.settings.telemetry, self.tracing)


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
