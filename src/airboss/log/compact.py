"""What somebody needs who comes late: of a block that has ended, its end has the whole text."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from airboss.log.rows import filling
from airboss.log.transcript import is_no_delta
from airboss.model.events import Recorded
from airboss.store.tables import events, open_starts

_TOLD = (events.c.seq, events.c.at, events.c.body, events.c.role, events.c.block)


def page(
    connection: Connection,
    stream: str,
    after: int,
    limit: int | None,
    characters: int | None = None,
) -> tuple[list[Recorded], bool]:
    """Events behind `after` without the deltas of blocks that have ended; those of one that is open
    come as one. No more of them than it takes to fill so many characters. And whether there may be
    more."""
    wanted = or_(is_no_delta(), *_of_open_blocks(connection, stream))
    asked = (
        select(*_TOLD)
        .where(events.c.stream == stream, events.c.seq > after, wanted)
        .order_by(events.c.seq)
        .limit(limit)
    )
    with connection.execute(asked) as said:
        found = filling(said, characters)
        more = len(found) == limit or said.fetchone() is not None
    return list(_joined(found)), more


def last(connection: Connection, stream: str, count: int) -> list[Recorded]:
    """The last so many that are no deltas, and the deltas between them that somebody needs."""
    place = connection.execute(
        select(events.c.seq)
        .where(events.c.stream == stream, is_no_delta())
        .order_by(events.c.seq.desc())
        .limit(1)
        .offset(count - 1)
    ).scalar()
    return page(connection, stream, 0 if place is None else place - 1, None)[0]


def _of_open_blocks(connection: Connection, stream: str) -> Iterator[ColumnElement[bool]]:
    known = select(open_starts.c.seq).where(open_starts.c.stream == stream)
    seqs = connection.execute(known).scalars().all()
    if not seqs:
        return
    starts = select(events.c.seq, events.c.block).where(
        events.c.stream == stream, events.c.seq.in_(seqs)
    )
    for row in connection.execute(starts).all():
        yield and_(events.c.role == "delta", events.c.block == row.block, events.c.seq > row.seq)


def _joined(found: Sequence[Any]) -> Iterator[Recorded]:
    """Deltas of one block that follow each other, as one with the last one's place."""
    waiting: list[Any] = []
    for row in found:
        if waiting and not (row.role == "delta" and row.block == waiting[-1].block):
            yield _one(waiting)
            waiting = []
        if row.role == "delta":
            waiting.append(row)
        else:
            yield Recorded(row.seq, row.at, row.body)
    if waiting:
        yield _one(waiting)


def _one(deltas: Sequence[Any]) -> Recorded:
    final = deltas[-1]
    if len(deltas) == 1:
        return Recorded(final.seq, final.at, final.body)
    said = [json.loads(row.body) for row in deltas]
    whole = said[0] | {"text": "".join(delta["text"] for delta in said)}
    body = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return Recorded(final.seq, final.at, body)
