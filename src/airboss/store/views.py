"""The list of what there is: views by kind and state, newest first, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, tuple_

from airboss.store.database import Database
from airboss.store.tables import views


@dataclass(frozen=True)
class Place:
    """Where a page ended; the next begins behind it."""

    created_at: int
    stream: str


@dataclass(frozen=True)
class ViewIndex:
    """Reads views as they were last written; who wants the newest asks the log."""

    database: Database

    async def page(
        self,
        kind: str,
        states: Sequence[str],
        before: Place | None,
        limit: int,
        job: str | None = None,
    ) -> list[str]:
        def work(connection: Connection) -> list[str]:
            wanted = select(views.c.body).where(views.c.kind == kind)
            if states:
                wanted = wanted.where(views.c.state.in_(states))
            if job is not None:
                wanted = wanted.where(func.json_extract(views.c.body, "$.job") == job)
            if before:
                here = tuple_(views.c.created_at, views.c.stream)
                wanted = wanted.where(here < (before.created_at, before.stream))
            newest = wanted.order_by(views.c.created_at.desc(), views.c.stream.desc())
            return list(connection.execute(newest.limit(limit)).scalars())

        return await self.database.read(work)
