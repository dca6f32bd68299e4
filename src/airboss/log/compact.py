"""What somebody needs who comes late: of a block that has ended, its end has the whole text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from airboss.log.parts import KeptPart
from airboss.log.rows import filling, said_behind
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
    begun = _open_blocks(connection, stream)
    wanted = select(*_TOLD).where(or_(is_no_delta(), *_of_open_blocks(begun)))
    said = said_behind(connection, stream, wanted, after, limit, list(begun))
    found = filling(said, characters)
    more = len(found) == limit or next(said, None) is not None
    return list(_joined(found, after)), more


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


def _open_blocks(connection: Connection, stream: str) -> dict[str, int]:
    """By their names, with where they begin."""
    known = select(open_starts.c.seq).where(open_starts.c.stream == stream)
    seqs = connection.execute(known).scalars().all()
    if not seqs:
        return {}
    starts = select(events.c.seq, events.c.block).where(
        events.c.stream == stream, events.c.seq.in_(seqs)
    )
    return {row.block: row.seq for row in connection.execute(starts.order_by(events.c.seq))}


def _of_open_blocks(begun: Mapping[str, int]) -> Iterator[ColumnElement[bool]]:
    for block, seq in begun.items():
        yield and_(events.c.role == "delta", events.c.block == block, events.c.seq > seq)


@dataclass(frozen=True, slots=True)
class _Delta:
    """What is kept apart, as if it stood among the events."""

    seq: int
    at: int
    body: str
    block: str
    role: str = "delta"


def _joined(found: Sequence[Any], after: int) -> Iterator[Recorded]:
    """Deltas of one block that follow each other, as one with the last one's place."""
    waiting: list[Any] = []
    for one in found:
        row = one
        if isinstance(one, KeptPart):
            row = _Delta(one.seq, one.at, one.behind(after).body, one.block)
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
