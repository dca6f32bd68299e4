"""What a PostgreSQL is like, asked before anybody relies on it. It judges nothing and changes
nothing."""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, LiteralString

import psycopg

from airboss.errors import StoreUnavailable
from airboss.machine_settings import password_in
from airboss.store.migrations import SchemaState
from airboss.store.postgres_connection import SCHEMA, connect, is_refused, sentence
from airboss.store.postgres_migrations import latest_schema
from airboss.store.postgres_poolers import REFUSED, Pooler, is_poolers_refusal, pooler_behind

ENGINE_SCHEMA: Final = "dbos"
# So many one server or worker has: one that writes, four that read, one for beats, one for notices,
# five of the engine, and one on which that is asked for strays.
CONNECTIONS: Final = 13
_ROUND_TRIPS: Final = 7

_SERVER: Final = """
SELECT current_setting('server_version_num')::int, current_setting('server_version'),
    current_setting('server_encoding'), pg_is_in_recovery(),
    current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
"""
_ROLE: Final = """
SELECT current_user::text, current_database()::text, rolsuper, rolconnlimit,
    has_database_privilege(current_database(), 'CREATE')
FROM pg_roles WHERE rolname = current_user
"""
_USED: Final = """
SELECT count(*), count(*) FILTER (WHERE usename = current_user),
    count(*) FILTER (WHERE datname = current_database()),
    (SELECT datconnlimit FROM pg_database WHERE datname = current_database())
FROM pg_stat_activity WHERE backend_type = 'client backend'
"""
_UNSAFE: Final = """
SELECT name, setting FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name
"""
# Whose the tables are decides who may change them; rights to read and write may be granted.
_SCHEMAS: Final = """
SELECT space.nspname::text,
    has_schema_privilege(space.oid, 'USAGE') AND has_schema_privilege(space.oid, 'CREATE'),
    coalesce(bool_and(
        has_table_privilege(made.oid, 'SELECT') AND has_table_privilege(made.oid, 'INSERT')
        AND has_table_privilege(made.oid, 'UPDATE') AND has_table_privilege(made.oid, 'DELETE')
    ), true),
    coalesce(bool_and(pg_has_role(made.relowner, 'USAGE')), true),
    count(made.oid)
FROM pg_namespace AS space
LEFT JOIN pg_class AS made ON made.relnamespace = space.oid AND made.relkind IN ('r', 'p')
WHERE space.nspname = ANY(%s) GROUP BY space.oid, space.nspname
"""
_NOW: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"


@dataclass(frozen=True)
class SchemaRights:
    """What this role may do in a schema that is there."""

    may_create: bool
    may_write: bool
    owns_all: bool
    tables: int


@dataclass(frozen=True)
class DatabaseFacts:
    """Of one database, as one role sees it at one moment."""

    version: int
    version_name: str
    encoding: str
    is_standby: bool
    database: str
    role: str
    is_superuser: bool
    may_create_schemas: bool
    schemas: Mapping[str, SchemaRights]
    # None where this role may not look.
    schema: SchemaState | None
    pooler: Pooler
    is_local: bool
    is_encrypted: bool
    sslmode: str
    # Settings that are off and should not be.
    unsafe: Sequence[str]
    connections_free: int
    round_trip_ms: float
    # How far the database's clock is ahead of this machine's.
    ahead_ms: int


def facts_of(url: str) -> DatabaseFacts:
    """Raises `StoreUnavailable`, in words without the password, where it cannot be asked."""
    try:
        with connect(url, autocommit=True) as connection:
            return _facts(connection, url)
    except psycopg.Error as error:
        raise StoreUnavailable(_in_words(error, url)) from error


def _in_words(error: psycopg.Error, url: str) -> str:
    if is_poolers_refusal(error):
        return REFUSED
    said = sentence(error)
    if word := password_in(url):
        said = said.replace(word, "…")
    if is_refused(error):
        return f"The database does not let Airboss in: {said}"
    return f"The database cannot be reached: {said}"


def _facts(connection: "psycopg.Connection[Any]", url: str) -> DatabaseFacts:
    round_trip, ahead = _times(connection)
    version, name, encoding, is_standby, most = _one(connection, _SERVER)
    role, database, is_super, role_limit, may_create = _one(connection, _ROLE)
    used, of_role, of_database, database_limit = _one(connection, _USED)
    asked = connection.execute(_SCHEMAS, ([SCHEMA, ENGINE_SCHEMA],))
    schemas = {row[0]: SchemaRights(*row[1:]) for row in asked}
    free = [most - used]
    free += [role_limit - of_role] if role_limit >= 0 and not is_super else []
    free += [database_limit - of_database] if database_limit >= 0 and not is_super else []
    options = {one.keyword.decode(): one.val for one in connection.pgconn.info}
    return DatabaseFacts(
        version=version,
        version_name=name,
        encoding=encoding,
        is_standby=is_standby,
        database=database,
        role=role,
        is_superuser=is_super,
        may_create_schemas=may_create,
        schemas=schemas,
        schema=_schema(connection, schemas.get(SCHEMA)),
        pooler=pooler_behind(connection, url),
        is_local=_is_local(connection),
        is_encrypted=bool(connection.pgconn.ssl_in_use),
        sslmode=(options.get("sslmode") or b"prefer").decode(),
        unsafe=[f"{named} = {value}" for named, value in connection.execute(_UNSAFE)],
        # This connection goes.
        connections_free=max(min(free) + 1, 0),
        round_trip_ms=round_trip,
        ahead_ms=ahead,
    )


def _one(connection: "psycopg.Connection[Any]", asked: LiteralString) -> tuple[Any, ...]:
    row = connection.execute(asked).fetchone()
    if row is None:
        raise RuntimeError("PostgreSQL always answers this with a row.")
    return row


def _times(connection: "psycopg.Connection[Any]") -> tuple[float, int]:
    """The usual time of a round trip in milliseconds, and the clock's by the quickest one."""
    taken: list[float] = []
    ahead: dict[float, int] = {}
    for _ in range(_ROUND_TRIPS):
        sent, began = time.time(), time.perf_counter()
        (there,) = _one(connection, _NOW)
        took = (time.perf_counter() - began) * 1000
        taken.append(took)
        ahead[took] = round(there - sent * 1000 - took / 2)
    return statistics.median(taken), ahead[min(taken)]


def _is_local(connection: "psycopg.Connection[Any]") -> bool:
    """Nobody stands on the way who could read along."""
    if connection.info.host.startswith(("/", "@")):
        return True
    try:
        return ip_address(connection.info.hostaddr).is_loopback
    except ValueError:
        return False


def _schema(
    connection: "psycopg.Connection[Any]", rights: SchemaRights | None
) -> SchemaState | None:
    latest = latest_schema()
    if rights is None or not rights.tables:
        return SchemaState(0, latest, 0)
    if not rights.may_write:
        return None
    (is_there,) = _one(connection, "SELECT to_regclass('migrations') IS NOT NULL")
    if not is_there:
        return SchemaState(0, latest, 0)
    found = connection.execute("SELECT number, coalesce(works_from, number) FROM migrations")
    steps = found.fetchall()
    needed = [works_from for number, works_from in steps if number > latest]
    return SchemaState(
        max((number for number, _ in steps), default=0), latest, max(needed, default=0)
    )
