"""The log's rows: what a batch is made of, and how a page of a stream is read."""

import heapq
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, select

from airboss.log.marks import Marks
from airboss.log.parts import DELTAS, KeptPart, kept_parts
from airboss.log.shared_view import view_of
from airboss.model.events import (
    BlockDelta,
    Event,
    MessageEnded,
    ReasoningEnded,
    Recorded,
    ToolEnded,
    kept_event,
)
from airboss.model.views import View
from airboss.store.dialect import Row, keeps_parts
from airboss.store.machine_tables import images, parts
from airboss.store.tables import events, open_starts, origins, positions, said, streams, views

# So many rows are read at first from a database that gives all that it is asked for at once.
_FIRST_READ = 32


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring deltas of a block whose end is written: they become one row."""

    stream: str
    block: str
    at: int
    end_seq: int
    end_kind: str
    marks: Marks
    stored: bool


def row_of(stream: str, recorded: Recorded, kind: str, role: str | None, block: str | None) -> Row:
    return (stream, recorded.seq, recorded.at, kind, recorded.body, role, block, None, None)


def merged_row(run: Run) -> Row:
    kind, last = run.end_kind.replace(".ended", ".delta"), run.marks.seqs[-1]
    packed = run.marks.pack()
    return (run.stream, last, run.at, kind, "", "merged", run.block, run.end_seq, packed)


def forget(connection: Connection, names: Sequence[str]) -> None:
    """All that is known of these streams, for good."""
    named = [{"of_stream": name} for name in names]
    kept = (events, open_starts, origins, views, positions, streams)
    for table in (*kept, parts, said, images) if keeps_parts(connection) else kept:
        connection.execute(delete(table).where(table.c.stream == bindparam("of_stream")), named)


def try_to_write(connection: Connection) -> None:
    """Something that changes a page of the database and nothing else, to see whether it can."""
    connection.exec_driver_sql("UPDATE migrations SET number = number")


def head(connection: Connection, stream: str) -> int:
    wanted = select(streams.c.head).where(streams.c.stream == stream)
    return connection.execute(wanted).scalar() or 0


def view(connection: Connection, stream: str) -> View | None:
    row = view_text(connection, stream)
    return None if row is None else view_of(*row)


def view_text(connection: Connection, stream: str) -> tuple[str, str] | None:
    """Its kind, and what it says."""
    wanted = select(views.c.kind, views.c.body).where(views.c.stream == stream)
    row = connection.execute(wanted).first()
    return None if row is None else (row.kind, row.body)


def page(
    connection: Connection, stream: str, after: int, limit: int, characters: int | None = None
) -> list[Recorded]:
    """Up to `limit` events behind `after`; neighbouring deltas of a finished block are one. No more
    of them than it takes to fill so many characters."""
    wanted = select(events)
    found = filling(said_behind(connection, stream, wanted, after, limit), characters)
    text_of = _texts(
        connection,
        stream,
        {row.end_seq for row in found if not isinstance(row, KeptPart) and row.role == "merged"},
    )

    def told(row: Any) -> Recorded:
        if isinstance(row, KeptPart):
            return row.behind(after)
        if row.role == "merged":
            return rest_of(row, text_of[row.end_seq], after)
        return Recorded(row.seq, row.at, row.body)

    return [told(row) for row in found]


def said_behind(
    connection: Connection,
    stream: str,
    wanted: Select[*tuple[Any, ...]],
    after: int,
    limit: int | None,
    blocks: Collection[str] | None = None,
) -> Iterator[Any]:
    """Such events of a stream behind `after` in their order, and what is kept apart of them: of
    these blocks, or of all."""
    found = _behind(connection, wanted.where(events.c.stream == stream), after, limit)
    if keeps_parts(connection):
        apart = kept_parts(connection, stream, after, limit, blocks)
        found = heapq.merge(found, apart, key=lambda row: row.seq)
    return itertools.islice(found, limit)


def _behind(
    connection: Connection, wanted: Select[*tuple[Any, ...]], after: int, limit: int | None
) -> Iterator[Any]:
    wanted = wanted.order_by(events.c.seq)
    if not keeps_parts(connection):
        with connection.execute(wanted.where(events.c.seq > after).limit(limit)) as said:
            yield from said
        return
    count, left = _FIRST_READ, limit
    while left is None or left > 0:
        count = count if left is None else min(count, left)
        some = connection.execute(wanted.where(events.c.seq > after).limit(count)).all()
        yield from some
        if len(some) < count:
            return
        after, left = some[-1].seq, None if left is None else left - count
        count *= 2


def filling(said: Iterable[Any], characters: int | None) -> list[Any]:
    """The first rows, until they have so many characters: the rest is not even read."""
    found: list[Any] = []
    size = 0
    for row in said:
        found.append(row)
        size += _size(row)
        if characters is not None and size >= characters:
            break
    return found


def _size(row: Any) -> int:
    if isinstance(row, KeptPart):
        return len(row.text)
    return Marks.unpack(row.marks).said if row.role == "merged" else len(row.body)


def _texts(connection: Connection, stream: str, seqs: set[int]) -> dict[int, str]:
    if not seqs:
        return {}
    found = connection.execute(
        select(events.c.seq, events.c.body).where(events.c.stream == stream, events.c.seq.in_(seqs))
    )
    return {row.seq: text_of_end(row.body) for row in found}


def text_of_end(body: str) -> str:
    end = kept_event(body)
    if not isinstance(end, ReasoningEnded | MessageEnded | ToolEnded):
        raise TypeError(f"{end.kind} ends no block")
    return end.text


def rest_of(row: Any, text: str, after: int) -> Recorded:
    """What a reader at `after` lacks: never nothing, since the row has the last delta's seq."""
    marks = Marks.unpack(row.marks)
    said = marks.said_by(after)
    rest = DELTAS[row.kind](block=row.block, offset=said, text=text[said : marks.said])
    return Recorded.of(row.seq, row.at, rest)


def said_once(connection: Connection, stream: str) -> dict[str, Recorded]:
    """What was said in this stream from a known origin."""
    here = (events.c.stream == origins.c.stream) & (events.c.seq == origins.c.seq)
    wanted = select(origins.c.origin, events.c.seq, events.c.at, events.c.body)
    found = connection.execute(wanted.join(events, here).where(origins.c.stream == stream))
    return {row.origin: Recorded(row.seq, row.at, row.body) for row in found}


@dataclass(frozen=True, slots=True)
class OpenBlock:
    """A block that began and never ended, with what is known of its text."""

    start: Event
    block: str
    text: str
    marks: Marks
    seq: int


def open_blocks(connection: Connection, stream: str) -> list[OpenBlock]:
    wanted = select(events.c.seq, events.c.role, events.c.block, events.c.body)
    # Two steps: joined, SQLite would walk through the whole stream.
    known = select(open_starts.c.seq).where(open_starts.c.stream == stream)
    seqs = connection.execute(known).scalars().all()
    if not seqs:
        return []
    here = (events.c.stream == stream, events.c.seq.in_(seqs))
    starts = connection.execute(wanted.where(*here)).all()
    blocks = {row.block for row in starts}
    deltas = connection.execute(
        wanted.where(
            events.c.stream == stream,
            events.c.seq > min(row.seq for row in starts),
            events.c.role == "delta",
            events.c.block.in_(blocks),
        )
    ).all()
    opened: dict[str, tuple[Any, Marks, list[str]]] = {}
    apart: list[KeptPart] = []
    if keeps_parts(connection):
        apart = kept_parts(connection, stream, min(row.seq for row in starts), None, blocks)
    for row in sorted((*starts, *deltas, *apart), key=lambda row: row.seq):
        if isinstance(row, KeptPart):
            if row.block in opened:
                for seq, end in zip(row.marks.seqs, row.marks.ends, strict=True):
                    opened[row.block][1].add(seq, end)
                opened[row.block][2].append(row.text)
        elif row.role == "start":
            opened[row.block] = (row, Marks(), [])
        elif row.block in opened:
            delta = kept_event(row.body)
            if isinstance(delta, BlockDelta):
                opened[row.block][1].add(row.seq, delta.offset + len(delta.text))
                opened[row.block][2].append(delta.text)
    return [
        OpenBlock(kept_event(start.body), block, "".join(pieces), marks, start.seq)
        for block, (start, marks, pieces) in opened.items()
    ]
