"""Entries that were used, the last good one of each file, and what a person trusts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, delete, select

from airboss.store.database import Database
from airboss.store.placed_rows import PlacedRows
from airboss.store.tables import entries, last_good, trust

TrustKind: TypeAlias = Literal["file", "folder", "extension"]


@dataclass(frozen=True)
class LastGood:
    """What a file last held that could be used; `file_digest` is of the file as it was then."""

    digest: str
    file_digest: str
    at: int


@dataclass(frozen=True)
class EntryStore:
    """Finished entries as JSON, by digest. What is kept never changes. Files are those of the
    machine with this data folder, where several share the database."""

    database: Database
    place: str = ""

    @property
    def _files(self) -> PlacedRows:
        return PlacedRows(self.database.dialect, last_good, self.place)

    async def save(self, digest: str, body: str, at: int) -> None:
        def work(connection: Connection) -> None:
            values = {"digest": digest, "body": body, "created_at": at}
            connection.execute(self.database.dialect.add(entries, values))

        await self.database.write(work)

    async def load(self, digest: str) -> str | None:
        def work(connection: Connection) -> str | None:
            wanted = select(entries.c.body).where(entries.c.digest == digest)
            return connection.execute(wanted).scalar()

        return await self.database.read(work)

    async def remember(self, source: str, good: LastGood) -> None:
        values = {"source": source, **asdict(good)}

        def work(connection: Connection) -> None:
            connection.execute(self._files.put(["source"], values))

        await self.database.write(work)

    async def last_good(self, source: str) -> LastGood | None:
        files = self._files
        wanted = select(files.table).where(files.table.c.source == source, files.mine)

        def work(connection: Connection) -> LastGood | None:
            row = connection.execute(wanted).first()
            return LastGood(row.digest, row.file_digest, row.at) if row else None

        return await self.database.read(work)

    async def forget(self, sources: Sequence[str]) -> None:
        files = self._files
        gone = delete(files.table).where(files.table.c.source.in_(sources), files.mine)
        await self.database.write(lambda c: c.execute(gone) and None)


@dataclass(frozen=True)
class TrustRow:
    """Something that a person trusts: a file by the digest of its bytes, an extension by that of
    all files in its folder, or a folder of entries."""

    path: str
    kind: TrustKind
    digest: str | None
    who: str
    at: int


@dataclass(frozen=True)
class TrustStore:
    """Paths are real ones, with links resolved, on the machine with this data folder."""

    database: Database
    place: str = ""

    @property
    def _rows(self) -> PlacedRows:
        return PlacedRows(self.database.dialect, trust, self.place)

    async def add(self, rows: Sequence[TrustRow]) -> None:
        def work(connection: Connection) -> None:
            for row in rows:
                connection.execute(self._rows.put(["path"], asdict(row)))

        await self.database.write(work)

    async def remove(self, paths: Sequence[str]) -> None:
        table, mine = self._rows.table, self._rows.mine
        gone = delete(table).where(table.c.path.in_(paths), mine)
        await self.database.write(lambda c: c.execute(gone) and None)

    async def all(self) -> list[TrustRow]:
        table, mine = self._rows.table, self._rows.mine
        wanted = select(table).where(mine).order_by(table.c.path)

        def work(connection: Connection) -> list[TrustRow]:
            rows = connection.execute(wanted)
            return [TrustRow(row.path, row.kind, row.digest, row.who, row.at) for row in rows]

        return await self.database.read(work)

    async def digest_of(self, path: str) -> str | None:
        table, mine = self._rows.table, self._rows.mine
        wanted = select(table.c.digest).where(table.c.path == path, mine)

        def work(connection: Connection) -> str | None:
            return connection.execute(wanted).scalar()

        return await self.database.read(work)

    async def extensions(self) -> dict[str, str]:
        """The digest of each extension's folder that somebody trusts, by its path."""
        table, mine = self._rows.table, self._rows.mine
        wanted = select(table.c.path, table.c.digest).where(table.c.kind == "extension", mine)

        def work(connection: Connection) -> dict[str, str]:
            return {row.path: row.digest for row in connection.execute(wanted)}

        return await self.database.read(work)
