"""What one process does for all that share a database: whoever has a duty keeps it until it leaves
or is lost. PostgreSQL only."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import text

from airboss.store.database import Database

# One of a worker that is gone is free, as one of nobody.
_TAKE: Final = text(
    """
    INSERT INTO duties (name, owner, epoch)
    SELECT :name, id, 1 FROM workers WHERE id = :me AND state = 'alive'
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, epoch = duties.epoch + 1
    WHERE duties.owner IS NULL OR NOT EXISTS (
        SELECT 1 FROM workers WHERE id = duties.owner AND state IN ('alive', 'draining')
    )
    """
)
_OWNER: Final = text("SELECT owner FROM duties WHERE name = :name")


@dataclass(frozen=True)
class DutyStore:
    """In the name of one worker."""

    database: Database
    worker: str

    async def has(self, name: str) -> bool:
        """Whether it is this worker's, or was nobody's and is so from now on."""
        given = {"name": name, "me": self.worker}
        owner = await self.database.read(lambda c: c.execute(_OWNER, given).scalar())
        if owner == self.worker:
            return True
        await self.database.write(lambda c: c.execute(_TAKE, given) and None)
        return await self.database.read(lambda c: c.execute(_OWNER, given).scalar()) == self.worker
