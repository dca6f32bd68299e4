"""Which tasks are at work on all machines of a database, by rows: one transaction after the other
counts them. PostgreSQL only."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

from airboss.store.database import Database
from airboss.store.ownership import LIVING

# Nobody else's lock has this number by accident.
_LOCK: Final = text("SELECT pg_advisory_xact_lock(1634890611)")
_LIVES: Final = text("SELECT state FROM workers WHERE id = :me FOR KEY SHARE")
# Of a worker that is gone nobody works any more.
_FORGET: Final = text(
    """
    DELETE FROM slots WHERE (worker = :me AND key <> ALL(:keys)) OR NOT EXISTS (
        SELECT 1 FROM workers WHERE id = slots.worker AND state IN ('alive', 'draining')
    )
    """
)
# Who is at work stays so, whatever the bound is by now.
_PUT: Final = text(
    """
    INSERT INTO slots (worker, key, is_taken)
    SELECT :me, key, key = ANY(:held) FROM unnest(CAST(:keys AS text[])) AS key
    ON CONFLICT (worker, key) DO UPDATE SET is_taken = slots.is_taken OR excluded.is_taken
    """
)
# Of all who wait, on whatever machine, the first: those of another machine it takes itself.
_TAKE: Final = text(
    """
    UPDATE slots SET is_taken = true FROM (
        SELECT worker, key, row_number() OVER (ORDER BY key, worker) AS place
        FROM slots WHERE NOT is_taken
    ) AS waiting
    WHERE slots.worker = :me AND waiting.worker = :me AND slots.key = waiting.key
        AND waiting.place <= :most - (SELECT count(*) FROM slots WHERE is_taken)
    """
)
_MINE: Final = text("SELECT key FROM slots WHERE worker = :me AND is_taken")


@dataclass(frozen=True)
class SlotRows:
    """In the name of one worker."""

    database: Database
    worker: str

    async def settle(
        self, held: Collection[str], wanted: Collection[str], most: int
    ) -> frozenset[str]:
        """This worker's tasks are these: those at work, and those that wait. Answers which may
        work. Repeated, it does no harm."""
        keys = list({*held, *wanted})  # a statement must not meet a row twice
        given = {"me": self.worker, "keys": keys, "held": list(held), "most": most}

        def work(connection: Connection) -> frozenset[str]:
            if connection.execute(_LIVES, given).scalar() not in LIVING:
                return frozenset()
            connection.execute(_LOCK)
            connection.execute(_FORGET, given)
            if not keys:
                return frozenset()
            connection.execute(_PUT, given)
            connection.execute(_TAKE, given)
            return frozenset(connection.execute(_MINE, given).scalars())

        return await self.database.write(work)
