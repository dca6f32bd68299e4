"""The composition root: settings, store, log, runtime, services. Everything is made here once."""

import asyncio
import contextlib
import functools
import os
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from airboss.app_parts import (
    accounts_of,
    engine_room,
    hook_environment,
    load_rehearsal,
    notice_channels,
    open_tracing,
    public_url,
    runtime_plan,
    runtime_pool,
    secrets_of,
    serve_rehearsal,
)
from airboss.background import Background
from airboss.engine.budgets import Budgets
from airboss.engine.run_records import RunRecords
from airboss.engine.slots import Slots
from airboss.entry.places import find_repo_root
from airboss.harness.binding import Bindings
from airboss.harness.holders import holder_of
from airboss.harness.homes import Homes
from airboss.harness.lent_account import CopilotService
from airboss.harness.models import Catalog, copilot_offers
from airboss.harness.proxy import ProviderProxy
from airboss.harness.server_grants import ServerGrants
from airboss.harness.setup import check_settings
from airboss.http.callbacks import callback_of
from airboss.http.names import served_names
from airboss.http.services import Services
from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.writer import now_ms
from airboss.model.redaction import Redactor
from airboss.runtime.capacity import agents_that_fit, free_memory
from airboss.runtime.forks import fork_session
from airboss.runtime.sweep import sweep_owner
from airboss.service.access import Access
from airboss.service.audit import Audit, started
from airboss.service.copilot_accounts import CopilotAccounts, with_added
from airboss.service.deadlines import Deadlines
from airboss.service.decisions import Decisions
from airboss.service.digests import Digests
from airboss.service.doctor_rows import DoctorRows
from airboss.service.entries import Entries
from airboss.service.entry_checks import EntryChecks
from airboss.service.entry_editor import EntryEditor
from airboss.service.entry_files import EntryFiles
from airboss.service.folders import Folders, secret_places
from airboss.service.history import History
from airboss.service.in_force import SettingsInForce
from airboss.service.inbox import Inbox
from airboss.service.live import Live
from airboss.service.mirror import Mirror
from airboss.service.notices import Notices, take_secret
from airboss.service.providers import Providers
from airboss.service.refused import Refusals
from airboss.service.rehearsals import Rehearsals
from airboss.service.retention import Retention, ended_in
from airboss.service.rules import Rules
from airboss.service.run_report import RunReports
from airboss.service.runs import Runs
from airboss.service.secrets import Secrets, load_secrets
from airboss.service.server_sign_ins import ServerSignIns
from airboss.service.sessions import Sessions
from airboss.service.setting_changes import SettingChanges
from airboss.service.sign_ins import SignIns
from airboss.service.status import ServerStatus
from airboss.service.tasks import TaskRuns
from airboss.service.trust import Trust
from airboss.setting_sources import SettingSources
from airboss.settings import Settings
from airboss.store.bindings import BindingStore
from airboss.store.database import Database
from airboss.store.deliveries import Deliveries
from airboss.store.entries import EntryStore, TrustStore
from airboss.store.folder import DataFolder
from airboss.store.images import Images
from airboss.store.kept_secrets import KeptSecrets
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
    accounts = accounts_of(settings, environ)
    script = load_rehearsal(settings, accounts)
    async with contextlib.AsyncExitStack() as stack:
        rehearsal = await serve_rehearsal(stack, script, settings)
        kept_secrets = KeptSecrets(folder.secrets, folder.owner_id())
        await load_secrets(kept_secrets)
        known = secrets_of(settings, access, rehearsal, webhook_secret)
        secrets = (*known, *kept_secrets.values())
        database = Database(folder.database)
        stack.push_async_callback(database.close)
        await database.open()
        log = EventLog(database, Journal(folder.journal), SessionFiles(folder).forget)
        await stack.enter_async_context(log.running())
        redactor = Redactor(secrets)
        accounts.read_kept, accounts.learn = kept_secrets.value, redactor.learn
        audit = Audit(log, redactor, TokenChanges(folder))
        await audit.open()
        kept, given = SettingStore(database), sources or SettingSources.of(settings)
        changes = SettingChanges(
            given, kept, redactor, audit, announce=lambda: log.announce("settings")
        )
        settings = await changes.load()
        check_settings(await with_added(settings, kept))
        refusals = Refusals(audit)
        stack.callback(refusals.tell_counted)
        sign_ins = SignIns(SignInStore(database), access, audit=audit)
        await sign_ins.load()
        stack.push_async_callback(sign_ins.close)
        places = Places(folder.path)
        await asyncio.to_thread(places.start)
        proxy = ProviderProxy(copilot=CopilotService.of(environ))
        stack.push_async_callback(proxy.close)
        tracing = await open_tracing(settings, environ, log, redactor, version("airboss"))
        if tracing is not None:
            stack.push_async_callback(tracing.close)
        homes = Homes(folder, lambda: accounts.cli_is_signed_in is False, settings.runtime_url)
        plan = runtime_plan(settings, folder, environ, secrets, tracing, redactor.learn)
        plan = replace(plan, request_handler=proxy.answer_handed)
        pool = runtime_pool(settings, plan, homes, accounts)
        stack.push_async_callback(pool.stop)
        home = Path.home()
        protected = secret_places(settings, environ, home)
        folders = Folders.around(find_repo_root(Path.cwd()), settings.roots, home, protected)
        catalog = Catalog(
            accounts,
            settings.providers,
            environ,
            functools.partial(copilot_offers, pool, homes, accounts),
            rehearsal,
            kept=kept_secrets.value,
        )
        secret_desk = Secrets(kept_secrets, redactor, audit)
        grants = ServerGrants(kept_secrets, redactor.learn, environ)
        grants.load()
        providers = Providers(
            settings.providers,
            kept,
            secret_desk,
            catalog,
            proxy,
            audit,
            redactor,
            announce=lambda: log.announce("settings"),
        )
        await providers.load()
        copilot_accounts = CopilotAccounts(
            settings.accounts,
            kept,
            secret_desk,
            accounts,
            catalog,
            audit,
            redactor,
            announce=lambda: log.announce("settings"),
            outside=settings.runtime_url,
        )
        await copilot_accounts.load()
        secret_desk.user_of = lambda name: providers.user_of(name) or copilot_accounts.user_of(name)
        secret_desk.put_in = providers.take_new_key
        proxy.health.announce = lambda: log.announce("settings")
        rules = Rules(RuleStore(database), redactor, audit)
        await rules.load()
        budgets = Budgets(log)
        stack.push_async_callback(budgets.close)
        fitting = agents_that_fit(await asyncio.to_thread(free_memory))
        slots = Slots(settings.max_tasks or fitting)
        inbox = await Inbox.opened(log)
        trust = Trust(TrustStore(database), audit)
        sessions = Sessions(
            log=log,
            index=ViewIndex(database),
            catalog=catalog,
            folders=folders,
            policy=settings.permissions,
            redactor=redactor,
            open_session=pool.open,
            proxy=proxy,
            accounts=accounts,
            homes=homes,
            pool=pool,
            inbox=inbox.writer,
            rules=rules,
            budgets=budgets,
            approval_seconds=settings.approval_seconds,
            quiet_seconds=settings.quiet_seconds,
            max_sessions=settings.max_sessions,
            loop_detection=settings.loop_detection,
            max_block=settings.max_block_characters,
            auto_switch=settings.auto_switch,
            images=Images(folder.images),
            places=places,
            session_keys=settings.session,
            environ=environ,
            grants=grants,
            trust=trust,
            bindings=Bindings(BindingStore(database)),
            holder=functools.partial(holder_of, homes, accounts),
            fork_on_runtime=functools.partial(fork_session, pool),
            is_traced=tracing is not None,
            hook_environ=hook_environment(settings, environ, secrets, folder.owner_id()),
        )
        entries = Entries(
            settings=settings,
            folders=folders,
            store=EntryStore(database),
            files=EntryFiles(trust, redactor),
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
                engine_room,
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
        channels = notice_channels(settings, environ, secrets, folder.owner_id(), webhook_secret)
        if channels:
            place = public_url(settings, url)
            notices = Notices(log, Deliveries(database), channels, place, redactor)
            stack.push_async_callback(notices.close)
            await notices.start()
        mirror = Mirror(log, settings.transcripts) if settings.transcripts else None
        if mirror:
            stack.push_async_callback(mirror.close)
            mirror.start()
        await sessions.remove_half_forks()
        interrupted = await sessions.recover()
        await inbox.recover()
        left = (*interrupted, *interrupted.values())
        await sweep_owner(folder.owner_id(), left, notes=plan.notes)
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
        history = History(log, sessions, SearchIndex(database))
        status = ServerStatus(
            version=version("airboss"),
            url=url,
            hosts=served_names(settings, urlsplit(url).port or settings.port).hosts,
            started_at=now_ms(),
            settings=settings,
            environ=environ,
            folders=folders,
            pool=pool,
            homes=homes,
            catalog=catalog,
            sessions=sessions,
            entries=entries,
            log=log,
            mirror=mirror,
            tracing=tracing,
            rows=DoctorRows(settings, sessions, history, providers, copilot_accounts),
        )
        decisions = Decisions(inbox, sessions, rules, redactor, audit)
        await audit.write(started(version("airboss"), settings, access.tokens()))
        yield Services(
            sessions=sessions,
            tasks=tasks,
            runs=runs,
            reports=RunReports(runs),
            rules=rules,
            inbox=inbox,
            decisions=decisions,
            live=live,
            catalog=catalog,
            folders=folders,
            entries=entries,
            entry_checks=EntryChecks(entries),
            entry_editor=EntryEditor(entries, audit),
            rehearsals=rehearsals,
            history=history,
            status=status,
            settings=changes,
            secrets=secret_desk,
            providers=providers,
            copilot_accounts=copilot_accounts,
            access=access,
            sign_ins=sign_ins,
            server_sign_ins=ServerSignIns(sessions, decisions, grants, audit),
            audit=audit,
            refusals=refusals,
            log=log,
            digests=Digests(log),
            background=background,
            stop=stop,
        )
