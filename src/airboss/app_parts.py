"""How single parts of the server are made of its settings."""

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from airboss.engine.budgets import Budgets
from airboss.engine.run_records import RunRecords
from airboss.engine.slots import Slots
from airboss.extensions.copies import Copies
from airboss.extensions.discovery import user_folder
from airboss.extensions.room import ExtensionRoom
from airboss.extensions.shelf import Shelf
from airboss.harness.accounts import Accounts
from airboss.harness.homes import Homes
from airboss.harness.identity import TOKEN_VARIABLES
from airboss.harness.models import ModelOffer, RehearsalSource
from airboss.harness.variables import secret_variables
from airboss.log.log import EventLog
from airboss.log.writer import now_ms
from airboss.machine_settings import passwords_in
from airboss.model.redaction import Redactor
from airboss.runtime.agent_runtime import RuntimePlan
from airboss.runtime.connection import OutsideRuntime, forget_shared
from airboss.runtime.environment import agents_environment
from airboss.runtime.pool import Pool
from airboss.runtime.span_target import SpanTarget
from airboss.runtime_settings import RUNTIME_TOKEN
from airboss.service.access import Access
from airboss.service.audit import Audit
from airboss.service.entries import Entries
from airboss.service.extensions import Extensions, RunningExtension
from airboss.service.folders import Folders
from airboss.service.notices import Channel, Notices
from airboss.service.retention import Retention, ended_in
from airboss.service.runs import EngineRoom, Runs
from airboss.service.sessions import Sessions
from airboss.service.trust import Trust
from airboss.session_keys import DEFAULT_IDENTITY
from airboss.settings import Settings
from airboss.store.database import Database
from airboss.store.entries import TrustStore
from airboss.store.extensions import DisabledExtensions
from airboss.store.folder import DataFolder
from airboss.telemetry_settings import RUNTIME_SCOPE, headers_of

if TYPE_CHECKING:
    from airboss.engine.homes import EngineHome
    from airboss.runtime.rehearsal import Script
    from airboss.telemetry.tracing import Tracing


def load_rehearsal(settings: Settings, accounts: Accounts) -> "Script | None":
    """The chosen script; the built-in one for whoever has no token and no provider."""
    if not settings.rehearsal and (accounts.has_token or settings.providers):
        return None
    from airboss.runtime.rehearsal import builtin_script, load_script

    return load_script(settings.rehearsal) if settings.rehearsal else builtin_script()


def engine_room(
    settings: Settings,
    home: "EngineHome",
    records: RunRecords,
    sessions: Sessions,
    budgets: Budgets,
    entries: Entries,
    redactor: Redactor,
    slots: Slots,
) -> EngineRoom:
    from airboss.engine.durable import Engine
    from airboss.engine.run_executor import RunExecutor

    executor = RunExecutor(
        records=records,
        sessions=sessions,
        slots=slots,
        server_policy=settings.permissions,
        offers_cage=settings.cage != "off",
        budgets=budgets,
        redactor=redactor,
        find_entry=entries.by_digest,
        is_traced=settings.telemetry.is_on,
    )
    return EngineRoom(Engine(home, executor), executor)


async def shelf_of(
    settings: Settings, folder: DataFolder, database: Database, environ: Mapping[str, str]
) -> Shelf:
    """Copies that nobody trusts any more are gone."""
    place = folder.owner_id()
    shelf = Shelf(
        Copies(folder.extensions),
        TrustStore(database, place),
        DisabledExtensions(database, place),
        user_folder(environ, Path.home()),
        settings.extensions,
    )
    await shelf.sweep(at_start=True)
    return shelf


async def serve_rehearsal(
    stack: contextlib.AsyncExitStack, script: "Script | None", settings: Settings
) -> RehearsalSource | None:
    if script is None:
        return None
    from airboss.runtime.rehearsal import RehearsalServer

    server = await stack.enter_async_context(RehearsalServer(script))
    offers = tuple(
        ModelOffer(model.id, model.name, model.multiplier, "rehearsal", efforts=model.efforts)
        for model in script.models
    )
    return RehearsalSource(server.base_url, server.api_key, offers, settings.rehearsal is None)


def extension_room(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    shelf: Shelf,
    trust: Trust,
    environ: Mapping[str, str],
) -> ExtensionRoom:
    """Extensions run in what hooks run in: the agents' environment."""

    async def let_run(path: str, digest: str, who: str) -> None:
        await trust.add(path, digest, who)

    room = ExtensionRoom(shelf, environ, let_run, settings.copilot_cli)
    stack.push_async_callback(room.close)
    return room


def shown_extensions(
    room: ExtensionRoom, folders: Folders, redactor: Redactor, audit: Audit, log: EventLog
) -> Extensions:
    """As people see them, with the sessions in which each runs."""
    extensions = Extensions(
        room.shelf, folders, redactor, audit, announce=lambda: log.announce("settings")
    )
    extensions.running = lambda file: [
        RunningExtension(
            session=session,
            state=one.state,
            tools=tuple(one.joined.tools),
            hooks=tuple(one.joined.hooks),
            reason=one.reason,
            log=one.log,
        )
        for session, one in room.sessions_of(file)
    ]
    return extensions


def notice_channels(
    settings: Settings,
    environ: dict[str, str],
    secrets: tuple[str, ...],
    owner: str,
    webhook_secret: str | None,
) -> tuple[Channel, ...]:
    channels: list[Channel] = []
    if settings.notify_command:
        from airboss.service.notice_command import CommandChannel

        names = _hidden_variables(settings)
        clean = agents_environment(environ, owner=owner, secrets=secrets, secret_names=names)
        channels.append(CommandChannel(settings.notify_command, clean, str(Path.home())))
    if settings.webhook_url and webhook_secret:
        from airboss.service.webhook import WebhookChannel

        private = settings.webhook_private
        channels.append(WebhookChannel(settings.webhook_url, webhook_secret, private))
    return tuple(channels)


def hook_environment(
    settings: Settings, environ: dict[str, str], secrets: tuple[str, ...], owner: str
) -> dict[str, str]:
    """As agents' commands have it, marked as ours: what is left of a hook is found by that."""
    names = _hidden_variables(settings)
    return agents_environment(environ, owner=owner, secrets=secrets, secret_names=names)


def public_url(settings: Settings, url: str) -> str:
    """Where people come in: by the proxy, where one stands in front."""
    proxied = settings.trusted_proxy and settings.hosts
    return f"https://{settings.hosts[0]}" if proxied else url


# OpenTelemetry's own variables for what lets one in at a collector.
_TRACE_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")


def _key_variables(settings: Settings) -> tuple[str, ...]:
    traces = settings.telemetry.headers_variable
    keys = (p.key_variable for p in settings.providers if p.key_variable)
    others = (*_TRACE_HEADERS, *([traces] if traces else []))
    tokens = (one.token_variable for one in settings.accounts if one.token_variable)
    return (*keys, *tokens, *secret_variables(settings), *others)


def _hidden_variables(settings: Settings) -> tuple[str, ...]:
    """Which agents do not have. The file with the database's password is the server's own."""
    own = ("PGPASSFILE",) if settings.database else ()
    return (*_key_variables(settings), *own)


async def open_tracing(
    settings: Settings, environ: Mapping[str, str], log: EventLog, redactor: Redactor, version: str
) -> "Tracing | None":
    """Nothing of OpenTelemetry is imported for those who send no traces."""
    telemetry = settings.telemetry
    if not telemetry.is_on:
        return None
    from airboss.telemetry.tracing import Tracing

    headers = headers_of(telemetry, environ)
    tracing = await Tracing.opened(telemetry, headers, log, redactor, version, now_ms())
    tracing.start()
    return tracing


def secrets_of(
    settings: Settings,
    access: Access,
    rehearsal: RehearsalSource | None,
    webhook_secret: str | None,
) -> tuple[str, ...]:
    """Every value that must never be seen: in a log, an event, or an agent's environment."""
    keys = [os.environ.get(name, "").strip() for name in _key_variables(settings)]
    keys += headers_of(settings.telemetry, os.environ).values()
    tokens = [os.environ.get(name, "").strip() for name in TOKEN_VARIABLES]
    known = [access.token or "", *keys, *tokens, webhook_secret or ""]
    known += passwords_in(settings.database)
    known.append(os.environ.get(RUNTIME_TOKEN, "").strip())
    if rehearsal:
        known.append(rehearsal.api_key)
    return tuple(dict.fromkeys(value for value in known if value))


def runtime_plan(
    settings: Settings,
    folder: DataFolder,
    environ: dict[str, str],
    secrets: tuple[str, ...],
    tracing: "Tracing | None" = None,
    learn: Callable[[str], None] = lambda _: None,
) -> RuntimePlan:
    url, token = settings.runtime_url, environ.get(RUNTIME_TOKEN, "").strip()
    return RuntimePlan(
        home=folder.copilot_home,
        data=folder.path,
        owner=folder.owner_id(),
        path=settings.copilot_cli,
        environ=environ,
        secrets=secrets,
        secret_names=_hidden_variables(settings),
        spans=tracing and SpanTarget(tracing.door.url, RUNTIME_SCOPE, settings.telemetry.content),
        outside=OutsideRuntime(url, token or None) if url else None,
        is_shared=settings.shared_runtime,
        learn=learn,
    )


def accounts_of(settings: Settings, environ: Mapping[str, str]) -> Accounts:
    """A runtime of somebody else is signed in by them: it gets no token of ours."""
    if settings.runtime_url is None:
        return Accounts(settings.accounts, environ)
    return Accounts(
        (), {name: text for name, text in environ.items() if name not in TOKEN_VARIABLES}
    )


def runtime_pool(settings: Settings, plan: RuntimePlan, homes: Homes, accounts: Accounts) -> Pool:
    first = accounts.unread(accounts.logins()[0])
    forget_shared(plan.notes)
    default = homes.key(DEFAULT_IDENTITY, first)
    return Pool(plan, default, settings.max_runtimes, most_cages=settings.max_cages)


async def start_notices(stack: contextlib.AsyncExitStack, notices: Notices) -> None:
    stack.push_async_callback(notices.close)
    await notices.start()


def retention_of(
    settings: Settings, log: EventLog, runs: Runs, database: Database, audit: Audit
) -> Retention:
    most = settings.keep_megabytes
    return Retention(
        log,
        runs,
        ended_in(database),
        settings.keep_days,
        most and most * 1024 * 1024,
        audit,
        settings.keep_audit_days,
    )
