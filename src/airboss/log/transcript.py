"""What was said in a stream without the pieces in which it arrived."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, or_, select

from airboss.model.events import Recorded
from airboss.store.tables import events

_AT_ONCE = 400


def page(
    connection: Connection,
    stream: str,
    after: int,
    limit: int,
    kinds: Sequence[str] = (),
    until: int | None = None,
    without: Sequence[str] = (),
) -> list[Recorded]:
    wanted = select(events.c.seq, events.c.at, events.c.body).where(
        events.c.stream == stream,
        events.c.seq > after,
        events.c.kind.in_(kinds) if kinds else is_no_delta(),
    )
    if until is not None:
        wanted = wanted.where(events.c.seq <= until)
    if without:
        wanted = wanted.where(events.c.kind.not_in(without))
    found = connection.execute(wanted.order_by(events.c.seq).limit(limit))
    return [Recorded(row.seq, row.at, row.body) for row in found]


def among(
    connection: Connection, streams: Sequence[str], kinds: Sequence[str], limit: int
) -> list[tuple[str, Recorded]]:
    """Events of these kinds in several streams, each stream's in its order."""
    found: list[tuple[str, Recorded]] = []
    for start in range(0, len(streams), _AT_ONCE):
        wanted = (
            select(events.c.stream, events.c.seq, events.c.at, events.c.body)
            .where(events.c.stream.in_(streams[start : start + _AT_ONCE]), events.c.kind.in_(kinds))
            .order_by(events.c.stream, events.c.seq)
            .limit(limit - len(found))
        )
        rows = connection.execute(wanted)
        found += [(row.stream, Recorded(row.seq, row.at, row.body)) for row in rows]
        if len(found) >= limit:
            break
    return found


def is_no_delta() -> ColumnElement[bool]:
    return or_(events.c.role.is_(None), events.c.role.in_(("start", "end")))
