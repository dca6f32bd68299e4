"""Both databases that an engine may live in, for tests that hold on each."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeAlias

import psycopg
from dbos import DBOS

from airboss.engine.durable import Engine
from airboss.engine.homes import EngineHome
from airboss.engine.local_file import LocalFile
from airboss.engine.shared_schema import SharedSchema
from tests.postgres import Postgres

MakeEngine: TypeAlias = Callable[[], Engine]


def migrated_engine(postgres: Postgres) -> str:
    """The name of a database that has DBOS's tables and nothing in them."""
    return postgres.new_database(postgres.template("engine", DBOS.migrate))


def rows_of(home: EngineHome, asked: str) -> list[Any]:
    if isinstance(home, LocalFile):
        with closing(sqlite3.connect(home.path)) as file, file:
            return file.execute(asked).fetchall()
    assert isinstance(home, SharedSchema)
    with psycopg.connect(home.url, options="-c search_path=dbos") as connection:
        cursor = connection.execute(asked.encode())
        return cursor.fetchall() if cursor.description else []


def execute_in(home: EngineHome, statement: str) -> None:
    rows_of(home, statement)
