"""Runs that have not ended, as the log has them: each has one voice, and comes to one end."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from airboss.engine.executor import RunOver
from airboss.engine.run_trees import keep_last_tree
from airboss.errors import NotFound
from airboss.log.log import EventLog
from airboss.log.writer import LogLine, Writer
from airboss.model.ids import RunId
from airboss.model.run_events import RunEnded, RunEnding
from airboss.model.runs import RunView


def name_of(run: RunId, attempt: int) -> str:
    """What the engine knows a run by: each attempt is one of its own."""
    return run if attempt == 1 else f"{run}~{attempt}"


def run_of(name: str) -> tuple[RunId, int]:
    run, _, attempt = name.partition("~")
    return RunId(run), int(attempt or 1)


class RunOffers(Protocol):
    """Where other workers find a run that this one has no room for, or is lost with."""

    async def folder(self, cwd: str | None, labels: Sequence[str]) -> str:
        """The folder as it is used; refused where no worker could work there."""
        ...

    async def offer(self, run: RunId, cwd: str, labels: Sequence[str]) -> None:
        """On disk before the run is: what was offered and is no run harms nobody."""
        ...

    def has_ended(self) -> None:
        """One of this worker's runs, and it needs no place any more."""
        ...

    def keeps(self, view: RunView, open_runs: Iterable[RunView]) -> bool:
        """Whether this worker works on a run that it has accepted, beside all that it has."""
        ...

    async def give_away(self, *names: str) -> None:
        """A run and what is below it is whoever's that takes it."""
        ...

    def call(self) -> None:
        """Somebody may take something now."""
        ...

    async def held_for(self, run: str) -> str | None:
        """Whom a run waits for that nobody can take."""
        ...

    async def drain(self) -> None:
        """Until nothing is at work, or for as long as that may take."""
        ...


@dataclass
class RunRecords:
    """All runs of this server, those around a task included."""

    log: EventLog
    # Where others work on the same database.
    offers: RunOffers | None = None
    _writers: dict[RunId, Writer] = field(default_factory=dict[RunId, Writer])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_busy(self) -> bool:
        """Whether a run has not ended."""
        return bool(self._writers)

    async def offer(self, run: RunId, cwd: str, labels: Sequence[str]) -> None:
        """Before it is accepted: other workers find it, at once or should this one be lost."""
        if self.offers:
            await self.offers.offer(run, cwd, labels)

    async def hand_over(self, run: RunId, *below: str) -> bool:
        """What was accepted here is left to others, with what is below it, where this worker has no
        room for it. Whether it is."""
        view = self._writers[run].view
        if self.offers is None or not isinstance(view, RunView):
            return False
        if self.offers.keeps(view, self.open_views()):
            return False
        self._writers.pop(run).release()
        await self.offers.give_away(run, *below)
        return True

    async def leave(self, run: RunId) -> None:
        """All that was said of it here is on disk, and nobody says more."""
        if run in self._writers:
            await self._writers[run].settle()
            self._writers.pop(run).release()

    def open_views(self) -> list[RunView]:
        """Of the runs that have not ended."""
        views = [writer.view for writer in self._writers.values()]
        return [view for view in views if isinstance(view, RunView)]

    async def open_names(self) -> list[str]:
        """What the engine knows the runs by that have not ended."""
        views = [await self.log.view(run) for run in list(self._writers)]
        return [name_of(view.id, view.attempt) for view in views if isinstance(view, RunView)]

    async def view(self, run: str) -> RunView:
        view = await self.log.view(run)
        if not isinstance(view, RunView):
            raise NotFound("run", run)
        return view

    async def open_view(self, run: RunId) -> RunView:
        """Of one that goes on; raises `RunOver` where it does not."""
        view = await self.view(run)
        if not view.is_open or view.ending is not None:
            raise RunOver
        return view

    async def writer(self, run: RunId) -> Writer:
        """The one voice of a run that has not ended."""
        async with self._opening:
            if run not in self._writers:
                self._writers[run] = await self.log.writer(run)
            return self._writers[run]

    @contextlib.asynccontextmanager
    async def voice(self, run: RunId) -> AsyncGenerator[Writer]:
        """For a word about a run, also about one that has ended: that has no voice of its own."""
        async with self._opening:  # nobody here takes it up meanwhile
            if run in self._writers:
                yield self._writers[run]
                return
            async with self.log.word(run) as writer:
                yield writer
                view = writer.view
        if self.offers and isinstance(view, RunView) and view.is_open:
            self.offers.call()  # it still waits for a worker

    @contextlib.contextmanager
    def beginning(self, run: RunId, writer: Writer) -> Generator[None]:
        """A run, or another attempt at one: its first words are being written. Where they are not,
        there is none."""
        self._writers[run] = writer
        try:
            yield
        except BaseException:
            self._writers.pop(run, None)
            raise

    async def begin_ending(self, view: RunView, ending: RunEnding) -> RunEnding | None:
        """On disk. Answers the ending that was said first; none where the run has ended."""
        if not view.is_open:
            return None
        writer = await self.writer(view.id)
        if writer.said_from(f"end@{view.attempt}") is not None:  # it ends by itself just now
            await self.end(view.id, view.attempt, ended_by(ending))
            return None
        said = (await writer.commit(ending, origin=f"ending@{view.attempt}")).event
        return said if isinstance(said, RunEnding) else ending

    async def finish(self, run: RunId, attempt: int, ended: RunEnded, *with_it: LogLine) -> bool:
        """It came to its own end, with what belongs to that; False where somebody has begun to end
        it."""
        writer = await self.writer(run)
        if writer.said_from(f"ending@{attempt}") is not None:
            return False
        await self.end(run, attempt, ended, *with_it)
        return True

    async def end(self, run: RunId, attempt: int, ended: RunEnded, *with_it: LogLine) -> None:
        """On disk; nobody says more in this attempt."""
        writer = await self.writer(run)
        with_it += await keep_last_tree(await self.view(run), writer)
        await self.log.commit(*with_it, writer.line(ended, f"end@{attempt}"))
        writer.release()
        self._writers.pop(run, None)
        if self.offers:
            self.offers.has_ended()


def ended_by(ending: RunEnding) -> RunEnded:
    return RunEnded(outcome=ending.outcome, reason=ending.reason, who=ending.who)
