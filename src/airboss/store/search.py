"""What was said, looked for by words: newest first, page by page, in bounded time."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, bindparam, select, text

from airboss.store.database import Database
from airboss.store.tables import events

SECONDS: Final = 3.0
TOO_BROAD: Final = "This search takes too long. Add a word, or use a longer one."
FIELDS: Final = "said.id, said.stream, said.seq, said.at, said.kind"
# Of a view `own`: what a list shows it as.
FIRST_OF: Final = """coalesce(
  (SELECT stream FROM views WHERE kind = 'run' AND stream = own.run),
  (SELECT stream FROM views WHERE kind = 'task' AND own.kind = 'session' AND stream = own.task),
  own.stream)"""
_OWNERS: Final = text(
    f"""
SELECT own.stream, own.kind, own.run, own.task, own.body,
  top.kind AS top_kind, top.body AS top_body
FROM views AS own JOIN views AS top ON top.stream = {FIRST_OF}
WHERE own.stream IN :streams
"""  # noqa: S608 - words of ours
).bindparams(bindparam("streams", expanding=True))


@dataclass(frozen=True)
class SearchHit:
    """An event with a hit: the text before the first one, the hit, and the text behind it."""

    id: int
    stream: str
    seq: int
    at: int
    kind: str
    before: str
    hit: str
    after: str


@dataclass(frozen=True)
class Owner:
    """What a stream is, and what a person knows it by. A list shows it as the run of a job, a task
    by itself or a person's session: `top_body` is the view of that."""

    kind: str
    name: str
    run: str | None
    task: str | None
    top_kind: str
    top_body: str
    # Of a task of a run: the number of its work, and which execution of that it is, from 1.
    work: int | None = None
    execution: int | None = None


@dataclass(frozen=True)
class FoundPage:
    """`next_id` is where the next page begins; there may be one behind an empty page."""

    items: Sequence[SearchHit]
    owners: dict[str, Owner]
    next_id: int | None


@dataclass(frozen=True)
class LookIn:
    """Where to look: all of what is given holds for what a list shows the text's stream as, as the
    filters of that list. `since` is when it was said, `model` whose session or task said it."""

    of: Literal["run", "task", "session"] | None = None
    states: Sequence[str] = ()
    for_person: bool = False
    job: str | None = None
    tag: str | None = None
    model: str | None = None
    since: int | None = None

    @property
    def is_everywhere(self) -> bool:
        return self == EVERYWHERE

    def conditions(self, position: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """In SQL, each with its values. `position` is the database's function for where a text has
        a part."""
        if self.of is not None:
            yield "top.kind = :of", {"of": self.of}
        if self.states:
            named = {f"state{place}": state for place, state in enumerate(self.states)}
            yield f"top.state IN ({', '.join(f':{name}' for name in named)})", named
        if self.for_person:
            yield "top.for_person = 1", {}
        if self.job is not None:
            yield "top.job = :job", {"job": self.job}
        if self.tag is not None:
            yield f"{position}(top.tags, :tag) > 0", {"tag": f"\n{self.tag}\n"}
        if self.model is not None:
            yield "own.model = :model", {"model": self.model}
        if self.since is not None:
            yield "said.at >= :since", {"since": self.since}


EVERYWHERE: Final = LookIn()


@dataclass(frozen=True)
class SearchIndex:
    database: Database

    async def page(
        self, words: Sequence[str], before: int, limit: int, where: LookIn = EVERYWHERE
    ) -> FoundPage:
        """Texts with all of these words, or with words that begin so."""

        def work(connection: Connection) -> FoundPage:
            look_for = self.database.dialect.look_for
            items, next_id = look_for(connection, words, before, limit, where)
            return FoundPage(items, _owners(connection, {one.stream for one in items}), next_id)

        return await self.database.read(work)


def cut(found: list[SearchHit], limit: int) -> tuple[list[SearchHit], int | None]:
    """A page of them, and where the next one begins."""
    return found[:limit], found[limit - 1].id if len(found) > limit else None


def _owners(connection: Connection, streams: set[str]) -> dict[str, Owner]:
    if not streams:
        return {}
    found = connection.execute(_OWNERS, {"streams": sorted(streams)}).all()
    runs = {row.run for row in found if row.kind == "task" and row.run}
    places = {name: place for run in runs for name, place in _places(connection, run).items()}
    owners: dict[str, Owner] = {}
    for row in found:
        work, execution = places.get(row.stream, (None, None))
        top = (row.top_kind, row.top_body)
        name = _name(json.loads(row.body))
        owners[row.stream] = Owner(row.kind, name, row.run, row.task, *top, work, execution)
    return owners


def _name(body: dict[str, Any]) -> str:
    known = (body.get(field) for field in ("title", "job", "task"))
    return next((name for name in known if name is not None), "")


def _places(connection: Connection, run: str) -> dict[str, tuple[int, int]]:
    """Of each task run of a run: the number of its work, and how often that was begun by then."""
    begun: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    wanted = select(events.c.body).where(
        events.c.stream == run, events.c.kind == "run.work.started"
    )
    for body in connection.execute(wanted.order_by(events.c.seq)).scalars():
        started = json.loads(body)
        work = started["work"]
        begun[work] = begun.get(work, 0) + 1
        places[started["task_run"]] = (work, begun[work])
    return places
