"""A stream from its end: the newest events first, and an end to the oldest."""

from typing import Final

from sqlalchemy import Connection, delete, func, select

from airboss.model.events import Recorded
from airboss.store.database import Database
from airboss.store.tables import events

# More in one transaction may take longer than one may take.
_AT_ONCE: Final = 5_000


def page(connection: Connection, stream: str, before: int | None, limit: int) -> list[Recorded]:
    wanted = select(events.c.seq, events.c.at, events.c.body).where(events.c.stream == stream)
    if before is not None:
        wanted = wanted.where(events.c.seq < before)
    found = connection.execute(wanted.order_by(events.c.seq.desc()).limit(limit))
    return [Recorded(row.seq, row.at, row.body) for row in found]


def count_older(connection: Connection, stream: str, at: int) -> int:
    older = select(func.count()).where(events.c.stream == stream, events.c.at < at)
    return connection.execute(older).scalar_one()


async def forget_all_older(database: Database, stream: str, at: int) -> None:
    while await database.write(lambda c: forget_older(c, stream, at)):
        pass


def forget_older(connection: Connection, stream: str, at: int) -> bool:
    """The oldest of them; whether there may be more. The last event stays in any case: the next
    one's number follows from it."""
    last = select(func.max(events.c.seq)).where(events.c.stream == stream).scalar_subquery()
    old = (events.c.stream == stream, events.c.at < at, events.c.seq < last)
    some = select(events.c.seq).where(*old).order_by(events.c.seq).limit(_AT_ONCE)
    gone = connection.execute(delete(events).where(*old, events.c.seq.in_(some)))
    return gone.rowcount >= _AT_ONCE
