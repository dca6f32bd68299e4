"""What was said, looked for by words: newest first, page by page, in bounded time."""

import contextlib
import re
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from airboss.errors import TooMuch
from airboss.store.database import Database
from airboss.store.search_index import is_indexed
from airboss.store.tables import said, views

# Around a hit on its way out of SQLite; in a text that has them itself, one is taken for a hit.
_BEGIN, _END = "\ue000", "\ue001"
_SECONDS: Final = 3.0
_STEPS: Final = 20_000
# So many texts are read through at once where there is no index.
_READ_THROUGH: Final = 20_000
_TOO_BROAD: Final = "That takes too long to look for. Say one more word, or a longer one."
_MATCHING: Final = f"""
SELECT id, stream, seq, at, kind, highlight(said_words, 0, '{_BEGIN}', '{_END}') AS marked
FROM said_words JOIN said ON said.id = said_words.rowid
WHERE said_words MATCH ? AND said_words.rowid < ? ORDER BY said_words.rowid DESC LIMIT ?
"""  # noqa: S608 - words of ours


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
    """What a stream is, and what a person knows it by."""

    kind: str
    name: str
    run: str | None
    task: str | None


@dataclass(frozen=True)
class FoundPage:
    """`next_id` is where the next page begins; there may be one behind an empty page."""

    items: Sequence[SearchHit]
    owners: dict[str, Owner]
    next_id: int | None


@dataclass(frozen=True)
class SearchIndex:
    database: Database

    async def page(self, words: Sequence[str], before: int, limit: int) -> FoundPage:
        """Texts with all of these words, or with words that begin so."""

        def work(connection: Connection) -> FoundPage:
            with _bounded(connection):
                looked = _match if is_indexed(connection) else _read_through
                items, next_id = looked(connection, words, before, limit)
                return FoundPage(items, _owners(connection, {one.stream for one in items}), next_id)

        return await self.database.read(work)


def _match(
    connection: Connection, words: Sequence[str], before: int, limit: int
) -> tuple[list[SearchHit], int | None]:
    asked = " ".join('"{}"*'.format(word.replace('"', '""')) for word in words)
    rows = connection.exec_driver_sql(_MATCHING, (asked, before, limit + 1)).all()
    return _cut([_found(row, row.marked) for row in rows], limit)


def _read_through(
    connection: Connection, words: Sequence[str], before: int, limit: int
) -> tuple[list[SearchHit], int | None]:
    newest = connection.execute(select(func.max(said.c.id))).scalar() or 0
    floor = min(before, newest + 1) - _READ_THROUGH
    wanted = select(said).where(said.c.id < before, said.c.id >= floor)
    for word in words:
        wanted = wanted.where(func.instr(func.folded(said.c.text), word.casefold()) > 0)
    rows = connection.execute(wanted.order_by(said.c.id.desc()).limit(limit + 1)).all()
    items, next_id = _cut([_found(row, _marked(row.text, words)) for row in rows], limit)
    return items, next_id or (floor if floor > 1 else None)


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
    def field(name: str) -> Any:
        return func.json_extract(views.c.body, f"$.{name}")

    name = func.coalesce(field("title"), field("job"), field("task"), "")
    wanted = select(
        views.c.stream,
        views.c.kind,
        name.label("name"),
        field("run").label("run"),
        field("task").label("task"),
    ).where(views.c.stream.in_(streams))
    return {
        row.stream: Owner(row.kind, row.name, row.run, row.task)
        for row in connection.execute(wanted)
    }


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
