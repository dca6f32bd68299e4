"""(t) What PostgreSQL adds: to turns that are asked for elsewhere, and to small tasks."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bench import shared_database
from bench.figures import Pairs, spread
from bench.fleet import Fleet
from bench.jobs import AT_ONCE, TASKS, entry_in, through_portal
from bench.portal import PortalSession
from bench.processes import cpu_seconds
from bench.table import Line, Say
from bench.turns import EMPTY, TURNS_A_SESSION, WARM_UP
from bench.wire import calling, viewing
from bench.workshop import Server, Source, airboss, rehearsal
from tests.postgres import Postgres

JOBS_A_SIDE = 10


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    if not shared_database.is_there(say):
        return []
    async with rehearsal(folder) as source, shared_database.postgres() as postgres:
        url = await shared_database.new_database(postgres)
        fleet = Fleet(folder, url, source, slots=TASKS)
        async with fleet.server("owner") as owner:
            async with fleet.server("other") as other:
                pairs = await _turns(owner, other, source, 20 if quick else 200)
                say(f"turns: {_turn_line(pairs).found}")
            (alone := folder / "alone").mkdir()
            tasks = await _tasks(alone, owner, postgres, source, quick)
            say(f"tasks: {tasks.found}")
    return [_turn_line(pairs), tasks]


@asynccontextmanager
async def _session_of_two(
    owner: Server, other: Server, source: Source
) -> AsyncGenerator[tuple[PortalSession, PortalSession]]:
    """One session, as people at its own server and at another one have it."""
    async with calling(owner.address) as near, calling(other.address) as far:
        name = await owner.open(near, source)
        seq = (await near.get(f"/api/v1/sessions/{name}"))["seq"]
        here, there = PortalSession(near, name), PortalSession(far, name)
        async with (
            viewing(owner.address, f"sessions/{name}", seq, here.on_frame),
            viewing(other.address, f"sessions/{name}", seq, there.on_frame),
        ):
            yield here, there
        await near.post(f"/api/v1/sessions/{name}/close")


async def _turns(owner: Server, other: Server, source: Source, count: int) -> Pairs:
    """At its own server and at the other one by turns; who goes first changes each time."""
    found = Pairs()
    while len(found.bare) < count:
        async with _session_of_two(owner, other, source) as (here, there):
            for _ in range(WARM_UP):
                await _timed(here, there)
                await _timed(there, here)
            for number in range(min(TURNS_A_SESSION, count - len(found.bare))):
                sides = ((found.bare, here, there), (found.portal, there, here))
                for times, session, beside in sides[:: 1 if number % 2 else -1]:
                    times.append(await _timed(session, beside))
    return found


async def _timed(session: PortalSession, other: PortalSession) -> float:
    """The next one begins when both have heard of the end: else it would count as the next's."""
    other.expect()
    began = time.perf_counter()
    await session.turn(EMPTY)
    taken = 1000 * (time.perf_counter() - began)
    await other.until_idle()
    return taken


def _turn_line(pairs: Pairs) -> Line:
    added = spread(pairs.differences)
    found = (
        f"{added.words(' ms')} added; {spread(pairs.bare).words(' ms')} at its own server, "
        f"{spread(pairs.portal).words(' ms')} at the other; {len(pairs.bare)} pairs"
    )
    what = "an empty turn on PostgreSQL, asked for and followed at another server than its own"
    return Line("t", what, found, "≤ 30 ms added", added.middle <= 30)


async def _tasks(
    folder: Path, shared: Server, postgres: Postgres, source: Source, quick: bool
) -> Line:
    """CPU time of the server, and with it PostgreSQL's: SQLite has its own in the server."""
    rounds = 2 if quick else JOBS_A_SIDE
    options = ("--entry", str(entry_in(folder, source)), "--max-tasks", str(TASKS))
    spent = {"sqlite": 0.0, "server": 0.0, "database": 0.0}
    async with (
        airboss(folder, source, options=options) as alone,
        calling(alone.address) as near,
        calling(shared.address) as far,
    ):
        for number in range(-1, rounds):
            sides = (("sqlite", alone, near), ("server", shared, far))
            for name, server, caller in sides[:: 1 if number % 2 else -1]:
                before = cpu_seconds(server.pid), shared_database.cpu_seconds(postgres)
                await through_portal(server, caller, AT_ONCE.name, TASKS)
                if number < 0:
                    continue  # the engine is loaded by the first run
                spent[name] += cpu_seconds(server.pid) - before[0]
                if name == "server":
                    spent["database"] += shared_database.cpu_seconds(postgres) - before[1]
    each = {name: 1000 * seconds / rounds / TASKS for name, seconds in spent.items()}
    ratio = (each["server"] + each["database"]) / each["sqlite"]
    found = (
        f"{ratio:.2f} times: {each['server']:.1f} ms and {each['database']:.1f} ms of PostgreSQL; "
        f"{each['sqlite']:.1f} ms on SQLite; {rounds} jobs a side"
    )
    what = f"{TASKS} empty tasks on PostgreSQL at once, CPU of each"
    return Line("t", what, found, "≤ 1.3 times SQLite's", ratio <= 1.3)
