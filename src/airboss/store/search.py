"""What was said, looked for by words: newest first, page by page, in bounded time."""

import contextlib
import json
import re
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from airboss.errors import TooMuch
from airboss.store.database import Database
from airboss.store.search_index import is_indexed
from airboss.store.tables import said

# Around a hit on its way out of SQLite; in a text that has them itself, one is taken for a hit.
_BEGIN, _END = "\ue000", "\ue001"
_SECONDS: Final = 3.0
_STEPS: Final = 20_000
# So many texts are read through at once where there is no index.
_READ_THROUGH: Final = 20_000
_TOO_BROAD: Final = "This search takes too long. Add a word, or use a longer one."
_FIELDS: Final = "said.id, said.stream, said.seq, said.at, said.kind"
_MATCHING: Final = f"""
SELECT {_FIELDS}, highlight(said_words, 0, '{_BEGIN}', '{_END}') AS marked
FROM said_words CROSS JOIN said ON said.id = said_words.rowid %s
WHERE said_words MATCH ? AND said_words.rowid < ? %s ORDER BY said_words.rowid DESC LIMIT ?
"""  # noqa: S608 - words of ours
_READING: Final = f"""
SELECT {_FIELDS}, said.text FROM said %s
WHERE said.id < ? AND said.id >= ? %s ORDER BY said.id DESC LIMIT ?
"""  # noqa: S608 - words of ours
_FIRST_OF: Final = """coalesce(
  (SELECT stream FROM views WHERE kind = 'run' AND stream = json_extract(own.body, '$.run')),
  (SELECT stream FROM views WHERE kind = 'task' AND own.kind = 'session'
     AND stream = json_extract(own.body, '$.task')),
  own.stream)"""
# `own` is the view of the stream, `top` of what a list shows it as. Crossed, so that SQLite goes
# from texts to views, and never through all views.
_WITH_VIEWS: Final = f"""
CROSS JOIN views AS own ON own.stream = said.stream
CROSS JOIN views AS top ON top.stream = {_FIRST_OF}
"""
_OWNERS: Final = f"""
SELECT own.stream, own.kind,
  coalesce(json_extract(own.body, '$.title'), json_extract(own.body, '$.job'),
    json_extract(own.body, '$.task'), '') AS name,
  json_extract(own.body, '$.run') AS run, json_extract(own.body, '$.task') AS task,
  top.kind AS top_kind, top.body AS top_body
FROM json_each(?) AS asked
CROSS JOIN views AS own ON own.stream = asked.value
CROSS JOIN views AS top ON top.stream = {_FIRST_OF}
"""  # noqa: S608 - words of ours
_BEGUN: Final = """
SELECT json_extract(body, '$.task_run'), json_extract(body, '$.work') FROM events
WHERE stream = ? AND kind = 'run.work.started' ORDER BY seq
"""
_FOR_PERSON: Final = """(
  top.state = 'waiting-for-person' OR json_extract(top.body, '$.for_person') = 1
  OR (top.kind = 'session' AND top.state <> 'closed'
    AND json_array_length(top.body, '$.items') > 0))"""


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

    def conditions(self) -> Iterator[tuple[str, list[Any]]]:
        """In SQL, each with its values."""
        if self.of is not None:
            yield "top.kind = ?", [self.of]
        if self.states:
            yield f"top.state IN ({', '.join('?' * len(self.states))})", list(self.states)
        if self.for_person:
            yield _FOR_PERSON, []
        if self.job is not None:
            yield "top.kind = 'run' AND json_extract(top.body, '$.job') = ?", [self.job]
        if self.tag is not None:
            tags = "SELECT 1 FROM json_each(top.body, '$.tags') AS one WHERE one.value = ?"
            yield f"EXISTS ({tags})", [self.tag]
        if self.model is not None:
            yield "json_extract(own.body, '$.model') = ?", [self.model]
        if self.since is not None:
            yield "said.at >= ?", [self.since]


EVERYWHERE: Final = LookIn()


@dataclass(frozen=True)
class SearchIndex:
    database: Database

    async def page(
        self, words: Sequence[str], before: int, limit: int, where: LookIn = EVERYWHERE
    ) -> FoundPage:
        """Texts with all of these words, or with words that begin so."""

        def work(connection: Connection) -> FoundPage:
            with _bounded(connection):
                looked = _match if is_indexed(connection) else _read_through
                items, next_id = looked(connection, words, before, limit, where)
                return FoundPage(items, _owners(connection, {one.stream for one in items}), next_id)

        return await self.database.read(work)


def _match(
    connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
) -> tuple[list[SearchHit], int | None]:
    asked = " ".join('"{}"*'.format(word.replace('"', '""')) for word in words)
    statement, values = _narrowed(_MATCHING, where)
    found = connection.exec_driver_sql(statement, (asked, before, *values, limit + 1)).all()
    return _cut([_found(row, row.marked) for row in found], limit)


def _read_through(
    connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
) -> tuple[list[SearchHit], int | None]:
    newest = connection.execute(select(func.max(said.c.id))).scalar() or 0
    floor = min(before, newest + 1) - _READ_THROUGH
    having = [("instr(folded(said.text), ?) > 0", [word.casefold()]) for word in words]
    statement, values = _narrowed(_READING, where, having)
    rows = connection.exec_driver_sql(statement, (before, floor, *values, limit + 1)).all()
    items, next_id = _cut([_found(row, _marked(row.text, words)) for row in rows], limit)
    return items, next_id or (floor if floor > 1 else None)


def _narrowed(
    statement: str, where: LookIn, having: Sequence[tuple[str, list[Any]]] = ()
) -> tuple[str, list[Any]]:
    """Without a filter no view is looked at: a text may have none yet."""
    conditions = [*having, *where.conditions()]
    told = "".join(f" AND {condition}" for condition, _ in conditions)
    values = [value for _, some in conditions for value in some]
    return statement % ("" if where.is_everywhere else _WITH_VIEWS, told), values


def _cut(found: list[SearchHit], limit: int) -> tuple[list[SearchHit], int | None]:
    return found[:limit], found[limit - 1].id if len(found) > limit else None


def _marked(text: str, words: Sequence[str]) -> str:
    hit = re.search("|".join(re.escape(word) for word in words), text, re.IGNORECASE)
    if hit is None:  # a letter whose other case has two
        return text
    return f"{text[: hit.start()]}{_BEGIN}{hit.group()}{_END}{text[hit.end() :]}"


def _found(row: Any, marked: str) -> SearchHit:
    before, _, rest = marked.partition(_BEGIN)
    hit, _, after = rest.partition(_END)
    after = after.replace(_BEGIN, "").replace(_END, "")
    return SearchHit(row.id, row.stream, row.seq, row.at, row.kind, before, hit, after)


def _owners(connection: Connection, streams: set[str]) -> dict[str, Owner]:
    found = connection.exec_driver_sql(_OWNERS, (json.dumps(sorted(streams)),)).all()
    runs = {row.run for row in found if row.kind == "task" and row.run}
    places = {name: place for run in runs for name, place in _places(connection, run).items()}
    owners: dict[str, Owner] = {}
    for stream, kind, name, run, task, top_kind, top_body in found:
        work, execution = places.get(stream, (None, None))
        owners[stream] = Owner(kind, name, run, task, top_kind, top_body, work, execution)
    return owners


def _places(connection: Connection, run: str) -> dict[str, tuple[int, int]]:
    """Of each task run of a run: the number of its work, and how often that was begun by then."""
    begun: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    for task_run, work in connection.exec_driver_sql(_BEGUN, (run,)):
        begun[work] = begun.get(work, 0) + 1
        places[task_run] = (work, begun[work])
    return places


@contextlib.contextmanager
def _bounded(connection: Connection) -> Generator[None]:
    """A reader's thread is not held for longer than this, whatever somebody looks for."""
    raw: Any = connection.connection.dbapi_connection
    until = time.monotonic() + _SECONDS
    raw.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        yield
    except OperationalError as error:
        if getattr(error.orig, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            raise TooMuch(_TOO_BROAD) from error
        raise
    finally:
        raw.set_progress_handler(None, 0)
