"""(b) How long an event takes from the model, through the real runtime, to a reader.

The same flood goes through the bare SDK and through Airboss with its viewers. Each piece of text
says when it was sent, so that a delay holds the runtime's own time as well; the bare SDK's column
says how much that is.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from bench.bare import Heard, Session, bare_client, bare_session
from bench.figures import Delays
from bench.model import order, sent_at
from bench.portal import portal_session
from bench.table import Line, Say
from bench.workshop import airboss, flood

SESSIONS = 8
# As fast as a quick model talks.
ONE_SESSION_RATE = 100

Open = Callable[[Heard], AbstractAsyncContextManager[Session]]


@dataclass
class Ear:
    """All that the readers of one side heard in one flood."""

    delays: list[float] = field(default_factory=list[float])
    first: int = 0
    last: int = 0

    def hear(self, text: str, now: int) -> None:
        self.first = self.first or now
        self.last = now
        self.delays.extend((now - sent) / 1000 for sent in sent_at(text))

    @property
    def rate(self) -> float:
        return len(self.delays) / max(1, self.last - self.first) * 1e6


async def flooded(opening: Open, sessions: int, pieces: int, rate: float) -> Ear:
    """One flood; `rate` is of all sessions together; 0 means as fast as can be."""
    ear = Ear()
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(opening(ear.hear)) for _ in range(sessions)]
        await _all(opened, order(1, 0))
        ear.delays, ear.first = [], 0
        await _all(opened, order(pieces // sessions, rate / sessions))
    if len(ear.delays) != pieces // sessions * sessions:
        raise ValueError(f"{len(ear.delays)} of {pieces} pieces came.")
    return ear


async def _all(sessions: list[Session], text: str) -> None:
    async with asyncio.TaskGroup() as group:
        for session in sessions:
            group.create_task(session.turn(text))


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    async with (
        flood() as source,
        airboss(folder, source) as server,
        bare_client(folder) as client,
    ):
        bare: Open = partial(bare_session, client, source, server.work)
        portal: Open = partial(portal_session, server, source)
        ceiling, lines = await _ceiling(bare, portal, quick, say)
        seconds = 4 if quick else 10
        paces = (
            ("1 session", 1, ONE_SESSION_RATE, False),
            ("half of the bare SDK's rate", SESSIONS, ceiling / 2, True),
            ("all of it", SESSIONS, ceiling, False),
        )
        for name, sessions, rate, counts in paces:
            pieces = int(rate * seconds)
            theirs = await flooded(bare, sessions, pieces, rate)
            ours = await flooded(portal, sessions, pieces, rate)
            lines.append(_line(name, rate, theirs, ours, counts))
            say(f"{name}: {lines[-1].found}")
    return lines


async def _ceiling(bare: Open, portal: Open, quick: bool, say: Say) -> tuple[float, list[Line]]:
    rates: dict[str, list[float]] = {"bare": [], "portal": []}
    pieces = 4_000 if quick else 12_000
    for number in range(3):
        for side, opening in (("bare", bare), ("portal", portal))[:: 1 if number % 2 else -1]:
            rates[side].append((await flooded(opening, SESSIONS, pieces, 0)).rate)
        say(f"flood: {rates['bare'][-1]:.0f}/s bare, {rates['portal'][-1]:.0f}/s through Airboss")
    theirs, ours = median(rates["bare"]), median(rates["portal"])
    share = median(b / a for a, b in zip(rates["bare"], rates["portal"], strict=True))
    found = f"{100 * share:.0f} %: {theirs:.0f} deltas/s bare, {ours:.0f}/s through Airboss"
    line = Line("b", f"the rate of a flood, {SESSIONS} sessions", found, "≥ 90 %", share >= 0.9)
    return theirs, [line]


def _line(name: str, rate: float, theirs: Ear, ours: Ear, counts: bool) -> Line:
    bare, portal = Delays.of(theirs.delays), Delays.of(ours.delays)
    found = f"{portal.words()} through Airboss, {bare.words()} bare"
    what = f"from model to reader, p50 / p99, {name} ({rate:.0f}/s)"
    goal = "≤ 5 / 50 ms" if counts else ""
    met = portal.p50 <= 5 and portal.p99 <= 50 if counts else None
    return Line("b", what, found, goal, met)
