"""Which extensions a person has turned off, by the folder that each is in."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from airboss.store.database import Database
from airboss.store.placed_rows import PlacedRows
from airboss.store.tables import disabled_extensions


@dataclass(frozen=True)
class DisabledExtensions:
    """Paths are real ones, with links resolved, on the machine with this data folder."""

    database: Database
    place: str = ""

    @property
    def _rows(self) -> PlacedRows:
        return PlacedRows(self.database.dialect, disabled_extensions, self.place)

    async def add(self, path: str, who: str, at: int) -> None:
        put = self._rows.put(["path"], {"path": path, "who": who, "at": at})
        await self.database.write(lambda c: c.execute(put) and None)

    async def remove(self, path: str) -> None:
        table, mine = self._rows.table, self._rows.mine
        gone = delete(table).where(table.c.path == path, mine)
        await self.database.write(lambda c: c.execute(gone) and None)

    async def all(self) -> frozenset[str]:
        table, mine = self._rows.table, self._rows.mine
        wanted = select(table.c.path).where(mine)

        def work(connection: Connection) -> frozenset[str]:
            return frozenset(connection.execute(wanted).scalars())

        return await self.database.read(work)
