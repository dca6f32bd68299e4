"""A PostgreSQL of the benchmark's own: on loopback, and what is committed is on disk."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import psutil

from airboss.store.postgres_database import PostgresDatabase
from bench.table import Say
from tests.postgres import MISSING, Postgres, programs, running_postgres


def is_there(say: Say) -> bool:
    """Where there is none, the row is left out and says how to get it."""
    if programs() is None:
        say(f"left out. {MISSING}")
        return False
    return True


@contextlib.asynccontextmanager
async def postgres() -> AsyncGenerator[Postgres]:
    running = running_postgres()
    server = await asyncio.to_thread(running.__enter__)
    try:
        yield server
    finally:
        await asyncio.to_thread(running.__exit__, None, None, None)


async def new_database(server: Postgres) -> str:
    """The address of one with our tables in it."""
    url = server.url(await asyncio.to_thread(server.new_database))
    database = PostgresDatabase(url)
    await database.open()
    await database.close()
    return url


def cpu_seconds(server: Postgres) -> float:
    """Of all its processes, and of those that have ended."""
    main = psutil.Process(server.pid)
    ended = main.cpu_times()
    total = sum(ended[:4])
    for child in main.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(child.cpu_times()[:2])
    return total
