"""Where a server keeps things: a file of its own, or a database that several machines share; and
what it is made of in addition there."""

import asyncio
import contextlib
import os
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from airboss.background import Background
from airboss.engine.homes import WALKS
from airboss.engine.slots import Slots
from airboss.entry.places import find_repo_root
from airboss.errors import SettingsInvalid, StoreUnavailable
from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.machines.fitting import Abilities
from airboss.machines.lease import LeaseTimes
from airboss.machines.shared_roots import SharedRoots
from airboss.model.redaction import Redactor
from airboss.runtime.capacity import agents_that_fit, free_memory
from airboss.runtime.sweep import sweep_owner
from airboss.service.folders import Folders
from airboss.service.gone_files import GoneFiles
from airboss.service.inbox import Inbox
from airboss.service.left_cages import remove_left_cages
from airboss.service.left_work import LeftWork
from airboss.service.owners import Owners
from airboss.service.placement import ChatOpeners, Placement
from airboss.service.pulse import Pulse
from airboss.service.rule_sharing import RuleSharing
from airboss.service.rules import Rules
from airboss.service.run_moves import RunMoves
from airboss.service.run_recovery import RunRecovery
from airboss.service.run_release import RunRelease
from airboss.service.runs import Runs
from airboss.service.sessions import Sessions
from airboss.service.shared_entry import SharedEntry
from airboss.service.shared_runs import SharedRuns
from airboss.service.shared_slots import SharedSlots
from airboss.service.takeover import Takeover
from airboss.service.tasks import TaskRuns
from airboss.service.verbs import HasOwners
from airboss.service.workers import OneWorker, SharedWorkers, Workers
from airboss.settings import Settings
from airboss.store.claims import Claims
from airboss.store.commands import CommandStore
from airboss.store.database import Database
from airboss.store.duties import DutyStore
from airboss.store.folder import DataFolder
from airboss.store.installed import InstalledStore
from airboss.store.living_workers import LivingWorkers
from airboss.store.ownership import Ownership
from airboss.store.pulse import PulseStore
from airboss.store.rule_versions import RuleVersions
from airboss.store.session_files import SessionFiles
from airboss.store.slot_rows import SlotRows
from airboss.store.sqlite_database import SqliteDatabase

# PostgreSQL's driver is not imported for those who have a file.
if TYPE_CHECKING:
    from airboss.engine.homes import EngineHome
    from airboss.machines.member import Member


async def opened_database(
    stack: contextlib.AsyncExitStack, settings: Settings, folder: DataFolder, *, has_pages: bool
) -> "tuple[Database, Machines | None]":
    if settings.database is None:
        if not settings.work:
            raise SettingsInvalid(
                "A server that does not work needs a database that it shares with workers: "
                "--database postgresql://… or AIRBOSS_DATABASE."
            )
        database = SqliteDatabase(folder.database)
        stack.push_async_callback(database.close)
        await database.open()
        return database, None
    from airboss.store.postgres_database import PostgresDatabase

    shared = PostgresDatabase(settings.database)
    stack.push_async_callback(shared.close)
    await shared.open()
    machines = await Machines.joined(
        stack, settings, settings.database, folder, shared, has_pages=has_pages
    )
    shared.write_as(machines.ownership)
    return shared, machines


def _own_roots(settings: Settings) -> tuple[Path, ...]:
    """The folders of this machine in which agents may work, without those that it shares."""
    return Folders.around(find_repo_root(Path.cwd()), settings.roots, Path.home()).roots


def new_log(database: Database, machines: "Machines | None", folder: DataFolder) -> EventLog:
    forget = SessionFiles(folder).forget
    if machines is None:
        return EventLog(database, Journal(folder.journal), forget)
    return EventLog(database, None, forget, machines.ownership)


def engine_home(
    settings: Settings, machines: "Machines | None", folder: DataFolder
) -> "EngineHome":
    if machines is None or settings.database is None:
        from airboss.engine.local_file import FILE, LocalFile

        return LocalFile(folder.path / FILE)
    from airboss.engine.shared_schema import SharedSchema

    return SharedSchema(settings.database, machines.member.worker.id, machines.member.worker.place)


def shown_workers(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    machines: "Machines | None",
    database: Database,
    log: EventLog,
    runs: Runs,
    slots: Slots,
    url: str,
) -> Workers:
    """What people see of who works here. Nobody looks at a worker without pages."""
    if machines is None:
        return OneWorker(settings, version("airboss"), os.getpid(), runs, slots)
    member = machines.member
    times, notes = member.heart.times, member.heart.notes
    workers = SharedWorkers(member.worker.id, times, notes, database, log, machines.counts, slots)
    if url:
        stack.push_async_callback(workers.close)
        workers.start()
    return workers


class _Reloaded(Protocol):
    async def reload(self) -> None: ...


async def _follow_settings(log: EventLog, *changed: _Reloaded) -> None:
    with log.changes("settings") as heard:
        while not heard.is_over:
            if await heard.within():
                with contextlib.suppress(StoreUnavailable):  # the next change is read with it
                    for one in changed:
                        await one.reload()


@dataclass
class Machines:
    """This worker among all of its database."""

    member: "Member"
    database: Database
    roots: SharedRoots
    ownership: Ownership
    works: bool = True
    takeover: Takeover | None = None
    owners: Owners | None = None
    drain_seconds: float = 0
    shared: SharedRuns = field(init=False)
    slots: SharedSlots = field(init=False)
    entry: SharedEntry = field(init=False)
    release: RunRelease = field(init=False)
    moves: RunMoves = field(init=False)

    @classmethod
    async def joined(
        cls,
        stack: contextlib.AsyncExitStack,
        settings: Settings,
        url: str,
        folder: DataFolder,
        database: Database,
        *,
        has_pages: bool,
    ) -> "Machines":
        """Nothing of this data folder's last worker runs any more when this one is registered: what
        that one had is free from then on. It leaves when all else on the stack has ended."""
        from airboss.machines.heart import end_as_lost
        from airboss.machines.member import Introduction, Member, new_worker_id

        notes, place = folder.runtime_notes, folder.owner_id()
        await sweep_owner(place, notes=notes)
        roots = await asyncio.to_thread(SharedRoots.marked, settings.shared_roots)
        fitting = agents_that_fit(await asyncio.to_thread(free_memory))
        introduction = Introduction(
            id=new_worker_id(),
            place=place,
            name=settings.name,
            version=version("airboss"),
            walks=WALKS,
            labels=settings.labels,
            roots=await asyncio.to_thread(_own_roots, settings) if settings.work else (),
            shared_roots=tuple(roots.ids),
            root_names=roots.names,
            slots=(settings.max_tasks or fitting) if settings.work else 0,
            pages=has_pages,
        )
        times = LeaseTimes(settings.lease_seconds)
        member = await Member.joined(url, introduction, times, notes)
        stack.push_async_callback(member.end)
        owner = Ownership(member.worker.id, lambda fenced: end_as_lost(f"{fenced}."))
        return cls(
            *(member, database, roots, owner, settings.work), drain_seconds=settings.drain_seconds
        )

    def shared_runs(self, log: EventLog, slots: Slots, folders: Folders) -> SharedRuns:
        """What this worker takes, and what it leaves to others, goes by its slots and folders."""
        worker = self.member.worker
        me = Abilities(worker.place, self.roots.names, tuple(worker.labels), WALKS)
        claims = Claims(self.database, worker.id, me.place, me.roots, me.labels, me.walks)
        workers = LivingWorkers(self.database)
        placement = Placement(workers, me, self.roots, folders, self.works)
        self.shared = SharedRuns(claims, placement, log, slots, self.drain_seconds)
        self.slots = SharedSlots(slots, SlotRows(self.database, worker.id), log)
        return self.shared

    async def connect(
        self,
        stack: contextlib.AsyncExitStack,
        log: EventLog,
        database: Database,
        redactor: Redactor,
        *services: HasOwners,
    ) -> None:
        """What is asked here of other workers' streams reaches them, and the other way round."""
        # Until a lost owner is found lost, and another one goes on with what it had.
        takeover = 2 * self.member.heart.times.seconds
        store = CommandStore(database, self.member.worker.id, takeover)
        self.owners = owners = Owners(log, store, redactor)
        openers = ChatOpeners(log, self.shared.placement)
        owners.find_opener = openers.find
        for one in services:
            one.owners = owners
            if isinstance(one, Sessions):
                one.find_worker = self.shared.placement.worker_for
        self.moves = RunMoves(self.release, owners)
        await stack.enter_async_context(owners.open(*services, self.moves))

    def counts(self) -> dict[str, int]:
        """Since the start of this worker."""
        takeover, owners = self.takeover, self.owners
        return {
            "takeovers": takeover.taken if takeover else 0,
            "fenced_writes": self.ownership.fenced,
            "commands_asked": owners.asked if owners else 0,
            "commands_done": owners.done if owners else 0,
        }

    def share(
        self,
        stack: contextlib.AsyncExitStack,
        log: EventLog,
        database: Database,
        rules: Rules,
        *changed: _Reloaded,
    ) -> None:
        """What somebody changes on another server holds here, too."""
        versions = RuleVersions(database, self.member.worker.id)
        work = Background("sharing")
        stack.push_async_callback(work.close, cancel=True)
        work.start(rules.follow(RuleSharing(log, versions)), "rules")
        work.start(_follow_settings(log, *changed), "settings")
        pulse = Pulse(
            PulseStore(self.shared.claims),
            log,
            is_draining=lambda: self.shared.placement.is_draining,
            entry=lambda: self.entry.digest,
            wake=self.shared.on_room,
        )
        stack.push_async_callback(pulse.close)
        pulse.start()

    def duties(self, database: Database) -> DutyStore:
        return DutyStore(database, self.member.worker.id)

    async def begin(
        self,
        stack: contextlib.AsyncExitStack,
        log: EventLog,
        folder: DataFolder,
        inbox: Inbox,
        tasks: TaskRuns,
        recovery: RunRecovery,
    ) -> None:
        """What is free at the start is taken at once, and all else when it becomes so. The engine
        is loaded before it is needed: people wait for what is taken over."""
        sessions, name, owner = tasks.sessions, self.member.worker.name, self.member.worker.id
        sessions.machine = recovery.runs.machine = name
        await sessions.remove_half_forks()
        await remove_left_cages(log, folder.path)
        stack.push_async_callback(self.slots.close)
        self.slots.start()
        left = LeftWork(log, sessions, tasks, self.shared.claims)
        stack.push_async_callback(left.close)
        sessions.on_unresumed = left.release_unresumed
        self.release = RunRelease(recovery.runs, sessions, self.shared)
        parts = (self.shared, log, left, recovery, name, self.release)
        self.takeover = Takeover(*parts)
        stack.push_async_callback(self.takeover.close)
        self.ownership.on_taken = self.takeover.drop_soon
        self.entry = SharedEntry(recovery.runs.entries, InstalledStore(self.database, owner), log)
        stack.push_async_callback(self.entry.close)
        await self.entry.start()
        if sessions.bindings is not None:
            files = SessionFiles(folder).forget
            gone = GoneFiles(log, sessions.bindings.store, files, sessions.pool.end_cages)
            stack.push_async_callback(gone.close)
            gone.start()
        await self.takeover.look()
        await left.end_tasks()
        await inbox.recover(left.others)
        self.takeover.start()
        if self.works:
            recovery.runs.soon(recovery.runs.room.engine.warm_up())
