"""The workers that live, and what each of them has. PostgreSQL only."""

import json
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, text

from airboss.store.database import Database

# The one with the fewest open streams first: chats go where there is least to do.
_ALL: Final = text(
    """
    SELECT workers.*, count(views.stream) AS busy
    FROM workers LEFT JOIN streams ON streams.owner = workers.id
    LEFT JOIN views ON views.stream = streams.stream AND views.ended_at IS NULL
    WHERE workers.state IN ('alive', 'draining')
    GROUP BY workers.id ORDER BY busy, workers.name, workers.id
    """
)
_HAND: Final = text(
    """
    UPDATE streams SET owner = :worker, epoch = epoch + 1
    WHERE stream = :stream AND NOT EXISTS (
        SELECT 1 FROM workers WHERE id = streams.owner AND state IN ('alive', 'draining')
    ) AND EXISTS (SELECT 1 FROM workers WHERE id = :worker AND state = 'alive' FOR KEY SHARE)
    """
)


@dataclass(frozen=True)
class LivingWorker:
    """As it was registered. `shared` are the names of the folders that it shares."""

    id: str
    name: str
    place: str
    state: str
    labels: tuple[str, ...]
    roots: tuple[str, ...]
    shared: tuple[str, ...]
    walks: tuple[str, ...]
    # None where it does not work.
    slots: int

    @property
    def takes_work(self) -> bool:
        return self.slots > 0 and self.state == "alive"


@dataclass(frozen=True)
class LivingWorkers:
    database: Database

    async def all(self) -> list[LivingWorker]:
        """Those with the least to do first."""

        def work(connection: Connection) -> list[LivingWorker]:
            return [_worker(row) for row in connection.execute(_ALL)]

        return await self.database.read(work)

    async def hand(self, stream: str, worker: str) -> None:
        """What nobody has is this worker's from now on."""
        given = {"stream": stream, "worker": worker}
        await self.database.write(lambda connection: connection.execute(_HAND, given) and None)


def _worker(row: Any) -> LivingWorker:
    return LivingWorker(
        id=row.id,
        name=row.name,
        place=row.place,
        state=row.state,
        labels=tuple(json.loads(row.labels)),
        roots=tuple(json.loads(row.roots)),
        shared=tuple(json.loads(row.root_names)),
        walks=tuple(row.walks.split("\n")),
        slots=row.slots,
    )
