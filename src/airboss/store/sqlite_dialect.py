"""What SQLite says in its own way."""

import sqlite3
from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Delete, Insert, Table, bindparam, delete, func
from sqlalchemy import insert as plain_insert
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import insert

from airboss.store.dialect import Append, Dialect, Fenced
from airboss.store.search import LookIn, SearchHit
from airboss.store.sqlite_search import look_for
from airboss.store.tables import events, open_starts, origins, streams, views


def driver_of(connection: Connection) -> sqlite3.Connection:
    """For what is said so often that SQLAlchemy's part of it counts: five times SQLite's own."""
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)


def _compiled(statement: Insert | Delete) -> str:
    """Once, and given tuples: with a dictionary for each row a batch costs three times as much."""
    return str(statement.compile(dialect=sqlite.dialect(paramstyle="qmark")))


_INSERT_EVENTS = _compiled(plain_insert(events))
_INSERT_STARTS = _compiled(plain_insert(open_starts))
_INSERT_ORIGINS = _compiled(plain_insert(origins))
_FORGET_ROWS = _compiled(
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
_ADD_VIEW = insert(views)
_NEVER_CHANGED = ("stream", "kind", "created_at")
_WRITE_VIEW = _compiled(
    _ADD_VIEW.on_conflict_do_update(
        index_elements=["stream"],
        set_={
            column.name: _ADD_VIEW.excluded[column.name]
            for column in views.columns
            if column.name not in _NEVER_CHANGED
        },
    )
)
# A stream that has come as far already is not changed, and so counted as none.
_ADD_STREAM = insert(streams)
_GROW = _compiled(
    _ADD_STREAM.on_conflict_do_update(
        index_elements=["stream"],
        set_={
            "head": _ADD_STREAM.excluded.head,
            "bytes": streams.c.bytes + _ADD_STREAM.excluded.bytes,
        },
        where=streams.c.head < bindparam("first"),
    )
)


class SqliteDialect(Dialect):
    """One server, on this machine."""

    name = "sqlite"
    keeps_parts = False
    has_places = False

    def _insert(self, table: Table) -> Any:
        return insert(table)

    def holds(self, text: ColumnElement[str], part: str) -> ColumnElement[bool]:
        return func.instr(text, part) > 0

    def append(self, connection: Connection, batch: Append) -> None:
        driver = driver_of(connection)
        for one in batch.growths:
            row = (one.stream, batch.worker, one.epoch or 1, one.last, one.bytes, one.first)
            if driver.execute(_GROW, row).rowcount != 1:
                raise Fenced(f"{one.stream} has an event {one.first}, or a later one, already")
        works: list[tuple[str, Sequence[tuple[Any, ...]]]] = [
            (_FORGET_ROWS, batch.replaced),
            (_INSERT_EVENTS, batch.rows),
            (_INSERT_STARTS, batch.opened),
            (_FORGET_START, batch.closed),
            (_INSERT_ORIGINS, batch.origins),
            (_WRITE_VIEW, batch.views),
        ]
        for statement, given in works:
            if given:
                driver.executemany(statement, given)

    def used_bytes(self, connection: Connection) -> int:
        def asked(name: str) -> int:
            return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()

        return (asked("page_count") - asked("freelist_count")) * asked("page_size")

    def look_for(
        self, connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
    ) -> tuple[list[SearchHit], int | None]:
        return look_for(connection, words, before, limit, where)
