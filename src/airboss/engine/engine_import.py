"""Brings the engine's file into a database that several machines share: open runs keep their ids,
so that what is finished is not done again."""

from pathlib import Path
from typing import Final

from airboss.engine.dbos_internals import OWN_TABLES, let_go_of_open, workflow_tables
from airboss.engine.local_file import LocalFile
from airboss.engine.shared_schema import SCHEMA
from airboss.errors import StoreUnavailable
from airboss.store.postgres_import import ImportTarget
from airboss.store.sqlite_source import SqliteSource

# Of its schema, what may be there before.
SPARED: Final = OWN_TABLES


def import_engine(path: Path, target: ImportTarget) -> None:
    """Of a copy: it is brought up to date first."""
    if not path.exists():
        return
    file = LocalFile(path)
    file.prepare()
    file.asked(let_go_of_open, None)
    with SqliteSource.opened(path) as source:
        for table in workflow_tables(source.tables()):
            columns = source.columns(table)
            missing = set(columns) - set(target.columns(SCHEMA, table))
            if missing and source.count(table):
                raise StoreUnavailable(
                    f"The engine's table {table} has no place for {', '.join(sorted(missing))} in "
                    "PostgreSQL. This is a bug in Airboss. Please report it."
                )
            if not missing:
                target.fill(SCHEMA, table, columns, source.rows(table, columns))
