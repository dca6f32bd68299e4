"""What PostgreSQL says in its own way."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString, cast

import psycopg
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Table,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import insert

from airboss.model.runs import OPEN_RUNS, LoneRunView, RunView
from airboss.store.dialect import Append, Dialect, Fenced, Growth, NewsRows, note_proven
from airboss.store.machine_tables import parts
from airboss.store.postgres_arrays import array_of, arrays_of
from airboss.store.postgres_connection import state_of
from airboss.store.postgres_news import news_rows
from airboss.store.postgres_search import look_for
from airboss.store.said_texts import said_rows
from airboss.store.search import LookIn, SearchHit
from airboss.store.tables import escaped, events, open_starts, origins, streams, views
from airboss.store.view_rows import ViewRow, stored

# What `append_fence` raises: this worker counts as lost; a stream is another's, or was written.
_LOST: Final = "AB001"
FENCES: Final = (_LOST, "AB002")


def driver_of(connection: Connection) -> "psycopg.Connection[Any]":
    """For what is said in one go, without an answer to each statement."""
    return cast("psycopg.Connection[Any]", connection.connection.dbapi_connection)


def _kind(column: Any) -> str:
    for kind, name in ((BigInteger, "bigint"), (Integer, "integer"), (LargeBinary, "bytea")):
        if isinstance(column.type, kind):
            return name
    return "text"


def _many(table: Table) -> str:
    """Rows given as one list for each column: one statement, however many there are."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    lists = ", ".join(f"%s::{_kind(column)}[]" for column in table.columns)
    return f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({lists})"  # noqa: S608


_NEW_STREAMS: Final = """
INSERT INTO streams (stream, owner, epoch, head, bytes)
SELECT named, %s, 1, 0, 0 FROM unnest(%s::text[]) AS named ON CONFLICT DO NOTHING
"""
_FENCE: Final = """
SELECT append_fence(%s, %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
"""
_SPANS: Final = """
DELETE FROM parts USING unnest(%s::text[], %s::bigint[], %s::bigint[]) AS span(stream, first, last)
WHERE parts.stream = span.stream AND parts.seq BETWEEN span.first AND span.last
"""
_CLOSED: Final = """
DELETE FROM open_starts USING unnest(%s::text[], %s::bigint[]) AS start(stream, seq)
WHERE open_starts.stream = start.stream AND open_starts.seq = start.seq
"""
_SAID: Final = """
INSERT INTO said (stream, seq, at, kind, text, words)
SELECT stream, seq, at, kind, said, array_to_tsvector(string_to_array(found, ' '))
FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[])
  AS new(stream, seq, at, kind, said, found)
"""
_NO_WORK: Final = "DELETE FROM work WHERE run = ANY(%s::text[])"
_NEVER_CHANGED: Final = ("stream", "kind", "created_at")
_CHANGED: Final = ", ".join(
    f'"{column.name}" = excluded."{column.name}"'
    for column in views.columns
    if column.name not in _NEVER_CHANGED
)
_VIEWS: Final = f"{_many(views)} ON CONFLICT (stream) DO UPDATE SET {_CHANGED}"
_EVENTS, _PARTS = _many(events), _many(parts)
_STARTS, _ORIGINS = _many(open_starts), _many(origins)


class PostgresDialect(Dialect):
    """Many machines."""

    name = "postgresql"
    keeps_parts = True
    has_places = True

    def _insert(self, table: Table) -> Any:
        return insert(table)

    def holds(self, text: ColumnElement[str], part: str) -> ColumnElement[bool]:
        return func.strpos(text, part) > 0

    def append(self, connection: Connection, batch: Append) -> None:
        """In one round trip: the fence raises, and all behind it is skipped by the server."""
        grown = batch.growths
        new = [one.stream for one in grown if one.epoch is None]
        works: list[tuple[str, Sequence[tuple[Any, ...]]]] = [
            (_SPANS, batch.replaced),
            (_EVENTS, [(*row[:6], row[6] and escaped(row[6]), *row[7:]) for row in batch.rows]),
            (_PARTS, [(*row[:5], escaped(row[5]), *row[6:]) for row in batch.parts]),
            (_STARTS, batch.opened),
            (_CLOSED, batch.closed),
            (_ORIGINS, batch.origins),
            (_VIEWS, [_without_nul(row) for row in batch.views]),
            (_SAID, list(said_rows(batch.rows))),
        ]
        fence = arrays_of([_proof(one) for one in grown])
        driver = driver_of(connection)
        try:
            with driver.pipeline():
                if new:
                    driver.execute(_NEW_STREAMS, (batch.worker, array_of(new)))
                driver.execute(_FENCE, (batch.worker, *fence))
                for statement, given in works:
                    if given:
                        driver.execute(cast("LiteralString", statement), arrays_of(given))
                if over := [row[0] for row in batch.views if _is_over_run(row)]:
                    driver.execute(_NO_WORK, (array_of(over),))
        except psycopg.Error as error:
            if state_of(error) in FENCES:
                said = error.diag.message_primary or "not the owner"
                raise Fenced(said, is_own_end=state_of(error) == _LOST) from error
            raise
        note_proven(connection)  # by its fence

    def news(self, connection: Connection, places: Mapping[str, int], most: int) -> NewsRows:
        return news_rows(driver_of(connection), places, most)

    def used_bytes(self, connection: Connection) -> int:
        """Of all that was written in streams that are there."""
        found = connection.execute(select(func.coalesce(func.sum(streams.c.bytes), 0)))
        return int(found.scalar_one())

    def look_for(
        self, connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
    ) -> tuple[list[SearchHit], int | None]:
        return look_for(connection, words, before, limit, where)


def _proof(one: Growth) -> tuple[Any, ...]:
    """What a stream has to look like, and what it becomes."""
    epoch = 1 if one.epoch is None else one.epoch
    return (one.stream, epoch, one.committed, one.last, one.bytes)


def _is_over_run(row: ViewRow) -> bool:
    """Nobody works on it any more, from this transaction on."""
    _, kind, state, *_ = row
    return kind in (RunView.stream_kind, LoneRunView.stream_kind) and state not in OPEN_RUNS


def _without_nul(row: ViewRow) -> ViewRow:
    """The view itself is JSON, which has such a character in other words."""
    return tuple(stored(value) if isinstance(value, str) else value for value in row)
