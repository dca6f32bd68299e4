"""Which notices are still to be delivered, by each channel, and how far its events were read."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select, update

from airboss.store.database import Database
from airboss.store.tables import deliveries, positions


@dataclass(frozen=True)
class WaitingDelivery:
    """An event that was not delivered yet, and how often it was tried."""

    seq: int
    attempts: int


@dataclass(frozen=True)
class Deliveries:
    database: Database

    async def position(self, channel: str) -> int | None:
        """How far it has read; None for one that never began."""

        def work(connection: Connection) -> int | None:
            wanted = select(positions.c.seq).where(positions.c.stream == _place(channel))
            return connection.execute(wanted).scalar()

        return await self.database.read(work)

    async def take(self, channel: str, seqs: Sequence[int], read_to: int) -> None:
        """These are to be delivered, and all up to `read_to` was read."""
        place = {"stream": _place(channel), "seq": read_to, "drained": 0}
        dialect = self.database.dialect

        def work(connection: Connection) -> None:
            for seq in seqs:
                row = {"channel": channel, "seq": seq, "attempts": 0}
                connection.execute(dialect.add(deliveries, row))
            connection.execute(dialect.put(positions, ["stream"], place))

        await self.database.write(work)

    async def waiting(self, channel: str) -> list[WaitingDelivery]:
        def work(connection: Connection) -> list[WaitingDelivery]:
            wanted = select(deliveries).where(deliveries.c.channel == channel)
            found = connection.execute(wanted.order_by(deliveries.c.seq))
            return [WaitingDelivery(row.seq, row.attempts) for row in found]

        return await self.database.read(work)

    async def tried(self, channel: str, seq: int, attempts: int) -> None:
        def work(connection: Connection) -> None:
            mine = (deliveries.c.channel == channel) & (deliveries.c.seq == seq)
            connection.execute(update(deliveries).where(mine).values(attempts=attempts))

        await self.database.write(work)

    async def done(self, channel: str, seq: int) -> None:
        """Delivered, or given up."""

        def work(connection: Connection) -> None:
            mine = (deliveries.c.channel == channel) & (deliveries.c.seq == seq)
            connection.execute(delete(deliveries).where(mine))

        await self.database.write(work)


def _place(channel: str) -> str:
    return f"notices:{channel}"
