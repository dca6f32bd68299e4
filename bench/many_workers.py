"""(t) Workers beside each other: what more of them get done, and what they cost when idle."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

import psutil

from bench import shared_database
from bench.fleet import Fleet
from bench.jobs import ONE_TASK
from bench.patient import patient_model
from bench.table import Line, Say
from bench.wire import Caller, Failed, calling
from tests.postgres import Postgres

COUNTS = (1, 2, 4)
SLOTS = 4
# So many tasks for each slot, when all of them work.
ROUNDS = 6
IDLE_SECONDS = 30.0
MOST_CONNECTIONS = 12


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    if not shared_database.is_there(say):
        return []
    runs = SLOTS * COUNTS[-1] * (2 if quick else ROUNDS)
    taken: list[float] = []
    idle: list[Line] = []
    async with shared_database.postgres() as postgres, patient_model() as model:
        for count in COUNTS:
            (here := folder / str(count)).mkdir()
            url = await shared_database.new_database(postgres)
            fleet = Fleet(here, url, model.source, slots=SLOTS)
            async with AsyncExitStack() as stack:
                server = await stack.enter_async_context(fleet.server("build-1"))
                others = [f"build-{number}" for number in range(2, count + 1)]
                workers = [await stack.enter_async_context(fleet.worker(one)) for one in others]
                caller = await stack.enter_async_context(calling(server.address))
                await _done(fleet, caller, 2 * SLOTS * count)  # the first one loads the engine
                taken.append(await _done(fleet, caller, runs))
                say(f"{runs} tasks with {count} at work: {taken[-1]:.1f} s")
                if count == COUNTS[-1]:
                    pids = [server.pid, *workers]
                    idle.append(await _idle(postgres, pids, 10.0 if quick else IDLE_SECONDS))
                    say(f"idle: {idle[-1].found}")
    return [_line(runs, taken), *idle]


async def _done(fleet: Fleet, caller: Caller, count: int) -> float:
    """So many runs of one task each, all asked for at once: until the last has ended."""
    began = time.monotonic()
    runs = [await fleet.start(caller, ONE_TASK.name) for _ in range(count)]
    states = await fleet.until_ended(runs, 60 + 2 * count)
    if {*states} != {"succeeded"}:
        raise Failed(f"Runs ended as {', '.join(sorted({*states}))}.")
    return time.monotonic() - began


def _line(runs: int, taken: list[float]) -> Line:
    two, four = (taken[0] / seconds for seconds in taken[1:])
    each = ", ".join(
        f"{count}: {seconds:.1f} s" for count, seconds in zip(COUNTS, taken, strict=True)
    )
    return Line(
        "t",
        f"{runs} tasks of a second, {SLOTS} slots each, with 2 and 4 workers instead of 1",
        f"{two:.2f} and {four:.2f} times as fast; {each}",
        "≥ 1.9 and 3.6 times",
        two >= 1.9 and four >= 3.6,
    )


async def _idle(postgres: Postgres, pids: list[int], seconds: float) -> Line:
    await asyncio.sleep(seconds / 3)  # what the runs left to be done
    before, began = shared_database.cpu_seconds(postgres), time.monotonic()
    ours = [psutil.Process(pid) for pid in pids]
    spent = [sum(process.cpu_times()[:2]) for process in ours]
    await asyncio.sleep(seconds)
    waited = time.monotonic() - began
    share = (shared_database.cpu_seconds(postgres) - before) / waited
    own = sum(sum(process.cpu_times()[:2]) for process in ours) - sum(spent)
    connections = [_connections(process, postgres.port) for process in ours]
    found = (
        f"PostgreSQL {100 * share:.1f} % of a core, {max(connections)} connections at most; "
        f"a worker {100 * own / waited / len(ours):.1f} % of a core"
    )
    return Line(
        "t",
        f"{len(ours)} workers that have nothing to do",
        found,
        f"≤ 3 % of a core, ≤ {MOST_CONNECTIONS} connections each",
        share <= 0.03 and max(connections) <= MOST_CONNECTIONS,
    )


def _connections(process: psutil.Process, port: int) -> int:
    return sum(
        bool(one.raddr) and one.raddr.port == port and one.status == psutil.CONN_ESTABLISHED
        for one in process.net_connections("tcp")
    )
