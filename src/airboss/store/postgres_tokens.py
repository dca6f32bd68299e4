"""Tokens with a name on a database that several servers share. Made and removed without a server:
every one of them knows within a second. What lies here are hashes, nobody gets in with them."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg.errors import InvalidSchemaName, UndefinedTable

from airboss.errors import StoreUnavailable
from airboss.model.ids import new_id
from airboss.store.folder import DataFolder
from airboss.store.notices import ACCESS, StreamNotice, packed
from airboss.store.postgres_connection import (
    NO_TABLES,
    connect,
    in_words,
    is_refused,
    sentence,
)
from airboss.store.postgres_notices import CHANNEL
from airboss.store.token_changes import RecordedChange
from airboss.store.tokens import NamedToken, TokenBook, changes_between

_READ: Final = "SELECT name, hash, made_at, role, expires_at FROM tokens ORDER BY name"
_PUT: Final = """
INSERT INTO tokens (id, name, role, hash, made_at, expires_at) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (name) DO UPDATE SET role = excluded.role, hash = excluded.hash,
    made_at = excluded.made_at, expires_at = excluded.expires_at
"""
_TELL: Final = "INSERT INTO token_changes (id, at, body) VALUES (%s, %s, %s)"
# By a worker that lives: one that counts as lost could not tell them any more.
_TAKE: Final = """
DELETE FROM token_changes WHERE EXISTS (
    SELECT 1 FROM workers WHERE id = %s AND state IN ('alive', 'draining') FOR KEY SHARE
) RETURNING at, body
"""


class NoTables(StoreUnavailable):
    """Nobody has served on this database yet."""


@contextmanager
def _connected(url: str) -> "Generator[psycopg.Connection[Any]]":
    """One transaction."""
    try:
        with connect(url) as connection:
            yield connection
    except (UndefinedTable, InvalidSchemaName) as error:
        raise NoTables(NO_TABLES) from error
    except psycopg.Error as error:
        unusable = StoreUnavailable(f"The database cannot be used: {sentence(error)}")
        raise (None if is_refused(error) else in_words(error)) or unusable from error


@dataclass(frozen=True)
class SharedTokens(TokenBook):
    """`folder` is this machine's: its own token is no named one."""

    folder: DataFolder
    url: str

    @property
    def is_any(self) -> bool:
        """Whether somebody made one; no tables, and no tokens, where no server has been yet."""
        try:
            return any("@" not in name for name in self.read())
        except NoTables:
            return False

    def read(self) -> dict[str, NamedToken]:
        with _connected(self.url) as connection:
            return _read(connection)

    @contextmanager
    def _changing(self) -> Generator[dict[str, NamedToken]]:
        with _connected(self.url) as connection:
            connection.execute("LOCK TABLE tokens IN SHARE ROW EXCLUSIVE MODE")
            tokens = _read(connection)
            before = dict(tokens)
            yield tokens
            for name in before.keys() - tokens.keys():
                connection.execute("DELETE FROM tokens WHERE name = %s", (name,))
            for name, token in tokens.items():
                if before.get(name) != token:
                    rest = (token.role, token.sha256, token.created_at, token.until)
                    connection.execute(_PUT, (new_id("tok"), name, *rest))
            for change in changes_between(before, tokens):
                connection.execute(_TELL, (change.id, change.at, change.model_dump_json()))
            # With the commit: whoever hears it finds what was done.
            for said in packed([StreamNotice(ACCESS, 0, more=True)]):
                connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, said))


def _read(connection: "psycopg.Connection[Any]") -> dict[str, NamedToken]:
    return {
        name: NamedToken(sha256=sha256, created_at=made_at, role=role, until=until)
        for name, sha256, made_at, role, until in connection.execute(_READ)
    }


@dataclass(frozen=True)
class SharedTokenChanges:
    """Whoever takes them tells them: no other server does."""

    url: str
    worker: str

    def read_whole(self) -> list[RecordedChange]:
        with _connected(self.url) as connection:
            found = sorted(connection.execute(_TAKE, (self.worker,)).fetchall())
        return [RecordedChange.model_validate_json(body) for _, body in found]

    def forget(self, last: str) -> None:
        """They are gone since they were taken."""
