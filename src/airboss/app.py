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

from airboss.app_access import load_access, token_changes
from airboss.app_machines import engine_home, new_log, opened_database, shown_workers
from airboss.app_parts import (
    accounts_of,
    engine_room,
    extension_room,
    hook_environment,
    load_rehearsal,
    notice_channels,
    open_tracing,
    public_url,
    retention_of,
    runtime_plan,
    runtime_pool,
    secrets_of,
    serve_rehearsal,
    shelf_of,
    shown_extensions,
    start_notices,
)
from airboss.background import Background
from airboss.engine.budgets import Budgets
from airboss.engine.run_records import RunRecords
from airboss.engine.slots import Slots
from airboss.entry.places import find_repo_root
from airboss.harness.binding import Bindings
from airboss.harness.cages import builtin_is_caged, cages_of
from airboss.harness.holders import holder_of
from airboss.harness.homes import Homes
from airboss.harness.lent_account import CopilotService
from airboss.harness.models import Catalog, copilot_offers
from airboss.harness.open_cages import OpenCages
from airboss.harness.proxy import ProviderProxy
from airboss.harness.server_grants import ServerGrants
from airboss.harness.setup import check_settings
from airboss.harness.user_door import UserDoor
from airboss.http.callbacks import callback_of
from airboss.http.names import served_names
from airboss.http.services import Services
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
from airboss.service.duties import always
from airboss.service.entries import Entries
from airboss.service.entry_checks import EntryChecks
from airboss.service.entry_editor import EntryEditor
from airboss.service.entry_files import EntryFiles
from airboss.service.folders import Folders, secret_places
from airboss.service.history import History
from airboss.service.in_force import SettingsInForce, slot_counts
from airboss.service.inbox import Inbox
from airboss.service.left_cages import remove_left_cages
from airboss.service.live import Live
from airboss.service.mirror import mirror_of
from airboss.service.notices import Notices, take_secret
from airboss.service.providers import Providers
from airboss.service.refused import Refusals
from airboss.service.rehearsals import Rehearsals
from airboss.service.rules import Rules
from airboss.service.run_cages import caging_of
from airboss.service.run_recovery import RunRecovery
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
from airboss.store.deliveries import Deliveries
from airboss.store.entries import EntryStore
from airboss.store.folder import DataFolder
from airboss.store.images import Images, SharedImages
from airboss.store.kept_secrets import KeptSecrets
from airboss.store.places import Places
from airboss.store.positions import Positions
from airboss.store.rules import RuleStore
from airboss.store.run_keys import RunKeys
from airboss.store.search import SearchIndex
from airboss.store.settings import SettingStore
from airboss.store.sign_ins import SignInStore
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
        database, machines = await opened_database(stack, settings, folder, has_pages=bool(url))
        log = new_log(database, machines, folder)
        await stack.enter_async_context(log.running())
        redactor = Redactor(secrets)
        accounts.read_kept, accounts.learn = kept_secrets.value, redactor.learn
        audit = Audit(log, redactor, token_changes(settings, folder, machines))
        await audit.open()
        kept, given = SettingStore(database), sources or SettingSources.of(settings)
        tell_changed = functools.partial(log.announce, "settings")
        changes = SettingChanges(given, kept, redactor, audit, announce=tell_changed)
        settings = await changes.load()
        check_settings(await with_added(settings, kept))
        refusals = Refusals(audit)
        stack.callback(refusals.tell_counted)
        sign_ins = SignIns(SignInStore(database), access, audit=audit)
        shared = database if machines else None
        await load_access(stack, log, shared, folder, sign_ins, lets_in=bool(url))
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
        open_cages = OpenCages(lambda: UserDoor(proxy).serve, proxy.door)
        plan = replace(
            plan,
            request_handler=proxy.answer_handed,
            doors=open_cages.doors,
            hear_cage=open_cages.hear,
        )
        pool = runtime_pool(settings, plan, homes, accounts)
        stack.push_async_callback(pool.stop)
        log.before_forget = pool.end_cages
        home, here = Path.home(), find_repo_root(Path.cwd())
        protected = secret_places(settings, environ, home)
        folders = Folders.around(here, settings.roots, home, protected, settings.shared_roots)
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
        has_duty = machines.duties(database).has if machines else always
        budgets = Budgets(log)
        stack.push_async_callback(budgets.close)
        fitting = agents_that_fit(await asyncio.to_thread(free_memory))
        slots = Slots(*slot_counts(settings, fitting))
        inbox = await Inbox.opened(log)
        shelf = await shelf_of(settings, folder, database, environ)
        trust = Trust(shelf.trust, audit, shelf, lambda: log.announce("settings"))
        hook_environ = hook_environment(settings, environ, secrets, folder.owner_id())
        room = extension_room(stack, settings, shelf, trust, hook_environ)
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
            mcp_wait_seconds=settings.mcp_wait_seconds,
            max_sessions=settings.max_sessions,
            loop_detection=settings.loop_detection,
            max_block=settings.max_block_characters,
            auto_switch=settings.auto_switch,
            images=Images(folder.images) if shared is None else SharedImages(folder.images, shared),
            places=places,
            session_keys=settings.session,
            environ=environ,
            grants=grants,
            trust=trust,
            cages=cages_of(settings),
            open_cages=open_cages,
            bindings=Bindings(BindingStore(database, folder.owner_id())),
            holder=functools.partial(holder_of, homes, accounts),
            fork_on_runtime=functools.partial(fork_session, pool),
            is_traced=tracing is not None,
            hook_environ=hook_environ,
            extensions=room,
        )
        pool.spare_cage = sessions.spare_cage
        entries = Entries(
            settings=settings,
            folders=folders,
            store=EntryStore(database, folder.owner_id()),
            files=EntryFiles(trust, redactor),
            announce=lambda: log.announce("entry"),
            is_watched=lambda: log.is_heard,
            known_models=lambda: [offer.id for offer in catalog.known()],
            ask_for_models=catalog.offers,
            is_caged=functools.partial(builtin_is_caged, sessions.cages, settings.permissions),
        )
        rehearsals = Rehearsals(entries.files, settings, folder.owner_id())
        stack.push_async_callback(rehearsals.close)
        rehearsals.sweep()
        records = RunRecords(log, machines and machines.shared_runs(log, slots, folders))
        runs = Runs(
            records=records,
            index=ViewIndex(database),
            entries=entries,
            folders=folders,
            redactor=redactor,
            keys=RunKeys(database),
            caging=functools.partial(caging_of, sessions.cages),
            make_room=functools.partial(
                engine_room,
                settings,
                engine_home(settings, machines, folder),
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
            delivered = (log, Deliveries(database), channels, place, redactor)
            await start_notices(stack, Notices(*delivered, has_duty=has_duty))
        if machines is not None:
            await machines.begin(stack, log, folder, inbox, tasks, RunRecovery(runs))
        else:
            await sessions.remove_half_forks()
            await remove_left_cages(log, folder.path)
            interrupted = await sessions.recover()
            await inbox.recover()
            left = (*interrupted, *interrupted.values())
            await sweep_owner(folder.owner_id(), left, notes=plan.notes)
            await tasks.recover(interrupted)
            await RunRecovery(runs).recover()
            sessions.resume_decided()
        mirror = mirror_of(log, settings.transcripts, sessions.index, sessions.machine)
        if mirror:
            stack.push_async_callback(mirror.close)
            mirror.start()
        deadlines = Deadlines(inbox, sessions)
        stack.push_async_callback(deadlines.close)
        await deadlines.start()
        retention = retention_of(settings, log, runs, database, audit)
        retention.has_duty = has_duty
        stack.push_async_callback(retention.close)
        retention.start()
        changes.apply = SettingsInForce(sessions, slots, fitting, retention, shelf).take
        background = Background("http")
        stack.push_async_callback(background.close, cancel=True)
        live = Live(log, Positions(database), callback_of)
        stack.push_async_callback(live.stop)
        history = History(log, sessions, SearchIndex(database))
        if machines is not None:
            served = (sessions, runs, tasks, history)
            await machines.connect(stack, log, database, redactor, *served)
            machines.share(stack, log, database, rules, changes, providers, copilot_accounts)
        extensions = shown_extensions(room, folders, redactor, audit, log)
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
            rows=DoctorRows(settings, sessions, history, providers, copilot_accounts, extensions),
        )
        decisions = Decisions(inbox, sessions, rules, redactor, background, audit)
        await audit.write(started(version("airboss"), settings, access.tokens()))
        yield Services(
            sessions=sessions,
            tasks=tasks,
            runs=runs,
            workers=shown_workers(stack, settings, machines, database, log, runs, slots, url),
            reports=RunReports(runs),
            rules=rules,
            inbox=inbox,
            decisions=decisions,
            live=live,
            catalog=catalog,
            folders=folders,
            entries=entries,
            extensions=extensions,
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
            moves=machines and machines.moves,
        )
