"""(t) The log on PostgreSQL: written by one process and followed by another, against SQLite.

`python -m bench.followed write|follow URL SECONDS` is one of the two processes; it says when it is
ready, and then its figures.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from airboss.log.log import EventLog
from airboss.store.machine_tables import workers
from airboss.store.ownership import Ownership
from airboss.store.postgres_database import PostgresDatabase
from bench import shared_database
from bench.figures import Delays
from bench.generator import NAMES, RATE, STREAMS, follow, generate, in_one_process, speakers_in
from bench.table import Line, Say
from bench.workshop import first_line, running
from tests.postgres import Postgres


async def _in_log(url: str, what: str, seconds: int) -> dict[str, float]:
    database = PostgresDatabase(url)
    await database.open()
    worker = f"wrk_{what}"
    named = {"id": worker, "place": f"plc_{what}", "name": what, "host": "here", "pid": 1}
    row = workers.insert().values(**named, version="bench", state="alive")
    await database.write(lambda c: c.execute(row))
    try:
        async with EventLog(database, None, ownership=Ownership(worker)).running() as log:
            return await (_write if what == "write" else _follow)(log, seconds)
    finally:
        await database.close()


async def _write(log: EventLog, seconds: int) -> dict[str, float]:
    speakers = await speakers_in(log)
    print("ready", flush=True)
    before = time.process_time()
    taken = await generate(speakers, seconds)
    for speaker in speakers:
        await speaker.settle()
    return {"rate": STREAMS * RATE * seconds / taken, "cpu": time.process_time() - before}


async def _follow(log: EventLog, seconds: int) -> dict[str, float]:
    delays: list[float] = []
    before = time.process_time()
    async with asyncio.TaskGroup() as group:
        for name in NAMES:
            group.create_task(follow(log, name, RATE * seconds, delays))
        print("ready", flush=True)
    late = Delays.of(delays)
    cpu = time.process_time() - before
    return {"heard": len(delays), "p50": late.p50, "p99": late.p99, "cpu": cpu}


async def _elsewhere(server: Postgres, folder: Path, seconds: int) -> dict[str, float]:
    """CPU time is that of all: who writes, who follows, and PostgreSQL."""
    url = await shared_database.new_database(server)
    words = (sys.executable, "-m", "bench.followed")
    log = folder / "followed.log"
    async with running(*words, "follow", url, str(seconds), log=log) as follower:
        await first_line(follower)
        before = shared_database.cpu_seconds(server)
        async with running(*words, "write", url, str(seconds), log=log) as writer:
            await first_line(writer)
            said: dict[str, Any] = json.loads(await first_line(writer))
            heard: dict[str, Any] = json.loads(await first_line(follower))
        database = shared_database.cpu_seconds(server) - before
    return {
        **heard,
        "rate": said["rate"],
        "writer": said["cpu"],
        "follower": heard["cpu"],
        "database": database,
    }


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    if not shared_database.is_there(say):
        return []
    seconds, rounds = (4, 1) if quick else (10, 3)
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    async with shared_database.postgres() as server:
        for number in range(rounds):
            (alone := folder / f"sqlite{number}").mkdir()
            theirs.append(await in_one_process(alone, seconds))
            ours.append(await _elsewhere(server, folder, seconds))
            say(_words(ours[-1], theirs[-1], seconds))
    best = sorted(ours, key=lambda one: one["p50"])[len(ours) // 2]
    return [_line(best, theirs[ours.index(best)], seconds)]


def _ratio(found: dict[str, float], sqlite: dict[str, float]) -> float:
    return (found["writer"] + found["follower"] + found["database"]) / sqlite["cpu"]


def _words(found: dict[str, float], sqlite: dict[str, float], seconds: int) -> str:
    parts = ", ".join(
        f"{name} {found[key] / seconds:.2f}"
        for name, key in (("writer", "writer"), ("reader", "follower"), ("PostgreSQL", "database"))
    )
    return (
        f"{found['rate']:.0f} deltas/s ({sqlite['rate']:.0f} on SQLite), "
        f"{found['p50']:.0f} / {found['p99']:.0f} ms, {_ratio(found, sqlite):.2f} times the CPU "
        f"({parts} of a core; SQLite {sqlite['cpu'] / seconds:.2f}); "
        f"{found['heard']:.0f} of {STREAMS * RATE * seconds} heard"
    )


def _line(found: dict[str, float], sqlite: dict[str, float], seconds: int) -> Line:
    met = (
        found["rate"] >= 0.95 * sqlite["rate"]
        and found["heard"] == STREAMS * RATE * seconds
        and found["p50"] <= 30
        and found["p99"] <= 100
        and _ratio(found, sqlite) <= 1.3
    )
    return Line(
        "t",
        f"the log on PostgreSQL, {STREAMS} streams of {RATE} deltas/s, followed by another process",
        _words(found, sqlite, seconds),
        "≥ 0.95 of SQLite's rate, ≤ 30 / 100 ms, ≤ 1.3 times its CPU",
        met,
    )


def main() -> None:
    what, url, seconds = sys.argv[1:]
    print(json.dumps(asyncio.run(_in_log(url, what, int(seconds)))), flush=True)


if __name__ == "__main__":
    main()
