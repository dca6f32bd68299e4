"""Runs that an earlier server, or another worker, left in the middle of their work go on here."""

import asyncio
import contextlib
import logging
from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

from airboss.engine.run_records import name_of, run_of
from airboss.errors import NotFound, StoreUnavailable
from airboss.model.ids import RunId
from airboss.model.run_events import RunEnding, RunMoved, RunResumed
from airboss.model.runs import OPEN_RUNS, LoneRunView, RunView
from airboss.service.pages import page_of_views
from airboss.service.runs import Runs
from airboss.store.living_workers import LivingWorkers

_RESUMED: Final = "Resumed after a restart of the server."
# What comes back after a restart asks for its slot within this time.
_COMING_BACK_SECONDS: Final = 0.5
# A disk that is full stays so for a while.
_AGAIN_SECONDS: Final = 1.0
_GIVEN_UP: Final = "It was stopped because nothing could be written to disk."

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunRecovery:
    """Whatever was accepted comes to its end."""

    runs: Runs

    async def recover(self) -> None:
        """Goes on with what an earlier server of this data folder had accepted. It returns before
        that is done."""
        views = [view for kind in (RunView, LoneRunView) for view in await self._open(kind)]
        if not views:
            return
        self.runs.room.executor.slots.hold()
        for view in views:
            writer = await self.runs.records.writer(view.id)
            if view.ending is None:
                writer.say(RunResumed(reason=_RESUMED))
        self.runs.soon(self._take_up(views))

    async def _open(self, kind: type[RunView]) -> list[RunView]:
        views: list[RunView] = []
        cursor: str | None = None
        while True:
            page = await page_of_views(self.runs.index, kind, OPEN_RUNS, cursor, 100)
            views += page.items
            cursor = page.next_cursor
            if cursor is None:
                return views

    async def _take_up(self, views: list[RunView]) -> None:
        """What the disk does not let go on now goes on once it does."""
        try:
            left = await self._take_up_all(views)
        finally:
            await self._let_go_soon()
        if left:
            _log.error("%d runs go on when the engine's database can be used", len(left))
        while left:
            await asyncio.sleep(_AGAIN_SECONDS)
            left = await self._take_up_all(left)

    async def _take_up_all(self, views: list[RunView]) -> list[RunView]:
        """Answers those that were left, since the engine's database could not be used."""
        left: list[RunView] = []
        try:
            await self.runs.room.engine.recover()
        except StoreUnavailable as error:
            _log.debug("No run goes on yet: %s", error)
            return views
        for view in views:
            try:
                await self._take_up_if_open(view)
            except StoreUnavailable as error:
                _log.debug("%s does not go on yet: %s", view.id, error)
                left.append(view)
        return left

    async def _take_up_if_open(self, view: RunView) -> None:
        """It may have been stopped, and deleted or tried again, while the disk was waited for."""
        with contextlib.suppress(NotFound):
            now = await self.runs.view(view.id)
            if now.is_open and now.attempt == view.attempt:
                await self._take_up_one(now, name_of(now.id, now.attempt))

    async def _take_up_one(self, view: RunView, name: str) -> None:
        runs, engine = self.runs, self.runs.room.engine
        if view.ending is not None:
            runs.soon(engine.end_surely(name, view.ending))
        elif not await engine.known(name):
            runs.soon(runs.begin(view.id, view.attempt))
        elif not await engine.is_open(name) and (await runs.view(view.id)).is_open:
            given_up = RunEnding(outcome="failed", reason=_GIVEN_UP)
            runs.soon(engine.end_surely(name, given_up))

    # What another worker had.

    async def fresh_view(self, run: str) -> RunView:
        """As its last owner left it, also where somebody followed it here."""
        view = (await self.runs.records.writer(RunId(run))).view
        return view if isinstance(view, RunView) else await self.runs.view(run)

    async def take_over(self, view: RunView, moved: RunMoved | None, epoch: int) -> None:
        """Goes on with a run that is this worker's from now on, in this epoch of it; with `moved`
        where another one had it."""
        engine, name = self.runs.room.engine, name_of(view.id, view.attempt)
        if view.ending is None:
            if moved is not None:
                writer = await self.runs.records.writer(view.id)
                await writer.commit(moved, origin=f"moved@{epoch}")
            if await engine.is_open(name):
                await engine.take_up([name])
                return
        await self._take_up_one(view, name)

    @contextlib.contextmanager
    def coming_back(self) -> Generator[None]:
        """While works come back, all wait for their slots: the last to come may be first."""
        self.runs.room.executor.slots.hold()
        try:
            yield
        finally:
            self.runs.soon(self._let_go_soon())

    async def _let_go_soon(self) -> None:
        try:
            await asyncio.sleep(_COMING_BACK_SECONDS)
        finally:
            self.runs.room.executor.slots.let_go()

    async def end_over(self, workers: LivingWorkers) -> None:
        """Runs have ended whose worker was lost before its engine had noted that: nobody else would
        ever note it."""
        engine = self.runs.room.engine
        others = await engine.open_of_others()
        living = {one.id for one in await workers.all()} if others else frozenset[str]()
        for name in [name for name, worker in others.items() if worker not in living]:
            run, attempt = run_of(name)
            view = await self.runs.log.view(run)
            if isinstance(view, RunView) and (not view.is_open or attempt < view.attempt):
                await engine.stop(name)

    async def take_back(self) -> None:
        """A worker that was lost may wake for a moment and begin one of ours under its own name."""
        names = await self.runs.records.open_names()
        if names:
            engine = self.runs.room.engine
            if strays := await engine.elsewhere(names):
                await engine.take_up(strays)
