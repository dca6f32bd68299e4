"""A stream from its end: the newest events first, and an end to the oldest."""

from sqlalchemy import Connection, delete, func, select

from airboss.model.events import Recorded
from airboss.store.tables import events


def page(connection: Connection, stream: str, before: int | None, limit: int) -> list[Recorded]:
    wanted = select(events.c.seq, events.c.at, events.c.body).where(events.c.stream == stream)
    if before is not None:
        wanted = wanted.where(events.c.seq < before)
    found = connection.execute(wanted.order_by(events.c.seq.desc()).limit(limit))
    return [Recorded(row.seq, row.at, row.body) for row in found]


def count_older(connection: Connection, stream: str, at: int) -> int:
    older = select(func.count()).where(events.c.stream == stream, events.c.at < at)
    return connection.execute(older).scalar_one()


def forget_older(connection: Connection, stream: str, at: int) -> None:
    """The last event stays in any case: the next one's number follows from it."""
    last = select(func.max(events.c.seq)).where(events.c.stream == stream).scalar_subquery()
    connection.execute(
        delete(events).where(events.c.stream == stream, events.c.at < at, events.c.seq < last)
    )
