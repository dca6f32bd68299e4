"""Runs that have not ended, as the log has them: each has one voice, and comes to one end."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field

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


@dataclass
class RunRecords:
    """All runs of this server, those around a task included."""

    log: EventLog
    _writers: dict[RunId, Writer] = field(default_factory=dict[RunId, Writer])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_busy(self) -> bool:
        """Whether a run has not ended."""
        return bool(self._writers)

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
        if run in self._writers:
            yield self._writers[run]
            return
        writer = await self.log.writer(run)
        try:
            yield writer
        finally:
            writer.release()

    @contextlib.contextmanager
    def beginning(self, run: RunId, writer: Writer) -> Generator[None]:
        """A run whose first words are being written; where they are not, there is no run."""
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


def ended_by(ending: RunEnding) -> RunEnded:
    return RunEnded(outcome=ending.outcome, reason=ending.reason, who=ending.who)
