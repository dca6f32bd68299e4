"""The list of what there is: views by kind, state and whatever else is asked for, newest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import ColumnElement, Connection, select, tuple_

from airboss.store.database import Database
from airboss.store.dialect import Dialect
from airboss.store.tables import views


@dataclass(frozen=True)
class PageEnd:
    """Where a page ended; the next begins behind it."""

    created_at: int
    stream: str


@dataclass(frozen=True)
class Wanted:
    """Which views of a kind: all of what is given holds. Times are those of their beginning, from
    `since` on and before `until`."""

    job: str | None = None
    model: str | None = None
    # Whom a session works for.
    of: Literal["person", "task"] | None = None
    # Of tasks those that were started by themselves, and not by a job.
    alone: bool = False
    # Tasks and sessions whose agents wait for a person. Of runs that is a state.
    for_person: bool = False
    # Of sessions those that somebody wants to find at the top.
    pinned: bool = False
    since: int | None = None
    until: int | None = None
    # About which something was said then or later.
    told_since: int | None = None
    # Of runs those with this tag.
    tag: str | None = None
    # Somewhere in what a person knows it by, in whatever case.
    text: str | None = None


ALL: Final = Wanted()


@dataclass(frozen=True)
class ViewIndex:
    """Reads views as they were last written; who wants the newest asks the log."""

    database: Database

    async def page(
        self,
        kind: str,
        states: Sequence[str],
        before: PageEnd | None,
        limit: int,
        wanted: Wanted = ALL,
    ) -> list[str]:
        def work(connection: Connection) -> list[str]:
            having = _conditions(self.database.dialect, wanted)
            found = select(views.c.body).where(views.c.kind == kind, *having)
            if states:
                found = found.where(views.c.state.in_(states))
            if before:
                here = tuple_(views.c.created_at, views.c.stream)
                found = found.where(here < (before.created_at, before.stream))
            newest = found.order_by(views.c.created_at.desc(), views.c.stream.desc())
            return list(connection.execute(newest.limit(limit)).scalars())

        return await self.database.read(work)


def _conditions(dialect: Dialect, wanted: Wanted) -> list[ColumnElement[bool]]:
    return [*_whose(wanted), *_which(dialect, wanted)]


def _whose(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    """What it was made for, and with what."""
    if wanted.job is not None:
        yield views.c.job == wanted.job
    if wanted.model is not None:
        yield views.c.model == wanted.model
    if wanted.of is not None:
        task = views.c.task
        yield task.is_(None) if wanted.of == "person" else task.is_not(None)
    if wanted.alone:
        yield views.c.run.is_(None)


def _which(dialect: Dialect, wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    """Its time, and what people gave it or owe it."""
    if wanted.for_person:
        yield views.c.for_person == 1
    if wanted.pinned:
        yield views.c.pinned == 1
    if wanted.since is not None:
        yield views.c.created_at >= wanted.since
    if wanted.until is not None:
        yield views.c.created_at < wanted.until
    if wanted.told_since is not None:
        yield views.c.updated_at >= wanted.told_since
    if wanted.tag is not None:
        yield dialect.holds(views.c.tags, f"\n{wanted.tag}\n")
    if wanted.text is not None:
        yield dialect.holds(views.c.names, wanted.text.casefold())
