"""Whether a pooler stands between Airboss and its PostgreSQL, and which kind.

A transaction pooler lends a connection for one transaction at a time: what is set on it, and what
is listened to, is somebody else's a moment later.
"""

from typing import Any, Final, Literal

import psycopg

from airboss.errors import StoreUnavailable
from airboss.store.postgres_connection import SCHEMA, connect

# `whole`: something passes whole sessions on. `unfit`: it lends connections for a moment, or drops
# what Airboss sets on them.
Pooler = Literal["none", "whole", "unfit"]

_PID: Final = "SELECT pg_backend_pid()"
_PATH: Final = "SELECT current_setting('search_path')"
# What a pooler says to a connection that is to keep its own settings.
_REFUSAL: Final = "unsupported startup parameter"
REFUSED: Final = (
    "A pooler stands between Airboss and the database, and lends connections for a transaction or "
    "drops their settings. Give Airboss the address of PostgreSQL itself."
)


def is_poolers_refusal(error: BaseException) -> bool:
    return _REFUSAL in str(error)


def pooler_behind(connection: "psycopg.Connection[Any]", url: str) -> Pooler:
    """Asked on a connection without a transaction. A pooler makes up the number by which a call can
    be cancelled; PostgreSQL's is that of its own process."""
    mine = _pid(connection)
    if mine == connection.info.backend_pid:
        return "none"
    if connection.execute(_PATH).fetchone() != (SCHEMA,):
        return "unfit"
    try:
        with connect(url, autocommit=True) as other, other.transaction():
            # While that one holds a connection, this one has its own only if it is lent for good.
            is_lent = _pid(other) == mine or _pid(connection) != mine
    except psycopg.Error:
        is_lent = True  # a pooler that refuses transactions, or that has one connection for all
    return "unfit" if is_lent else "whole"


def refuse_pooler(connection: "psycopg.Connection[Any]", url: str) -> None:
    if pooler_behind(connection, url) == "unfit":
        raise StoreUnavailable(REFUSED)


def _pid(connection: "psycopg.Connection[Any]") -> int:
    row = connection.execute(_PID).fetchone()
    return int(row[0]) if row else 0
