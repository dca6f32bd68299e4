"""The steps by which a PostgreSQL of any age becomes today's, one server at a time."""

from typing import Final

from sqlalchemy import Connection

from airboss.store.machine_tables import PLACED, machine_metadata, slots
from airboss.store.migrations import DATABASE, Migration, run_migrations
from airboss.store.postgres_connection import SCHEMA
from airboss.store.tables import metadata

MIGRATING_SECONDS: Final = 3600.0
# Nobody else's lock has this number by accident.
_LOCK: Final = 0x61697262
_FENCE: Final = """
CREATE FUNCTION append_fence(
  me text, named text[], epochs bigint[], befores bigint[], lasts bigint[], sizes bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  grown integer;
BEGIN
  -- Beats pass this lock; who gives the worker up for lost waits for it.
  PERFORM 1 FROM workers WHERE id = me AND state IN ('alive', 'draining') FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the worker %% counts as lost', me USING ERRCODE = 'AB001';
  END IF;
  UPDATE streams SET head = new.last, bytes = streams.bytes + new.size
  FROM unnest(named, epochs, befores, lasts, sizes) AS new(stream, epoch, before, last, size)
  WHERE streams.stream = new.stream AND streams.head = new.before
    AND (new.epoch = 0 OR (streams.owner = me AND streams.epoch = new.epoch));
  GET DIAGNOSTICS grown = ROW_COUNT;
  IF grown <> cardinality(named) THEN
    RAISE EXCEPTION 'one of %% has another owner, or another head', named USING ERRCODE = 'AB002';
  END IF;
END $$
"""


# What the tables do not say themselves: a word of PostgreSQL's own there would load all that is
# known of it into servers that have a file.
_OWN_WORDS: Final = (
    "ALTER TABLE said ADD COLUMN words tsvector",
    "CREATE INDEX said_by_words ON said USING gin (words)",
    # Each flush, and each beat, changes its row: with room beside it no index is touched.
    "ALTER TABLE streams SET (fillfactor = 70)",
    "ALTER TABLE workers SET (fillfactor = 50)",
    # A place has one living worker.
    "CREATE UNIQUE INDEX workers_by_place ON workers (place) WHERE state IN ('alive', 'draining')",
    "DROP INDEX views_by_job",
    "CREATE INDEX views_by_job ON views (job, state, created_at, stream) WHERE job IS NOT NULL",
    _FENCE,
)


def _first_tables(connection: Connection) -> None:
    common = [table for table in metadata.sorted_tables if table.name not in PLACED]
    metadata.create_all(connection, common)
    machine_metadata.create_all(connection)
    for statement in _OWN_WORDS:
        connection.exec_driver_sql(statement)


def _leases(connection: Connection) -> None:
    connection.exec_driver_sql(
        "ALTER TABLE workers ADD COLUMN IF NOT EXISTS lease_ms bigint NOT NULL DEFAULT 0"
    )


def _slots(connection: Connection) -> None:
    machine_metadata.create_all(connection, [slots])


# The first number is that of SQLite's step with the same tables. Append only; the newest first.
_KNOWN: Final = {
    16: Migration(_slots, 14),
    15: Migration(_leases, 14),
    14: Migration(_first_tables, 14),
}


def latest_schema() -> int:
    """The number of the last step that this Airboss knows."""
    return max(_KNOWN)


def migrate(connection: Connection) -> None:
    for setting in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        connection.exec_driver_sql(f"SET LOCAL {setting} = 0")
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    there = connection.exec_driver_sql("SELECT to_regnamespace(%s) IS NOT NULL", (SCHEMA,))
    if not there.scalar_one():
        connection.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
    run_migrations(connection, _KNOWN, DATABASE)
