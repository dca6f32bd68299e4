"""Fills an empty PostgreSQL, all in one transaction: cut off at any moment, it is as empty as
before."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql

from airboss.errors import StoreUnavailable
from airboss.store.postgres_connection import connect
from airboss.store.view_rows import stored

_PATIENT: Final = """
SET statement_timeout = 0; SET lock_timeout = 2000; SET idle_in_transaction_session_timeout = 0
"""
_TABLES: Final = """
SELECT relname::text FROM pg_class
WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r' ORDER BY relname
"""
_COLUMNS: Final = """
SELECT attname::text, pg_get_serial_sequence(attrelid::regclass::text, attname)
FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_EVERY: Final = 5_000

# How many rows of this table are there by now.
Progress = Callable[[str, int], None]


class ImportTarget:
    """An open transaction on tables that nobody else can look into."""

    def __init__(self, connection: "psycopg.Connection[Any]", progress: Progress) -> None:
        self._connection = connection
        self._progress = progress
        self.counts: dict[str, int] = {}

    def take(self, schemas: Mapping[str, Sequence[str]]) -> None:
        """Refuses a database in which anything is, but for these tables of each schema."""
        found = [
            (name, table)
            for name, spared in schemas.items()
            for table in self._tables(name)
            if table not in spared
        ]
        full: list[str] = []
        for name, table in found:
            named = sql.Identifier(name, table)
            lock = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(named)
            self._connection.execute(lock)
            asked = sql.SQL("SELECT EXISTS (SELECT 1 FROM {})").format(named)
            if self._one(asked)[0]:
                full.append(f"{name}.{table}")
        if full:
            some = ", ".join(full[:4]) + (", …" if len(full) > 4 else "")
            raise StoreUnavailable(
                f"The database is not empty: there is something in {some}. Import into a new "
                "database, or into this one after: DROP SCHEMA airboss, dbos CASCADE"
            )

    def _tables(self, schema: str) -> list[str]:
        return [table for (table,) in self._connection.execute(_TABLES, (schema,))]

    def columns(self, schema: str, table: str) -> list[str]:
        """None where there is no such table."""
        if table not in self._tables(schema):
            return []
        return [name for name, _ in self._connection.execute(_COLUMNS, (f"{schema}.{table}",))]

    def fill(
        self, schema: str, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Behind what was filled before."""
        named = sql.Identifier(schema, table)
        into = sql.SQL("COPY {} ({}) FROM STDIN").format(
            named, sql.SQL(", ").join(map(sql.Identifier, columns))
        )
        done = 0
        try:
            with self._connection.cursor() as cursor, cursor.copy(into) as copy:
                for row in rows:
                    copy.write_row([stored(one) if isinstance(one, str) else one for one in row])
                    done += 1
                    if done % _EVERY == 0:
                        self._progress(table, done)
        except psycopg.DataError as error:
            said = error.diag.message_primary or "it is not valid"
            raise StoreUnavailable(
                f"The table {table} has a value that PostgreSQL does not take: {said} "
                f"({error.diag.context or 'place unknown'}). Nothing was imported."
            ) from error
        self._progress(table, done)
        key = f"{schema}.{table}"
        self.counts[key] = self.counts.get(key, 0) + done
        self._go_on_behind(schema, table)

    def _go_on_behind(self, schema: str, table: str) -> None:
        """What is numbered by itself goes on behind the last number."""
        for column, sequence in self._connection.execute(_COLUMNS, (f"{schema}.{table}",)):
            if sequence:
                asked = sql.SQL("SELECT setval({}, max({})) FROM {}").format(
                    sql.Literal(sequence), sql.Identifier(column), sql.Identifier(schema, table)
                )
                self._connection.execute(asked)

    def verify(self) -> None:
        """As many rows are there as were sent."""
        for key, sent in self.counts.items():
            asked = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*key.split(".", 1)))
            there = self._one(asked)[0]
            if there != sent:
                raise StoreUnavailable(
                    f"{sent} rows of {key} were sent, and {there} are there. Nothing was imported."
                )

    def weigh(self) -> None:
        """Streams of early versions do not know how much they are."""
        self._connection.execute(
            "UPDATE streams SET bytes = said.bytes FROM "
            "(SELECT stream, sum(length(body)) AS bytes FROM events GROUP BY stream) AS said "
            "WHERE said.stream = streams.stream AND streams.bytes = 0"
        )

    def heads(self) -> Mapping[str, int]:
        return dict(self._connection.execute("SELECT stream, head FROM streams").fetchall())

    def furthest(self) -> Mapping[str, int]:
        """Of each stream the last number that something has."""
        asked = (
            "SELECT stream, max(seq) FROM (SELECT stream, seq FROM events "
            "UNION ALL SELECT stream, seq FROM parts) AS said GROUP BY stream"
        )
        return dict(self._connection.execute(asked).fetchall())

    def _one(self, asked: sql.Composed) -> tuple[Any, ...]:
        row = self._connection.execute(asked).fetchone()
        if row is None:
            raise RuntimeError("This is always answered with a row.")
        return row


@contextmanager
def importing(url: str, progress: Progress) -> Generator[ImportTarget]:
    """All that is filled is there at the end, or nothing of it."""
    try:
        with connect(url, autocommit=True) as connection:
            connection.execute(_PATIENT)
            with connection.transaction():
                yield ImportTarget(connection, progress)
            connection.execute("ANALYZE")
    except psycopg.errors.LockNotAvailable as error:
        raise StoreUnavailable(
            "Somebody works on this database. Stop all servers and workers on it, then try again."
        ) from error
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        raise StoreUnavailable(f"Nothing was imported: {said}. Try again.") from error
