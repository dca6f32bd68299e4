"""The composition root: settings, store, log, runtime, services. Everything is made here once."""

import asyncio
import contextlib
import functools
import os
from collections.abc import AsyncGenerator, Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from airboss.background import Background
from airboss.engine.budgets import Budgets
from airboss.engine.run_records import RunRecords
from airboss.engine.slots import Slots
from airboss.entry.places import find_repo_root
from airboss.harness.identity import TOKEN_VARIABLES, Identity, find_identity
from airboss.harness.models import Catalog, ModelOffer, RehearsalSource, copilot_offers
from airboss.harness.setup import check_settings
from airboss.http.callbacks import callback_of
from airboss.http.names import served_names
from airboss.http.services import Services
from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.writer import now_ms
from airboss.model.redaction import Redactor
from airboss.runtime.agent_runtime import Runtime, RuntimePlan
from airboss.runtime.capacity import agents_that_fit, free_memory
from airboss.runtime.environment import agents_environment
from airboss.runtime.session import open_session
from airboss.runtime.sweep import sweep_owner
from airboss.service.access import Access
from airboss.service.audit import Audit, started
from airboss.service.deadlines import Deadlines
from airboss.service.decisions import Decisions
from airboss.service.digests import Digests
from airboss.service.entries import Entries
from airboss.service.entry_checks import EntryChecks
from airboss.service.entry_editor import EntryEditor
from airboss.service.entry_files import EntryFiles
from airboss.service.folders import Folders, secret_places
from airboss.service.history import History
from airboss.service.in_force import SettingsInForce
from airboss.service.inbox import Inbox
from airboss.service.live import Live
from airboss.service.notices import Channel, Notices, take_secret
from airboss.service.refused import Refusals
from airboss.service.rehearsals import Rehearsals
from airboss.service.retention import Retention, ended_in
from airboss.service.rules import Rules
from airboss.service.run_report import RunReports
from airboss.service.runs import EngineRoom, Runs
from airboss.service.sessions import Sessions
from airboss.service.setting_changes import SettingChanges
from airboss.service.sign_ins import SignIns
from airboss.service.status import ServerStatus
from airboss.service.tasks import TaskRuns
from airboss.service.trust import Trust
from airboss.setting_sources import SettingSources
from airboss.settings import Settings
from airboss.store.database import Database
from airboss.store.deliveries import Deliveries
from airboss.store.entries import EntryStore, TrustStore
from airboss.store.folder import DataFolder
from airboss.store.images import Images
from airboss.store.places import Places
from airboss.store.positions import Positions
from airboss.store.rules import RuleStore
from airboss.store.run_keys import RunKeys
from airboss.store.search import SearchIndex
from airboss.store.session_files import SessionFiles
from airboss.store.settings import SettingStore
from airboss.store.sign_ins import SignInStore
from airboss.store.token_changes import TokenChanges
from airboss.store.views import ViewIndex

if TYPE_CHECKING:
    from airboss.runtime.rehearsal import Script


def load_rehearsal(settings: Settings, identity: Identity) -> "Script | None":
    """The chosen script; the built-in one for whoever has no token and no provider."""
    if not settings.rehearsal and (identity.token or settings.providers):
        return None
    from airboss.runtime.rehearsal import builtin_script, load_script

    return load_script(settings.rehearsal) if settings.rehearsal else builtin_script()


@contextlib.asynccontextmanager
async def opened_services(
    settings: Settings,
    folder: DataFolder,
    access: Access,
    url: str,
    stop: Callable[[], None],
    sources: SettingSources | None = None,
) -> AsyncGenerator[Services]:
    """Every part, started in order and ended in the opposite one. With `sources`, settings that
    were changed while a server ran count; without, `settings` is all there is."""
    webhook_secret = await asyncio.to_thread(take_secret, settings, os.environ)
    environ = dict(os.environ)
    identity = find_identity(environ)
    script = load_rehearsal(settings, identity)
    async with contextlib.AsyncExitStack() as stack:
        rehearsal = await _serve_rehearsal(stack, script, settings)
        secrets = _secrets(settings, identity, access, rehearsal, webhook_secret)
        database = Database(folder.database)
        stack.push_async_callback(database.close)
        await database.open()
        log = EventLog(database, Journal(folder.journal), SessionFiles(folder).forget)
        await stack.enter_async_context(log.running())
        redactor = Redactor(secrets)
        audit = Audit(log, redactor, TokenChanges(folder))
        await audit.open()
        kept, given = SettingStore(database), sources or SettingSources.of(settings)
        changes = SettingChanges(
            given, kept, redactor, audit, announce=lambda: log.announce("settings")
        )
        settings = await changes.load()
        check_settings(settings.session)
        refusals = Refusals(audit)
        stack.callback(refusals.tell_counted)
        sign_ins = SignIns(SignInStore(database), access, audit=audit)
        await sign_ins.load()
        stack.push_async_callback(sign_ins.close)
        places = Places(folder.path)
        await asyncio.to_thread(places.start)
        from airboss.harness.proxy import ProviderProxy

        proxy = ProviderProxy()
        stack.push_async_callback(proxy.close)
        runtime = Runtime(_plan(settings, folder, identity, environ, secrets))
        stack.push_async_callback(runtime.stop)
        home = Path.home()
        protected = secret_places(settings, environ, home)
        folders = Folders.around(find_repo_root(Path.cwd()), settings.roots, home, protected)
        catalog = Catalog(
            identity,
            settings.providers,
            environ,
            functools.partial(copilot_offers, runtime),
            rehearsal,
        )
        rules = Rules(RuleStore(database), redactor, audit)
        await rules.load()
        budgets = Budgets(log)
        stack.push_async_callback(budgets.close)
        fitting = agents_that_fit(await asyncio.to_thread(free_memory))
        slots = Slots(settings.max_tasks or fitting)
        inbox = await Inbox.opened(log)
        sessions = Sessions(
            log=log,
            index=ViewIndex(database),
            catalog=catalog,
            folders=folders,
            policy=settings.permissions,
            redactor=redactor,
            open_session=functools.partial(open_session, runtime),
            proxy=proxy,
            inbox=inbox.writer,
            rules=rules,
            budgets=budgets,
            approval_seconds=settings.approval_seconds,
            quiet_seconds=settings.quiet_seconds,
            max_sessions=settings.max_sessions,
            loop_detection=settings.loop_detection,
            max_block=settings.max_block_characters,
            images=Images(folder.images),
            places=places,
            session_keys=settings.session,
        )
        entries = Entries(
            settings=settings,
            folders=folders,
            store=EntryStore(database),
            files=EntryFiles(Trust(TrustStore(database), audit), redactor),
            announce=lambda: log.announce("entry"),
            is_watched=lambda: log.is_heard,
            known_models=lambda: [offer.id for offer in catalog.known()],
            ask_for_models=catalog.offers,
        )
        rehearsals = Rehearsals(entries.files, settings, folder.owner_id())
        stack.push_async_callback(rehearsals.close)
        rehearsals.sweep()
        records = RunRecords(log)
        runs = Runs(
            records=records,
            index=ViewIndex(database),
            entries=entries,
            folders=folders,
            redactor=redactor,
            keys=RunKeys(database),
            make_room=functools.partial(
                _engine_room,
                settings,
                folder,
                records,
                sessions,
                budgets,
                entries,
                redactor,
                slots,
            ),
        )
        tasks = TaskRuns(
            log=log,
            index=ViewIndex(database),
            entries=entries,
            sessions=sessions,
            catalog=catalog,
            folders=folders,
            redactor=redactor,
            runs=runs,
        )
        entries.is_busy = lambda: runs.is_busy
        entries.is_busy_for_install = lambda: entries.is_busy() or sessions.open_count()[0] > 0
        stack.push_async_callback(entries.close)
        await entries.start()
        channels = _channels(settings, environ, secrets, folder.owner_id(), webhook_secret)
        if channels:
            place = _public_url(settings, url)
            notices = Notices(log, Deliveries(database), channels, place, redactor)
            stack.push_async_callback(notices.close)
            await notices.start()
        interrupted = await sessions.recover()
        await inbox.recover()
        await sweep_owner(folder.owner_id(), interrupted, notes=runtime.plan.notes)
        await tasks.recover(interrupted)
        await runs.recover()
        sessions.resume_decided()
        deadlines = Deadlines(inbox, sessions)
        stack.push_async_callback(deadlines.close)
        await deadlines.start()
        most = settings.keep_megabytes
        retention = Retention(
            log,
            runs,
            ended_in(database),
            settings.keep_days,
            most and most * 1024 * 1024,
            audit,
            settings.keep_audit_days,
        )
        stack.push_async_callback(retention.close)
        retention.start()
        changes.apply = SettingsInForce(sessions, slots, fitting, retention).take
        background = Background("http")
        stack.push_async_callback(background.close, cancel=True)
        live = Live(log, Positions(database), callback_of)
        stack.push_async_callback(live.stop)
        status = ServerStatus(
            version=version("airboss"),
            url=url,
            hosts=served_names(settings, urlsplit(url).port or settings.port).hosts,
            started_at=now_ms(),
            settings=settings,
            environ=environ,
            folders=folders,
            runtime=runtime,
            catalog=catalog,
            sessions=sessions,
            entries=entries,
            log=log,
        )
        await audit.write(started(version("airboss"), settings, access.tokens()))
        yield Services(
            sessions=sessions,
            tasks=tasks,
            runs=runs,
            reports=RunReports(runs),
            rules=rules,
            inbox=inbox,
            decisions=Decisions(inbox, sessions, rules, redactor, audit),
            live=live,
            catalog=catalog,
            folders=folders,
            entries=entries,
            entry_checks=EntryChecks(entries),
            entry_editor=EntryEditor(entries, audit),
            rehearsals=rehearsals,
            history=History(log, sessions, SearchIndex(database)),
            status=status,
            settings=changes,
            access=access,
            sign_ins=sign_ins,
            audit=audit,
            refusals=refusals,
            log=log,
            digests=Digests(log),
            background=background,
            stop=stop,
        )


def _engine_room(
    settings: Settings,
    folder: DataFolder,
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
        budgets=budgets,
        redactor=redactor,
        find_entry=entries.by_digest,
    )
    return EngineRoom(Engine(folder.path, executor), executor)


async def _serve_rehearsal(
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


def _channels(
    settings: Settings,
    environ: dict[str, str],
    secrets: tuple[str, ...],
    owner: str,
    webhook_secret: str | None,
) -> tuple[Channel, ...]:
    channels: list[Channel] = []
    if settings.notify_command:
        from airboss.service.notice_command import CommandChannel

        names = _key_variables(settings)
        clean = agents_environment(environ, owner=owner, secrets=secrets, secret_names=names)
        channels.append(CommandChannel(settings.notify_command, clean, str(Path.home())))
    if settings.webhook_url and webhook_secret:
        from airboss.service.webhook import WebhookChannel

        private = settings.webhook_private
        channels.append(WebhookChannel(settings.webhook_url, webhook_secret, private))
    return tuple(channels)


def _public_url(settings: Settings, url: str) -> str:
    """Where people come in: by the proxy, where one stands in front."""
    proxied = settings.trusted_proxy and settings.hosts
    return f"https://{settings.hosts[0]}" if proxied else url


def _key_variables(settings: Settings) -> tuple[str, ...]:
    return tuple(p.key_variable for p in settings.providers if p.key_variable)


def _secrets(
    settings: Settings,
    identity: Identity,
    access: Access,
    rehearsal: RehearsalSource | None,
    webhook_secret: str | None,
) -> tuple[str, ...]:
    """Every value that must never be seen: in a log, an event, or an agent's environment."""
    keys = [os.environ.get(name, "").strip() for name in _key_variables(settings)]
    tokens = [os.environ.get(name, "") for name in TOKEN_VARIABLES]
    known = [access.token or "", identity.token or "", *keys, *tokens, webhook_secret or ""]
    if rehearsal:
        known.append(rehearsal.api_key)
    return tuple(dict.fromkeys(value for value in known if value))


def _plan(
    settings: Settings,
    folder: DataFolder,
    identity: Identity,
    environ: dict[str, str],
    secrets: tuple[str, ...],
) -> RuntimePlan:
    return RuntimePlan(
        home=folder.copilot_home,
        owner=folder.owner_id(),
        path=settings.copilot_cli,
        environ=environ,
        secrets=secrets,
        secret_names=_key_variables(settings),
        signed_in_user=identity.token is None,
    )
