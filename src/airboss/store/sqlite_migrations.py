"""The steps by which a SQLite file of any age becomes today's."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from sqlalchemy import Connection, text

from airboss.store.migrations import DATA_FOLDER, Migration, run_migrations
from airboss.store.sqlite_search_index import keep_index, keep_texts
from airboss.store.tables import (
    bindings,
    deliveries,
    disabled_extensions,
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
    streams,
    trust,
    views,
)
from airboss.store.view_rows import columns_of

_AT_ONCE: Final = 500


# As it was then: a step that was released does the same for ever.
_FIRST_VIEWS: Final = (
    """CREATE TABLE views (
    stream VARCHAR(64) NOT NULL PRIMARY KEY, kind VARCHAR(16) NOT NULL,
    state VARCHAR(32) NOT NULL, created_at INTEGER NOT NULL, seq INTEGER NOT NULL,
    body TEXT NOT NULL)""",
    "CREATE INDEX views_by_time ON views (kind, created_at, stream)",
    "CREATE INDEX views_by_state ON views (kind, state)",
)
_FIRST_VIEWS_BY_JOB: Final = (
    "CREATE INDEX IF NOT EXISTS views_by_job ON views "
    "(json_extract(body, '$.job'), state, created_at, stream) WHERE kind = 'run'"
)


def _first_tables(connection: Connection) -> None:
    metadata.create_all(connection, [events, open_starts, positions])
    for statement in _FIRST_VIEWS:
        connection.exec_driver_sql(statement)


def _entries_and_trust(connection: Connection) -> None:
    metadata.create_all(connection, [entries, last_good, trust])


def _origins_and_keys(connection: Connection) -> None:
    metadata.create_all(connection, [origins, run_keys])


def _rules(connection: Connection) -> None:
    metadata.create_all(connection, [rules])


def _deliveries(connection: Connection) -> None:
    metadata.create_all(connection, [deliveries])


def _runs_by_job(connection: Connection) -> None:
    connection.execute(text(_FIRST_VIEWS_BY_JOB))


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


def _disabled_extensions(connection: Connection) -> None:
    metadata.create_all(connection, [disabled_extensions])


_ADDED_TO_VIEWS: Final = {
    "updated_at": "INTEGER",
    "ended_at": "INTEGER",
    "job": "TEXT",
    "model": "TEXT",
    "task": "TEXT",
    "run": "TEXT",
    "own_run": "TEXT",
    "pinned": "INTEGER",
    "for_person": "INTEGER",
    "milliseconds": "INTEGER",
    "requests": "INTEGER",
    "tags": "TEXT",
    "names": "TEXT",
}


def _columns_of_views(connection: Connection) -> None:
    """What lists are narrowed by was looked up in the JSON until then."""
    connection.exec_driver_sql("DROP INDEX IF EXISTS views_by_job")
    there = {row[1] for row in connection.exec_driver_sql("PRAGMA table_info(views)")}
    for name, kind in _ADDED_TO_VIEWS.items():
        if name not in there:
            connection.exec_driver_sql(f"ALTER TABLE views ADD COLUMN {name} {kind}")
    named = ", ".join(f"{name} = ?" for name in _ADDED_TO_VIEWS)
    fill = f"UPDATE views SET {named} WHERE stream = ?"  # noqa: S608 - names of ours
    last: str | None = ""
    while last is not None:
        some = connection.exec_driver_sql(
            "SELECT stream, kind, state, body FROM views WHERE stream > ? ORDER BY stream LIMIT ?",
            (last, _AT_ONCE),
        ).all()
        rows: list[tuple[Any, ...]] = [
            (*columns_of(row.stream, row.kind, row.state, _object(row.body)), row.stream)
            for row in some
        ]
        if rows:
            connection.exec_driver_sql(fill, rows)
        last = some[-1].stream if some else None
    for index in views.indexes:
        if index.name == "views_by_job":
            index.create(connection)


def _object(body: str) -> Mapping[str, Any]:
    try:
        found: object = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


# From one stream to the next by the key, without a look at what was said in them.
_HEADS: Final = """
WITH RECURSIVE named(stream) AS (
    SELECT min(stream) FROM events
    UNION ALL
    SELECT (SELECT min(stream) FROM events WHERE stream > named.stream) FROM named
    WHERE named.stream IS NOT NULL
)
INSERT OR REPLACE INTO streams (stream, owner, epoch, head, bytes)
SELECT stream, 'here', 1, (SELECT max(seq) FROM events WHERE stream = named.stream), 0
FROM named WHERE stream IS NOT NULL
"""


def _streams(connection: Connection) -> None:
    metadata.create_all(connection, [streams])
    connection.exec_driver_sql(_HEADS)


# Append only: a number that was released is never changed.
STEPS: Final[tuple[Callable[[Connection], None], ...]] = (
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
    _disabled_extensions,
    _columns_of_views,
    _streams,
)
# A folder has one server: there is no other that would have to go on with it meanwhile.
_KNOWN: Final = {number: Migration(step, number) for number, step in enumerate(STEPS, start=1)}


def migrate(connection: Connection) -> None:
    columns = connection.exec_driver_sql("PRAGMA table_info(migrations)").all()
    if columns and "works_from" not in {column.name for column in columns}:
        connection.exec_driver_sql("ALTER TABLE migrations ADD COLUMN works_from INTEGER")
    run_migrations(connection, _KNOWN, DATA_FOLDER)
    keep_index(connection)
