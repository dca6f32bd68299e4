"""What people say about who works: a run goes to a machine that they name, a machine takes nothing
new."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airboss.errors import Conflict, Invalid, NotFound, OwnedElsewhere
from airboss.model.ids import RunId
from airboss.model.runs import RunView
from airboss.service.placement import root_at
from airboss.service.run_release import RunRelease
from airboss.service.verbs import at_owner
from airboss.store.claims import GivenTo
from airboss.store.living_workers import LivingWorker
from airboss.store.notices import WORK

if TYPE_CHECKING:
    from airboss.service.owners import Owners

# Agents get some time to end.
_STOP_SECONDS: Final = 60
ALONE: Final = "This server has no other machines: its database is a file of its own."


@dataclass
class RunMoves:
    """Of one server."""

    release: RunRelease
    # The way to runs of other processes on the same database.
    owners: "Owners | None" = None

    async def show(self, run: str) -> RunView:
        return await self.release.runs.show(run)

    async def move(self, run: str, to: str, who: str) -> RunView:
        """One that waits, or is at work: then it is released, and what was cut off done again."""
        view = await self.show(run)
        if not view.is_open or view.ending is not None:
            state = "is being stopped" if view.is_open else f"has ended ({view.state})"
            raise Conflict(f"The run {state}. You can move only a run that has not ended.")
        worker = await self._named(to)
        return await self.give(view.id, _given_to(worker, view), who)

    @at_owner(_STOP_SECONDS)
    async def give(self, run: str, to: GivenTo, who: str) -> RunView:
        """Where the run is."""
        shared, records = self.release.shared, self.release.runs.records
        if RunId(run) in {view.id for view in records.open_views()}:
            if to.worker == shared.claims.worker:
                raise Conflict("The run is on that machine already.")
            await self.release.release(RunId(run), to, who)
        elif await shared.claims.give(run, to, who):
            records.log.announce(WORK)
        else:
            raise OwnedElsewhere(run)
        return await self.show(run)

    async def drain(self, name: str, *, undo: bool = False) -> LivingWorker:
        """It takes nothing new, and others go on with its runs as soon as no task of theirs is at
        work. Twice is as good as once."""
        worker = await self._named(name)
        shared = self.release.shared
        if await shared.claims.drain(worker.id, undo=undo):
            if worker.id == shared.claims.worker:  # others hear of it
                shared.be_draining(is_draining=not undo)
            shared.log.announce(WORK)
            shared.log.announce("machines")
        return await self._named(worker.id)

    async def _named(self, name: str) -> LivingWorker:
        living = await self.release.shared.placement.workers.all()
        found = [one for one in living if name in (one.id, one.name)]
        match found:
            case [one]:
                return one
            case []:
                raise NotFound("living machine", name)
            case several:
                ids = ", ".join(one.id for one in several)
                raise Invalid(f"Several machines are called {name}. Use one of their ids: {ids}.")


def _given_to(worker: LivingWorker, view: RunView) -> GivenTo:
    """Refused where it could not work on the run."""
    if worker.state != "alive":
        raise Conflict(f"{worker.name} is draining: it takes nothing new.")
    if not worker.takes_work:
        raise Conflict(f"{worker.name} does not work: it only serves pages.")
    missing = sorted(set(view.labels) - set(worker.labels))
    if missing:
        raise Conflict(f"{worker.name} does not have the labels {', '.join(missing)}.")
    found = root_at(worker, view.cwd)
    if found is None:
        raise Conflict(
            f"{worker.name} has no folder {view.cwd} in which agents may work. Put the files "
            "there, and allow the folder with --root or --shared-root."
        )
    return GivenTo(worker.id, worker.place, found.root)
