"""Entries that were used, the last good one of each file, and what a person trusts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from airboss.store.database import Database
from airboss.store.tables import entries, last_good, trust


@dataclass(frozen=True)
class LastGood:
    """What a file last held that could be used; `file_digest` is of the file as it was then."""

    digest: str
    file_digest: str
    at: int


@dataclass(frozen=True)
class EntryStore:
    """Finished entries as JSON, by digest. What is kept never changes."""

    database: Database

    async def save(self, digest: str, body: str, at: int) -> None:
        def work(connection: Connection) -> None:
            values = {"digest": digest, "body": body, "created_at": at}
            connection.execute(insert(entries).values(values).on_conflict_do_nothing())

        await self.database.write(work)

    async def load(self, digest: str) -> str | None:
        def work(connection: Connection) -> str | None:
            wanted = select(entries.c.body).where(entries.c.digest == digest)
            return connection.execute(wanted).scalar()

        return await self.database.read(work)

    async def remember(self, source: str, good: LastGood) -> None:
        values = {"digest": good.digest, "file_digest": good.file_digest, "at": good.at}

        def work(connection: Connection) -> None:
            statement = insert(last_good).values(source=source, **values)
            connection.execute(
                statement.on_conflict_do_update(index_elements=["source"], set_=values)
            )

        await self.database.write(work)

    async def last_good(self, source: str) -> LastGood | None:
        def work(connection: Connection) -> LastGood | None:
            row = connection.execute(select(last_good).where(last_good.c.source == source)).first()
            return LastGood(row.digest, row.file_digest, row.at) if row else None

        return await self.database.read(work)

    async def forget(self, sources: Sequence[str]) -> None:
        def work(connection: Connection) -> None:
            connection.execute(delete(last_good).where(last_good.c.source.in_(sources)))

        await self.database.write(work)


@dataclass(frozen=True)
class TrustRow:
    """Something that a person trusts: a file by the digest of its bytes, or a folder."""

    path: str
    kind: Literal["file", "folder"]
    digest: str | None
    who: str
    at: int


@dataclass(frozen=True)
class TrustStore:
    """Paths are real ones, with links resolved."""

    database: Database

    async def add(self, rows: Sequence[TrustRow]) -> None:
        def work(connection: Connection) -> None:
            for row in rows:
                values = {"kind": row.kind, "digest": row.digest, "who": row.who, "at": row.at}
                statement = insert(trust).values(path=row.path, **values)
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["path"], set_=values)
                )

        await self.database.write(work)

    async def remove(self, paths: Sequence[str]) -> None:
        def work(connection: Connection) -> None:
            connection.execute(delete(trust).where(trust.c.path.in_(paths)))

        await self.database.write(work)

    async def all(self) -> list[TrustRow]:
        def work(connection: Connection) -> list[TrustRow]:
            rows = connection.execute(select(trust).order_by(trust.c.path))
            return [TrustRow(row.path, row.kind, row.digest, row.who, row.at) for row in rows]

        return await self.database.read(work)

    async def digest_of(self, path: str) -> str | None:
        def work(connection: Connection) -> str | None:
            wanted = select(trust.c.digest).where(trust.c.path == path)
            return connection.execute(wanted).scalar()

        return await self.database.read(work)
