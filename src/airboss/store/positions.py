"""How far the callers of `live` have read, and which ids they have read to the end."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from airboss.store.database import Database
from airboss.store.tables import positions


@dataclass(frozen=True)
class Position:
    """A place in a stream; `drained` means that its end was told, and is told no more."""

    seq: int = 0
    drained: bool = False


@dataclass(frozen=True)
class Positions:
    """The kept places. A few of the last may be lost in a crash: they are then given again."""

    database: Database

    async def load(self, stream: str) -> Position:
        def work(connection: Connection) -> Position:
            wanted = select(positions).where(positions.c.stream == stream)
            row = connection.execute(wanted).first()
            return Position(row.seq, bool(row.drained)) if row else Position()

        return await self.database.read(work)

    async def save(self, stream: str, position: Position) -> None:
        values = {"stream": stream, "seq": position.seq, "drained": int(position.drained)}

        def work(connection: Connection) -> None:
            connection.execute(self.database.dialect.put(positions, ["stream"], values))

        await self.database.write(work)
