"""Who may come in, on a database that several servers share: their tokens, and codes that let a
browser in once at any of them. PostgreSQL only; all that lies there are hashes."""

import secrets
import time
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select, text

from airboss.store.database import Database
from airboss.store.machine_tables import keys, tokens
from airboss.store.tokens import OWNER, NamedToken

# Of a data folder's own token.
_OWNER_OF: Final = f"{OWNER}@"
_COOKIES: Final = "cookies"
_NOW: Final = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_FORGET: Final = text(
    f"""
    DELETE FROM codes WHERE expires_at <= {_NOW} OR hash IN (
        SELECT hash FROM codes WHERE name = :name ORDER BY expires_at DESC OFFSET :most
    )
    """  # noqa: S608 - all of it is ours
)
_ADD: Final = text(
    f"""
    INSERT INTO codes (hash, name, token, sign_in, expires_at)
    VALUES (:hash, :name, :token, :sign_in, {_NOW} + :milliseconds)
    """  # noqa: S608
)
_COUNTS: Final = f"""
    hash = :hash AND expires_at > {_NOW}
    AND (sign_in IS NULL OR EXISTS (SELECT 1 FROM sign_ins WHERE sign_ins.id = codes.sign_in))
"""  # noqa: S608
_LOOK: Final = text(f"SELECT name, token FROM codes WHERE {_COUNTS}")  # noqa: S608
_TAKE: Final = text(f"DELETE FROM codes WHERE {_COUNTS} RETURNING name, token")  # noqa: S608


@dataclass(frozen=True)
class KeptCode:
    """What stands behind a code: a name, and what stands for the token of that name."""

    name: str
    token: str


@dataclass(frozen=True)
class AccessStore:
    """Of the server with this data folder."""

    database: Database
    place: str

    async def keep_owner(self, sha256: str) -> None:
        """The folder's own token, by which its owner is known to all servers."""
        now = time.time_ns() // 1_000_000
        values = {
            "id": self.place,
            "name": f"{_OWNER_OF}{self.place}",
            "role": "own",
            "hash": sha256,
            "made_at": now,
            "expires_at": None,
        }
        put = self.database.dialect.put(tokens, ["id"], values)
        await self.database.write(lambda c: c.execute(put) and None)

    async def tokens(self) -> tuple[dict[str, NamedToken], list[NamedToken]]:
        """Those with a name, and those of the owners of other data folders."""

        def work(connection: Connection) -> tuple[dict[str, NamedToken], list[NamedToken]]:
            named: dict[str, NamedToken] = {}
            owners: list[NamedToken] = []
            for row in connection.execute(select(tokens)):
                token = NamedToken(
                    sha256=row.hash, created_at=row.made_at, role=row.role, until=row.expires_at
                )
                if not row.name.startswith(_OWNER_OF):
                    named[row.name] = token
                elif row.id != self.place:
                    owners.append(token)
            return named, owners

        return await self.database.read(work)

    async def cookies(self) -> str:
        """What the cookies of all servers on this database are named by, made once."""
        new = {"name": _COOKIES, "value": secrets.token_bytes(16), "made_at": 0}

        def work(connection: Connection) -> str:
            connection.execute(self.database.dialect.add(keys, new))
            wanted = select(keys.c.value).where(keys.c.name == _COOKIES)
            return bytes(connection.execute(wanted).scalar_one()).hex()

        return await self.database.write(work)

    async def add_code(
        self, sha256: str, code: KeptCode, sign_in: str | None, seconds: float, most: int
    ) -> None:
        """Of one name at most so many; the oldest go."""
        given = {
            "hash": sha256,
            "name": code.name,
            "token": code.token,
            "sign_in": sign_in,
            "milliseconds": int(seconds * 1000),
            "most": most - 1,
        }

        def work(connection: Connection) -> None:
            connection.execute(_FORGET, given)
            connection.execute(_ADD, given)

        await self.database.write(work)

    async def look_at_code(self, sha256: str) -> KeptCode | None:
        def work(connection: Connection) -> KeptCode | None:
            row = connection.execute(_LOOK, {"hash": sha256}).first()
            return KeptCode(row.name, row.token) if row else None

        return await self.database.read(work)

    async def take_code(self, sha256: str) -> KeptCode | None:
        """Once, whichever server is asked."""

        def work(connection: Connection) -> KeptCode | None:
            row = connection.execute(_TAKE, {"hash": sha256}).first()
            return KeptCode(row.name, row.token) if row else None

        return await self.database.write(work)
