"""What has ended and belongs to nothing else, the oldest first: what may be deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, exists, or_, select

from airboss.store.database import Database
from airboss.store.tables import views


@dataclass(frozen=True)
class EndedStream:
    """One of them."""

    kind: str
    stream: str


@dataclass(frozen=True)
class EndedIndex:
    """`owners` says for a kind which columns of a view name its owner: what has an owner that is
    there is left to it."""

    database: Database
    states: Mapping[str, Sequence[str]]
    owners: Mapping[str, Sequence[str]]

    async def oldest(self, before: int | None, limit: int) -> list[EndedStream]:
        """Those that ended before then, or at any time."""

        def work(connection: Connection) -> list[EndedStream]:
            at = views.c.updated_at
            wanted = select(views.c.kind, views.c.stream).where(self._may_go())
            if before is not None:
                wanted = wanted.where(at < before)
            found = connection.execute(wanted.order_by(at, views.c.stream).limit(limit))
            return [EndedStream(row.kind, row.stream) for row in found]

        return await self.database.read(work)

    def _may_go(self) -> ColumnElement[bool]:
        owner = views.alias("owner")
        kinds: list[ColumnElement[bool]] = []
        for kind, states in self.states.items():
            ended = and_(views.c.kind == kind, views.c.state.in_(states))
            for field in self.owners.get(kind, ()):
                is_there = exists().where(owner.c.stream == views.c[field])
                ended = and_(ended, ~is_there)
            kinds.append(ended)
        return or_(*kinds)

    async def used_bytes(self) -> int:
        """What was deleted leaves room in the store, and counts no more."""
        return await self.database.read(self.database.dialect.used_bytes)
