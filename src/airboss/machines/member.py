"""One worker of several from its start to its end: registered, beating, guarded, and gone in order.

It begins before anything is written, and ends behind all that was.
"""

import asyncio
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from airboss.errors import SettingsInvalid, StoreUnavailable
from airboss.machines import last_word
from airboss.machines.guarding import Guard
from airboss.machines.heart import Heart, end_as_lost
from airboss.machines.lease import LeaseTimes, awake_and_asleep
from airboss.model.ids import new_id
from airboss.patience import is_ending
from airboss.store.postgres_workers import Worker, WorkerLine

# What a worker needs to tell the database is asked of the environment; all else stays here.
_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR")
_AGAIN_SECONDS: Final = 0.5
# Who lives is heard within so many of its beats.
_BEATS_TO_HEAR: Final = 2.5


def new_worker_id() -> str:
    """Of one start of a process: never used again."""
    return new_id("wrk")


@dataclass(frozen=True)
class Introduction:
    """What a worker says of itself."""

    id: str
    # The data folder's id: it stays, and has one living worker.
    place: str
    name: str
    version: str
    walks: Sequence[str]
    labels: Sequence[str] = ()
    roots: Sequence[Path] = ()
    shared_roots: Sequence[Path] = ()
    root_names: Sequence[str] = ()
    slots: int = 0
    pages: bool = False

    @property
    def worker(self) -> Worker:
        return Worker(
            id=self.id,
            place=self.place,
            name=self.name or platform.node(),
            host=platform.node(),
            pid=os.getpid(),
            version=self.version,
            walks=self.walks,
            labels=self.labels,
            roots=self.roots,
            shared_roots=self.shared_roots,
            root_names=self.root_names,
            slots=self.slots,
            pages=self.pages,
        )


@dataclass
class Member:
    """A worker that lives. `end` is the last that is heard of it."""

    worker: Worker
    line: WorkerLine
    heart: Heart
    guard: Guard | None

    @classmethod
    async def joined(
        cls,
        url: str,
        introduction: Introduction,
        times: LeaseTimes,
        notes: Path,
        on_lost: Callable[[str], None] = end_as_lost,
        on_reaped: Callable[[str], None] = lambda _: None,
    ) -> "Member":
        """Waits while the database is away. `notes` is where the runtimes of this data folder are
        written down."""
        worker = replace(introduction.worker, lease_seconds=times.seconds)
        line = WorkerLine(url, worker.id)
        sent = await _registered(line, worker, times)
        tell = [sys.executable, "-P", "-m", last_word.__name__, worker.id]
        guard = await asyncio.to_thread(
            Guard.started,
            *(worker.place, notes, times.own_limit, times.seconds, tell),
            _environment(url, os.environ),
        )
        heart = Heart(line, times, sent, on_lost=on_lost, on_reaped=on_reaped)
        if guard is not None:
            heart.feed = guard.feed
        heart.feed(sent)
        # The clocks are compared before anything is written.
        await asyncio.to_thread(heart.beat)
        heart.start()
        return cls(worker, line, heart, guard)

    async def end(self) -> None:
        """In order: nothing of it works any more, and what it had is free for others."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self.heart.stop()
        try:
            self.line.leave(self.heart.times.of_a_call)
        except StoreUnavailable:
            pass  # others find it lost
        finally:
            self.line.close()
            if self.guard is not None:
                self.guard.dismiss()


async def _registered(line: WorkerLine, worker: Worker, times: LeaseTimes) -> float:
    """Since when it lives."""
    try:
        while True:
            try:
                await _must_be_alone(line, worker, times)
                sent = awake_and_asleep()
                await asyncio.to_thread(line.register, worker, times.of_a_call)
            except StoreUnavailable:
                if is_ending():
                    raise
                await asyncio.sleep(_AGAIN_SECONDS)
            else:
                return sent
    except BaseException:
        line.close()
        raise


async def _must_be_alone(line: WorkerLine, worker: Worker, times: LeaseTimes) -> None:
    """The folder's lock says that no other process of this machine has it. On another machine there
    may be a copy of it, at work: two of one place would give each other up for ever."""
    before = await asyncio.to_thread(line.predecessors, worker, times.of_a_call)
    if not before:
        return
    longest = max(one.lease_ms / 1000 or times.seconds for one in before)
    await asyncio.sleep(LeaseTimes(longest).between_beats * _BEATS_TO_HEAR)
    known = {one.id: one.beat for one in before}
    for one in await asyncio.to_thread(line.predecessors, worker, times.of_a_call):
        if one.beat != known.get(one.id):
            raise SettingsInvalid(
                f"{one.name} on {one.host} works with a copy of this data folder. Give this "
                "machine a data folder of its own (--data DIR), or stop the other one first."
            )


def _environment(url: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Not on the command line, which every process can read."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in _KEPT or name.startswith(("PG", "PYTHON"))
    }
    return {**kept, last_word.DATABASE: url}
