"""(n) A hundred sessions that stream at once: through Airboss, and through the bare SDK."""

import asyncio
import os
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.bare import Session, bare_client, bare_session
from bench.delays import Ear, Open
from bench.figures import Delays
from bench.model import order
from bench.portal import portal_session
from bench.processes import Taken, cpu_seconds, taken
from bench.table import Line, Say
from bench.workshop import airboss, flood

SESSIONS = 100
# Of each session: as fast as a model talks that many use at once.
PACE = 10
SECONDS = 10


@dataclass(frozen=True)
class Side:
    """What one side heard, and what that took."""

    ear: Ear
    cores: float
    taken: Taken

    def words(self) -> str:
        return (
            f"{self.ear.rate:.0f} deltas/s, p50 / p99 {Delays.of(self.ear.delays).words()}, "
            f"{self.cores:.2f} of a core, {self.taken.server:.0f} MB, "
            f"its runtime {self.taken.runtime:.0f} MB"
        )


async def _side(opening: Open, pid: int, quick: bool) -> Side:
    ear, pieces = Ear(), PACE * (4 if quick else SECONDS)
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(opening(ear.hear)) for _ in range(SESSIONS)]
        await _turns(sessions, order(1, 0))
        ear.delays, ear.first = [], 0
        began, before = time.monotonic(), cpu_seconds(pid)
        await _turns(sessions, order(pieces, PACE))
        cores = (cpu_seconds(pid) - before) / (time.monotonic() - began)
        most = taken(pid)
    if len(ear.delays) != pieces * SESSIONS:
        raise ValueError(f"{len(ear.delays)} of {pieces * SESSIONS} pieces came.")
    return Side(ear, cores, most)


async def _turns(sessions: list[Session], text: str) -> None:
    async with asyncio.TaskGroup() as group:
        for session in sessions:
            group.create_task(session.turn(text))


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    async with flood() as source, airboss(folder, source) as server:
        ours = await _side(partial(portal_session, server, source), server.pid, quick)
        say(f"through Airboss: {ours.words()}")
        async with bare_client(folder) as client:
            opening = partial(bare_session, client, source, server.work)
            # The SDK's client is in this process, which only counts what it hears beside that.
            bare = await _side(opening, os.getpid(), quick)
        say(f"bare: {bare.words()}")
    what = f"{SESSIONS} sessions that stream at once, {PACE} deltas/s each"
    return [
        Line("n", f"{what}: through Airboss", ours.words(), *_verdict(ours, bare)),
        Line("n", f"{what}: the bare SDK", bare.words()),
    ]


def _verdict(ours: Side, bare: Side) -> tuple[str, bool]:
    later = Delays.of(ours.ear.delays).p99 - Delays.of(bare.ear.delays).p99
    goal = "≥ 95 % of the bare SDK's rate; p99 ≤ 50 ms more; ≤ 0.5 MB a session"
    is_light = ours.taken.server <= 100 + SESSIONS * 0.5
    return goal, ours.ear.rate >= 0.95 * bare.ear.rate and later <= 50 and is_light
