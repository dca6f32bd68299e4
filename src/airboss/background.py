"""Work that goes on beside whoever began it. Each piece of it has an owner that ends it.

It is a task group that differs from asyncio's in three ways. It belongs to an object, which is made
in one task and closed in another. A failure is logged and counted, and the others go on. And who
closes it says whether what still runs is finished or cancelled.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Mapping
from contextvars import Context
from types import MappingProxyType, TracebackType
from typing import Any, Final, TypeVar

from airboss.errors import Conflict
from airboss.patience import patient_context

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)
_failures: Final = Counter[str]()

# How many pieces of work failed in this process, by the name of what they belonged to.
FAILURES: Final[Mapping[str, int]] = MappingProxyType(_failures)


class BackgroundClosed(Conflict):
    """Nothing new is begun: the owner is ending, or has ended."""


class Background:
    """The work of one owner. `name` is the same for all owners of a kind, because failures are
    counted by it; `of` says which one it is. Work has a name too: its function's, if no other."""

    def __init__(self, name: str, of: str = "") -> None:
        self.name = name
        self._prefix = f"{name} {of}" if of else name
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def start(
        self, work: Coroutine[Any, Any, Answer], name: str = "", *, context: Context | None = None
    ) -> "asyncio.Task[Answer]":
        """Begin what nobody need wait for: its failure is logged and counted. It has all the time,
        whoever began it."""
        task = self.call(work, name, context=context or patient_context())
        task.add_done_callback(self._report)
        return task

    def start_if_open(
        self, work: Coroutine[Any, Any, None], name: str = "", *, context: Context | None = None
    ) -> None:
        """For what the next server finds and does where this one ends: begun, or not at all."""
        if self._is_closed:
            work.close()
        else:
            self.start(work, name, context=context)

    def call(
        self, work: Coroutine[Any, Any, Answer], name: str = "", *, context: Context | None = None
    ) -> "asyncio.Task[Answer]":
        """Begin what the caller waits for: its failure is the caller's."""
        if self._is_closed:
            work.close()
            raise BackgroundClosed(f"Nothing new is begun: {self._prefix} has ended.")
        whole = self._whole(name or getattr(work, "__name__", ""))
        task = asyncio.create_task(work, name=whole, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self, name: str | None = None) -> None:
        """All that runs, or what has this name. It is not waited for here."""
        whole = None if name is None else self._whole(name)
        for task in self._tasks:
            if whole is None or task.get_name() == whole:
                task.cancel()

    async def wait(self, seconds: float | None = None) -> None:
        """Until nothing runs any more, also of what is begun meanwhile; at most so long."""
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        while running := self._others():
            left = None if end is None else end - loop.time()
            if left is not None and left <= 0:
                return
            await asyncio.wait(running, timeout=left)

    async def close(self, *, cancel: bool = False, seconds: float | None = None) -> None:
        """Refuses what is new, and waits for what runs: until it has finished, or is cancelled
        where that is asked. What takes longer than `seconds` is cancelled and left behind. Twice is
        as good as once."""
        self._is_closed = True
        if cancel:
            _cancel(self._others())
        await self.wait(seconds)
        if late := self._others():
            _cancel(late)
            if cancel:  # it was cancelled before, and went on all the same
                names = ", ".join(sorted(task.get_name() for task in late))
                _log.warning("Canceled, but still running after %g s: %s", seconds, names)

    async def __aenter__(self) -> "Background":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What runs is finished; where the block failed or was cancelled, it is cancelled."""
        try:
            await self.close(cancel=error is not None)
        except asyncio.CancelledError:
            await self.close(cancel=True)
            raise

    def _whole(self, name: str) -> str:
        return f"{self._prefix} {name}" if name else self._prefix

    def _others(self) -> "set[asyncio.Task[Any]]":
        """All but the one that asks: it cannot wait for itself."""
        return self._tasks - {asyncio.current_task()}

    def _report(self, task: "asyncio.Task[Any]") -> None:
        if not task.cancelled() and (error := task.exception()):
            _failures[self.name] += 1
            _log.error("%s failed", task.get_name(), exc_info=error)


def _cancel(tasks: "set[asyncio.Task[Any]]") -> None:
    for task in tasks:
        task.cancel()


async def unless(event: asyncio.Event, work: Coroutine[Any, Any, Answer]) -> Answer | None:
    """What comes of the work; None where the event came first, which ends the work."""
    async with Background("work until an event") as both:
        doing, seen = both.call(work), both.call(event.wait())
        await asyncio.wait({doing, seen}, return_when=asyncio.FIRST_COMPLETED)
        both.cancel()
    return None if doing.cancelled() else doing.result()


def ignore_failure(task: "asyncio.Future[Any]") -> None:
    """A callback for what may be left behind: that it failed then is no news for the log."""
    if not task.cancelled():
        task.exception()
