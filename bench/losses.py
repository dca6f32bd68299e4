"""(t) What is lost for a while: a worker, a machine, PostgreSQL itself."""

import asyncio
import os
import signal
import time
from pathlib import Path
from statistics import median

from bench import shared_database
from bench.fleet import LEASE, Fleet, kill_all, stop_all_of
from bench.jobs import FEW, FEW_TASKS, ONE_TASK
from bench.patient import patient_model
from bench.table import Line, Say
from bench.wire import calling
from tests.postgres import Postgres

KILLS = 8
MACHINES = 2
RUNS = 20
AWAY_SECONDS = 5.0
# Longer than anything here lasts: whoever is lost has not ended its task.
LONG_SECONDS = 300.0


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    if not shared_database.is_there(say):
        return []
    lines: list[Line] = []
    async with shared_database.postgres() as postgres:
        killed = [
            await _lost(folder, postgres, LEASE, is_killed=True)
            for _ in range(2 if quick else KILLS)
        ]
        say(f"killed: {', '.join(f'{seconds:.1f}' for seconds in killed)} s")
        lease = 5.0 if quick else LEASE
        gone = [
            await _lost(folder, postgres, lease, is_killed=False)
            for _ in range(1 if quick else MACHINES)
        ]
        say(f"gone: {', '.join(f'{seconds:.1f}' for seconds in gone)} s")
        lines += [_killed_line(killed), _gone_line(gone, lease)]
        lines.append(await _restart(folder, postgres, 5 if quick else RUNS))
        say(f"PostgreSQL away: {lines[-1].found}")
    return lines


async def _lost(folder: Path, postgres: Postgres, lease: float, *, is_killed: bool) -> float:
    """From the loss of a server with a task at work to the next request to the model, by whoever
    goes on with it."""
    (here := folder / f"lost-{time.monotonic_ns()}").mkdir()
    url = await shared_database.new_database(postgres)
    async with patient_model(LONG_SECONDS) as model:
        fleet = Fleet(here, url, model.source, lease)
        async with fleet.worker("build-2"), fleet.server("build-1") as server:
            async with calling(server.address) as caller:
                await fleet.start(caller, ONE_TASK.name)
                await model.until_asked(1)
            lost_at = time.monotonic()
            stopped = [] if is_killed else stop_all_of(server.pid)
            if is_killed:
                os.kill(server.pid, signal.SIGKILL)
            try:
                await model.until_asked(2)
            finally:
                kill_all(stopped)
                model.hurry()  # else its end would wait for the task's
            return model.asked[1] - lost_at


def _killed_line(found: list[float]) -> Line:
    return Line(
        "t",
        "a server gets kill -9, until another one asks the model for its run",
        f"p50 {median(found):.1f} s, at most {max(found):.1f} s; {len(found)} times",
        "p50 ≤ 4 s",
        median(found) <= 4,
    )


def _gone_line(found: list[float], lease: float) -> Line:
    return Line(
        "t",
        f"a machine is gone, the same, with a lease of {lease:.0f} s",
        f"at most {max(found):.1f} s; {len(found)} times",
        "≤ the lease + 5 s",
        max(found) <= lease + 5,
    )


async def _restart(folder: Path, postgres: Postgres, count: int) -> Line:
    (here := folder / "restart").mkdir()
    url = await shared_database.new_database(postgres)
    async with patient_model(2.0) as model:
        fleet = Fleet(here, url, model.source, slots=RUNS)
        async with fleet.worker("build-2"), fleet.server("build-1") as server:
            async with calling(server.address) as caller:
                runs = [await fleet.start(caller, FEW_TASKS.name) for _ in range(count)]
            await model.until_asked(count)
            stopped_at = time.monotonic()
            await asyncio.to_thread(postgres.restart, "fast", away_seconds=AWAY_SECONDS)
            back_at = time.monotonic()
            states = await fleet.until_ended(runs, 180)
            went_on = time.monotonic() - back_at
            moved = fleet.rows("SELECT count(*) FROM events WHERE kind = 'run.moved'")[0][0]
    failed = sum(state != "succeeded" for state in states)
    again = len(model.asked) - count * FEW
    return Line(
        "t",
        f"PostgreSQL is away for {AWAY_SECONDS:.0f} s under {count} runs of {FEW} tasks",
        f"{failed} failed, {again} missions repeated, {moved} runs moved; away for "
        f"{back_at - stopped_at:.1f} s in all, and all ended {went_on:.1f} s after that",
        "0 failed, 0 repeated",
        failed == again == 0,
    )
