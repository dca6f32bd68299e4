"""Where something can be worked on: here, or on another machine that lives."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.engine.homes import WALK
from airboss.errors import NoWorkerFits, WorkingDirectoryMissing, WorkingDirectoryNotAllowed
from airboss.log.log import EventLog
from airboss.machines.fitting import Abilities, Needs
from airboss.machines.shared_roots import SharedRoots, path_of
from airboss.model.views import SessionView
from airboss.service.folders import Folders
from airboss.store.claims import UnownedRun
from airboss.store.living_workers import LivingWorker, LivingWorkers

_NOBODY: Final = (
    "No machine works just now, and this server does not work itself. Start a worker with "
    "`airboss worker`, then try again."
)
_NO_FOLDER: Final = (
    "No machine that works has the folder {folder}. Use a folder below one of these: {known}."
)
_SEVERAL: Final = (
    "Several machines may have a folder {folder} of their own: {names}. Ask a server on the one "
    "that you mean, or use a folder that they share."
)
_NO_LABELS: Final = (
    "No machine that has the folder {folder} has all of the labels {labels}. There are: {known}."
)


@dataclass(frozen=True)
class LocatedFolder:
    """A folder, and what it takes to work in it."""

    cwd: str
    needs: Needs


@dataclass
class Placement:
    """As the worker sees it that has these abilities; one that does not work takes nothing."""

    workers: LivingWorkers
    me: Abilities
    roots: SharedRoots
    folders: Folders
    is_working: bool = True
    # It takes nothing new.
    is_draining: bool = False

    @property
    def works(self) -> bool:
        return self.is_working and not self.is_draining

    async def held_for(self, waiting: UnownedRun) -> str | None:
        """Whom a run waits for that no machine which lives could take; None: one of them can."""
        needs = Needs(waiting.root, waiting.place, frozenset(waiting.labels))
        living = await self.workers.all()
        if any(_can(one, needs) for one in living):
            return None
        if any(_can(one, Needs(needs.root, needs.place)) for one in living):
            return f"a machine with the labels {', '.join(waiting.labels)}"
        if needs.root is not None:
            return f"a machine that works and shares the folder {path_of(needs.root)}"
        return waiting.last_there or "the machine that has its folder"

    async def locate(self, cwd: str | None, labels: Sequence[str] = ()) -> LocatedFolder:
        """Refused where nobody who lives could work there."""
        wanted = frozenset(labels)
        found = await self._here(cwd)
        if found is not None:
            root = await asyncio.to_thread(self.roots.root_of, found)
            needs = Needs(root, self.me.place, wanted)
            if self.works and self.me.fits(needs):
                return LocatedFolder(found, needs)
            if root is not None or self.works:
                return self._must_fit(LocatedFolder(found, needs), await self.workers.all())
        living = await self.workers.all()
        return self._must_fit(_elsewhere(_normal(cwd), wanted, living), living)

    async def worker_for(self, cwd: str | None) -> str | None:
        """Who opens a chat in this folder; None: this one does."""
        if self.works and await self._here(cwd) is not None:
            return None
        needs = (await self.locate(cwd)).needs
        return next(one.id for one in await self.workers.all() if _can(one, needs))

    async def _here(self, cwd: str | None) -> str | None:
        """The real folder; None where only another machine may have it."""
        try:
            return str(await asyncio.to_thread(self.folders.check, cwd))
        except WorkingDirectoryMissing:
            path = _normal(cwd)
            own = self.folders.roots if self.works else self.roots.ids
            if _below(path, [str(root) for root in own]):
                raise
            if self.works and not any(_has(one, path) for one in await self.workers.all()):
                raise
        except WorkingDirectoryNotAllowed:
            if self.works:
                raise
        return None

    def _must_fit(self, located: LocatedFolder, living: Sequence[LivingWorker]) -> LocatedFolder:
        needs = located.needs
        if any(_can(one, needs) for one in living):
            return located
        without = Needs(needs.root, needs.place)
        having = [one for one in living if _can(one, without)]
        if not having:
            raise _nobody_has(located.cwd, living)
        known = ", ".join(f"{one.name} ({', '.join(one.labels) or 'none'})" for one in having)
        labels = ", ".join(sorted(needs.labels))
        raise NoWorkerFits(_NO_LABELS.format(folder=located.cwd, labels=labels, known=known))


@dataclass(frozen=True)
class ChatOpeners:
    """Who opens a chat again that nobody has."""

    log: EventLog
    placement: Placement

    async def find(self, session: str) -> str | None:
        """None: this worker. Sessions of tasks go with their run."""
        view = await self.log.view(session)
        if not isinstance(view, SessionView) or view.task is not None:
            return None
        worker = await self.placement.worker_for(view.cwd)
        if worker is not None:
            await self.placement.workers.hand(session, worker)
        return worker


def _normal(cwd: str | None) -> str:
    return os.path.normpath((cwd or "").strip() or os.getcwd())


def _can(worker: LivingWorker, needs: Needs) -> bool:
    abilities = Abilities(worker.place, worker.shared, worker.labels, worker.walks)
    return worker.takes_work and WALK in worker.walks and abilities.fits(needs)


def _below(folder: str, roots: Sequence[str]) -> bool:
    return any(Path(folder).is_relative_to(root) for root in roots)


def _has(worker: LivingWorker, folder: str) -> bool:
    """By the names of folders alone: that machine looks at them when it begins."""
    return _below(folder, (*worker.roots, *map(path_of, worker.shared)))


def root_at(worker: LivingWorker, folder: str) -> Needs | None:
    """How a worker has a folder: below one that it shares, or below one of its own."""
    for name in worker.shared:
        if _below(folder, [path_of(name)]):
            return Needs(name, worker.place)
    return Needs(None, worker.place) if _below(folder, worker.roots) else None


def _elsewhere(cwd: str, labels: frozenset[str], living: Sequence[LivingWorker]) -> LocatedFolder:
    """A folder that is not on this machine: shared by others, or of one of them."""
    having = [one for one in living if one.takes_work and _has(one, cwd)]
    for one in having:
        for name in one.shared:
            if _below(cwd, [path_of(name)]):
                return LocatedFolder(cwd, Needs(name, one.place, labels))
    match having:
        case [one]:
            return LocatedFolder(cwd, Needs(None, one.place, labels))
        case []:
            raise _nobody_has(cwd, living)
        case several:
            names = ", ".join(one.name for one in several)
            raise NoWorkerFits(_SEVERAL.format(folder=cwd, names=names))


def _nobody_has(folder: str, living: Sequence[LivingWorker]) -> NoWorkerFits:
    working = [one for one in living if one.takes_work]
    if not working:
        return NoWorkerFits(_NOBODY)
    known = {
        f"{root} (on {one.name})": None
        for one in working
        for root in (*map(path_of, one.shared), *one.roots)
    }
    return NoWorkerFits(_NO_FOLDER.format(folder=folder, known=", ".join(known)))
