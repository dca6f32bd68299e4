"""Several logs on one PostgreSQL, each with a worker of its own, as several processes have them."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager

from airboss.log.log import EventLog
from airboss.store.machine_tables import workers
from airboss.store.notices import Heard, NoticeLine
from airboss.store.ownership import Ownership
from airboss.store.postgres_database import PostgresDatabase

# Of a worker by this name.
OpenNeighbour = Callable[[str], AbstractAsyncContextManager[EventLog]]


class SilentDatabase(PostgresDatabase):
    """Of a process that is killed between each commit and its notice."""

    def notice_line(self, heard: Heard) -> NoticeLine | None:
        return None


async def register(database: PostgresDatabase, worker: str) -> None:
    named = {"id": worker, "place": f"plc_{worker}", "name": worker, "host": "here", "pid": 1}
    row = workers.insert().values(**named, version="test", state="alive")
    await database.write(lambda c: c.execute(row))


@contextlib.asynccontextmanager
async def log_of(
    url: str, worker: str, kind: type[PostgresDatabase] = PostgresDatabase
) -> AsyncGenerator[EventLog]:
    database = kind(url)
    await database.open()
    try:
        await register(database, worker)
        async with EventLog(database, None, ownership=Ownership(worker)).running() as running:
            yield running
    finally:
        await database.close()
