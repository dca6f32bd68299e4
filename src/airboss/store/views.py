"""The list of what there is: views by kind, state and whatever else is asked for, newest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import ColumnElement, Connection, and_, exists, func, or_, select, tuple_

from airboss.store.database import Database
from airboss.store.tables import is_run, job_of_run, views


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
    # Of runs those with this tag.
    tag: str | None = None
    # Somewhere in what a person knows it by, in whatever case.
    text: str | None = None


ALL: Final = Wanted()
# What a person knows it by, beside its id.
_NAMES: Final = {
    "session": ("title", "cwd"),
    "run": ("job", "title", "short_title", "input_start", "cwd"),
    "task": ("task", "cwd"),
}


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
            found = select(views.c.body).where(views.c.kind == kind, *_conditions(kind, wanted))
            if states:
                found = found.where(views.c.state.in_(states))
            if before:
                here = tuple_(views.c.created_at, views.c.stream)
                found = found.where(here < (before.created_at, before.stream))
            newest = found.order_by(views.c.created_at.desc(), views.c.stream.desc())
            return list(connection.execute(newest.limit(limit)).scalars())

        return await self.database.read(work)


def _conditions(kind: str, wanted: Wanted) -> list[ColumnElement[bool]]:
    return [*_whose(wanted), *_which(kind, wanted)]


def _whose(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    """What it was made for, and with what."""
    if wanted.job is not None:
        yield is_run
        yield job_of_run == wanted.job
    if wanted.model is not None:
        yield _field("model") == wanted.model
    if wanted.of is not None:
        task = _field("task")
        yield task.is_(None) if wanted.of == "person" else task.is_not(None)
    if wanted.alone:
        yield _field("run").is_(None)


def _which(kind: str, wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    """Its time, and what people gave it or owe it."""
    if wanted.for_person:
        yield _waits_for_person(kind)
    if wanted.pinned:
        yield _field("pinned").is_(True)
    if wanted.since is not None:
        yield views.c.created_at >= wanted.since
    if wanted.until is not None:
        yield views.c.created_at < wanted.until
    if wanted.tag is not None:
        yield _tagged(wanted.tag)
    if wanted.text is not None:
        yield _named(kind, wanted.text)


def _named(kind: str, text: str) -> ColumnElement[bool]:
    """`folded` is ours: SQLite itself knows the case of ASCII only."""
    known = [views.c.stream, *(_field(name) for name in _NAMES[kind])]
    return or_(*(func.instr(func.folded(one), text.casefold()) > 0 for one in known))


def _waits_for_person(kind: str) -> ColumnElement[bool]:
    if kind == "session":
        items = func.json_array_length(views.c.body, "$.items") > 0
        return and_(items, views.c.state != "closed")
    return _field("for_person") == 1


def _tagged(tag: str) -> ColumnElement[bool]:
    tags = func.json_each(views.c.body, "$.tags").table_valued("value")
    return exists(select(tags.c.value).where(tags.c.value == tag))


def _field(name: str) -> ColumnElement[str]:
    return func.json_extract(views.c.body, f"$.{name}")
