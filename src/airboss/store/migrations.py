"""How a database of any age becomes today's: a numbered list, each step run once, in order."""

from collections.abc import Callable

from sqlalchemy import Connection, text

from airboss.errors import StoreUnavailable
from airboss.store.search_index import keep_index, keep_texts
from airboss.store.tables import (
    VIEWS_BY_JOB,
    bindings,
    deliveries,
    entries,
    events,
    last_good,
    metadata,
    open_starts,
    origins,
    positions,
    rules,
    run_keys,
    said,
    settings,
    sign_ins,
    trust,
    views,
)

Migration = Callable[[Connection], None]


def _first_tables(connection: Connection) -> None:
    metadata.create_all(connection, [events, open_starts, views, positions])


def _entries_and_trust(connection: Connection) -> None:
    metadata.create_all(connection, [entries, last_good, trust])


def _origins_and_keys(connection: Connection) -> None:
    metadata.create_all(connection, [origins, run_keys])


def _rules(connection: Connection) -> None:
    metadata.create_all(connection, [rules])


def _deliveries(connection: Connection) -> None:
    metadata.create_all(connection, [deliveries])


def _runs_by_job(connection: Connection) -> None:
    connection.execute(text(VIEWS_BY_JOB))


def _texts_to_be_looked_for(connection: Connection) -> None:
    metadata.create_all(connection, [said])
    keep_texts(connection)


def _sign_ins(connection: Connection) -> None:
    metadata.create_all(connection, [sign_ins])


# Sessions of tasks from before they had a field for it: only the name of who opened one says whose
# it is. People's names have no spaces.
_NAMED_BY_TASK = """
kind = 'session' AND json_extract(body, '$.task') IS NULL
AND json_extract(body, '$.who') GLOB 'task tsk_*'
"""
_WITH_TASK = "json_set(body, '$.task', substr(json_extract(body, '$.who'), length('task ') + 1))"


def _owners_of_sessions(connection: Connection) -> None:
    """In the view and in the first event, so that both still say the same."""
    named = f"SELECT stream FROM views WHERE {_NAMED_BY_TASK}"  # noqa: S608 - all of it is ours
    connection.execute(
        text(f"UPDATE events SET body = {_WITH_TASK} WHERE seq = 1 AND stream IN ({named})")  # noqa: S608
    )
    connection.execute(text(f"UPDATE views SET body = {_WITH_TASK} WHERE {_NAMED_BY_TASK}"))  # noqa: S608


def _settings(connection: Connection) -> None:
    metadata.create_all(connection, [settings])


def _bindings(connection: Connection) -> None:
    metadata.create_all(connection, [bindings])


# Append only: a number that was released is never changed.
MIGRATIONS: tuple[Migration, ...] = (
    _first_tables,
    _entries_and_trust,
    _origins_and_keys,
    _rules,
    _deliveries,
    _runs_by_job,
    _texts_to_be_looked_for,
    _sign_ins,
    _owners_of_sessions,
    _settings,
    _bindings,
)


def migrate(connection: Connection) -> None:
    """Bring the database up to date, or refuse one that a newer Airboss has written."""
    connection.execute(text("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)"))
    done = connection.execute(text("SELECT COALESCE(MAX(number), 0) FROM migrations")).scalar_one()
    if done > len(MIGRATIONS):
        raise StoreUnavailable(
            f"This data folder was written by a newer Airboss (schema {done}, this one knows "
            f"{len(MIGRATIONS)}). Install that version again, or choose another folder with --data."
        )
    for number, step in enumerate(MIGRATIONS[done:], start=done + 1):
        step(connection)
        connection.execute(text("INSERT INTO migrations (number) VALUES (:n)"), {"n": number})
    keep_index(connection)
