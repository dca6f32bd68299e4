"""The log's SQL: a batch of streams goes in, a page of one stream comes out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Delete, Insert, bindparam, delete, func, insert, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import insert as upsert

from airboss.log.marks import Marks
from airboss.model.events import (
    EVENT,
    BlockDelta,
    Event,
    MessageDelta,
    MessageEnded,
    ReasoningDelta,
    ReasoningEnded,
    Recorded,
    ToolDelta,
    ToolEnded,
)
from airboss.model.views import VIEWS, View
from airboss.store.database import driver_of
from airboss.store.tables import events, open_starts, origins, positions, views

# The columns of `events`, in their order.
Row = tuple[str, int, int, str, str, str | None, str | None, int | None, bytes | None]

_DELTAS: Mapping[str, type[MessageDelta | ReasoningDelta | ToolDelta]] = {
    "reasoning.delta": ReasoningDelta,
    "message.delta": MessageDelta,
    "tool.delta": ToolDelta,
}


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


# The start of a block: its stream and seq.
Start = tuple[str, int]
# Where an event comes from: its stream, the origin, its seq.
Origin = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """All that is written in one transaction."""

    rows: Sequence[Row]
    runs: Sequence[Run] = ()
    opened: Sequence[Start] = ()
    closed: Sequence[Start] = ()
    views: Sequence[View] = ()
    origins: Sequence[Origin] = ()
    # The first new seq of each stream: nobody else may have written this or a later one.
    firsts: Sequence[Start] = ()


class Overtaken(Exception):
    """Somebody else has written in a stream that this server took for its own."""


def row_of(stream: str, recorded: Recorded, kind: str, role: str | None, block: str | None) -> Row:
    return (stream, recorded.seq, recorded.at, kind, recorded.body, role, block, None, None)


def _merged_row(run: Run) -> Row:
    kind, last = run.end_kind.replace(".ended", ".delta"), run.marks.seqs[-1]
    packed = run.marks.pack()
    return (run.stream, last, run.at, kind, "", "merged", run.block, run.end_seq, packed)


def _compiled(statement: Insert | Delete) -> str:
    """Once, and given tuples: with a dictionary for each row a batch costs three times as much."""
    return str(statement.compile(dialect=sqlite.dialect(paramstyle="qmark")))


_INSERT_EVENTS = _compiled(insert(events))
_INSERT_STARTS = _compiled(insert(open_starts))
_INSERT_ORIGINS = _compiled(insert(origins))
_FORGET_DELTAS = _compiled(
    delete(events).where(
        events.c.stream == bindparam("of_stream"),
        events.c.seq.between(bindparam("first"), bindparam("last")),
    )
)
_FORGET_START = _compiled(
    delete(open_starts).where(
        open_starts.c.stream == bindparam("of_stream"), open_starts.c.seq == bindparam("of_seq")
    )
)
_ADD_VIEW = upsert(views)
_WRITE_VIEW = _compiled(
    _ADD_VIEW.on_conflict_do_update(
        index_elements=["stream"],
        set_={name: _ADD_VIEW.excluded[name] for name in ("state", "seq", "body")},
    )
)


_LATER = "SELECT seq FROM events WHERE stream = ? AND seq >= ? LIMIT 1"


def write(connection: Connection, batch: Batch) -> None:
    """An origin that has said something is refused by the table's key."""
    driver = driver_of(connection)
    for stream, seq in batch.firsts:
        if found := driver.execute(_LATER, (stream, seq)).fetchone():
            raise Overtaken(f"{stream} has an event {found[0]} already")
    # A run has no seq of anybody else between its first and its last.
    stored = [
        (run.stream, run.marks.seqs[0], run.marks.seqs[-1]) for run in batch.runs if run.stored
    ]
    works: list[tuple[str, Sequence[tuple[Any, ...]]]] = [
        (_FORGET_DELTAS, stored),
        (_INSERT_EVENTS, [*batch.rows, *(_merged_row(run) for run in batch.runs)]),
        (_INSERT_STARTS, batch.opened),
        (_FORGET_START, batch.closed),
        (_INSERT_ORIGINS, batch.origins),
        (_WRITE_VIEW, [_view_row(view) for view in batch.views]),
    ]
    for statement, given in works:
        if given:
            driver.executemany(statement, given)


def _view_row(view: View) -> tuple[str, str, str, int, int, str]:
    """The columns of `views`, in their order."""
    body = view.model_dump_json()
    return (view.id, view.stream_kind, view.state, view.created_at, view.seq, body)


def forget(connection: Connection, streams: Sequence[str]) -> None:
    """All that is known of these streams, for good."""
    named = [{"of_stream": stream} for stream in streams]
    for table in (events, open_starts, origins, views, positions):
        connection.execute(delete(table).where(table.c.stream == bindparam("of_stream")), named)


def try_to_write(connection: Connection) -> None:
    """Something that changes a page of the database and nothing else, to see whether it can."""
    connection.exec_driver_sql("UPDATE migrations SET number = number")


def head(connection: Connection, stream: str) -> int:
    found = connection.execute(select(func.max(events.c.seq)).where(events.c.stream == stream))
    return found.scalar_one() or 0


def view(connection: Connection, stream: str) -> View | None:
    wanted = select(views.c.kind, views.c.body).where(views.c.stream == stream)
    row = connection.execute(wanted).first()
    return None if row is None else VIEWS[row.kind].model_validate_json(row.body)


def page(
    connection: Connection, stream: str, after: int, limit: int, characters: int | None = None
) -> list[Recorded]:
    """Up to `limit` events behind `after`; neighbouring deltas of a finished block are one. No more
    of them than it takes to fill so many characters."""
    wanted = (
        select(events)
        .where(events.c.stream == stream, events.c.seq > after)
        .order_by(events.c.seq)
        .limit(limit)
    )
    with connection.execute(wanted) as said:
        found = filling(said, characters)
    text_of = _texts(connection, stream, {row.end_seq for row in found if row.role == "merged"})
    return [
        _rest_of(row, text_of[row.end_seq], after)
        if row.role == "merged"
        else Recorded(row.seq, row.at, row.body)
        for row in found
    ]


def filling(said: Iterable[Any], characters: int | None) -> list[Any]:
    """The first rows, until they have so many characters: the rest is not even read."""
    found: list[Any] = []
    size = 0
    for row in said:
        found.append(row)
        size += Marks.unpack(row.marks).said if row.role == "merged" else len(row.body)
        if characters is not None and size >= characters:
            break
    return found


def _texts(connection: Connection, stream: str, seqs: set[int]) -> dict[int, str]:
    if not seqs:
        return {}
    found = connection.execute(
        select(events.c.seq, events.c.body).where(events.c.stream == stream, events.c.seq.in_(seqs))
    )
    return {row.seq: _text(EVENT.validate_json(row.body)) for row in found}


def _text(end: Event) -> str:
    if not isinstance(end, ReasoningEnded | MessageEnded | ToolEnded):
        raise TypeError(f"{end.kind} ends no block")
    return end.text


def _rest_of(row: Any, text: str, after: int) -> Recorded:
    """What a reader at `after` lacks: never nothing, since the row has the last delta's seq."""
    marks = Marks.unpack(row.marks)
    said = marks.said_by(after)
    rest = _DELTAS[row.kind](block=row.block, offset=said, text=text[said : marks.said])
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
    deltas = connection.execute(
        wanted.where(
            events.c.stream == stream,
            events.c.seq > min(row.seq for row in starts),
            events.c.role == "delta",
            events.c.block.in_({row.block for row in starts}),
        )
    ).all()
    opened: dict[str, tuple[Any, Marks, list[str]]] = {}
    for row in sorted((*starts, *deltas), key=lambda row: row.seq):
        if row.role == "start":
            opened[row.block] = (row, Marks(), [])
        elif row.block in opened:
            delta = EVENT.validate_json(row.body)
            if isinstance(delta, BlockDelta):
                opened[row.block][1].add(row.seq, delta.offset + len(delta.text))
                opened[row.block][2].append(delta.text)
    return [
        OpenBlock(EVENT.validate_json(start.body), block, "".join(pieces), marks, start.seq)
        for block, (start, marks, pieces) in opened.items()
    ]
