"""How SQLite looks for words: by FTS5, or by reading through where it was built without that."""

import contextlib
import re
import time
from collections.abc import Generator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import OperationalError

from airboss.errors import TooMuch
from airboss.store.search import (
    FIELDS,
    FIRST_OF,
    SECONDS,
    TOO_BROAD,
    LookIn,
    SearchHit,
    cut,
)
from airboss.store.sqlite_search_index import is_indexed
from airboss.store.tables import said

# Around a hit on its way out of SQLite; in a text that has them itself, one is taken for a hit.
_BEGIN, _END = "\ue000", "\ue001"
_STEPS: Final = 20_000
# So many texts are read through at once where there is no index.
_READ_THROUGH: Final = 20_000
_MATCHING: Final = f"""
SELECT {FIELDS}, highlight(said_words, 0, '{_BEGIN}', '{_END}') AS marked
FROM said_words CROSS JOIN said ON said.id = said_words.rowid %s
WHERE said_words MATCH :asked AND said_words.rowid < :before %s
ORDER BY said_words.rowid DESC LIMIT :many
"""  # noqa: S608 - words of ours
_READING: Final = f"""
SELECT {FIELDS}, said.text FROM said %s
WHERE said.id < :before AND said.id >= :floor %s ORDER BY said.id DESC LIMIT :many
"""  # noqa: S608 - words of ours
# `own` is the view of the stream, `top` of what a list shows it as. Crossed, so that SQLite goes
# from texts to views, and never through all views.
_WITH_VIEWS: Final = f"""
CROSS JOIN views AS own ON own.stream = said.stream
CROSS JOIN views AS top ON top.stream = {FIRST_OF}
"""


def look_for(
    connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
) -> tuple[list[SearchHit], int | None]:
    with _bounded(connection):
        looked = _match if is_indexed(connection) else _read_through
        return looked(connection, words, before, limit, where)


def _match(
    connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
) -> tuple[list[SearchHit], int | None]:
    asked = " ".join('"{}"*'.format(word.replace('"', '""')) for word in words)
    statement, values = _narrowed(_MATCHING, where)
    given = {"asked": asked, "before": before, "many": limit + 1, **values}
    found = connection.execute(text(statement), given).all()
    return cut([_found(row, row.marked) for row in found], limit)


def _read_through(
    connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
) -> tuple[list[SearchHit], int | None]:
    newest = connection.execute(select(func.max(said.c.id))).scalar() or 0
    floor = min(before, newest + 1) - _READ_THROUGH
    having = [
        (f"instr(folded(said.text), :word{place}) > 0", {f"word{place}": word.casefold()})
        for place, word in enumerate(words)
    ]
    statement, values = _narrowed(_READING, where, having)
    given = {"before": before, "floor": floor, "many": limit + 1, **values}
    rows = connection.execute(text(statement), given).all()
    items, next_id = cut([_found(row, _marked(row.text, words)) for row in rows], limit)
    return items, next_id or (floor if floor > 1 else None)


def _narrowed(
    statement: str, where: LookIn, having: Sequence[tuple[str, dict[str, Any]]] = ()
) -> tuple[str, dict[str, Any]]:
    """Without a filter no view is looked at: a text may have none yet."""
    conditions = [*having, *where.conditions("instr")]
    told = "".join(f" AND {condition}" for condition, _ in conditions)
    values = {name: value for _, some in conditions for name, value in some.items()}
    return statement % ("" if where.is_everywhere else _WITH_VIEWS, told), values


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


@contextlib.contextmanager
def _bounded(connection: Connection) -> Generator[None]:
    """A reader's thread is not held for longer than this, whatever somebody looks for."""
    raw: Any = connection.connection.dbapi_connection
    until = time.monotonic() + SECONDS
    raw.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        yield
    except OperationalError as error:
        if getattr(error.orig, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            raise TooMuch(TOO_BROAD) from error
        raise
    finally:
        raw.set_progress_handler(None, 0)
