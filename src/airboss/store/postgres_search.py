"""How PostgreSQL looks for words: by an index of those that we have taken out of the texts."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from airboss.errors import TooMuch
from airboss.store.postgres_connection import state_of
from airboss.store.said_texts import first_hit, words_of
from airboss.store.search import (
    FIELDS,
    FIRST_OF,
    SECONDS,
    TOO_BROAD,
    LookIn,
    SearchHit,
    cut,
)

_CANCELED: Final = "57014"
_MATCHING: Final = f"""
SELECT {FIELDS}, said.text FROM said %s
WHERE said.words @@ CAST(:asked AS tsquery) AND said.id < :before %s
ORDER BY said.id DESC LIMIT :many
"""  # noqa: S608 - words of ours
_WITH_VIEWS: Final = f"""
JOIN views AS own ON own.stream = said.stream
JOIN views AS top ON top.stream = {FIRST_OF}
"""


def look_for(
    connection: Connection, words: Sequence[str], before: int, limit: int, where: LookIn
) -> tuple[list[SearchHit], int | None]:
    beginnings = [part for word in words for part in words_of(word)]
    if not beginnings:
        return [], None
    asked = " & ".join(f"'{part}':*" for part in beginnings)
    conditions = list(where.conditions("strpos"))
    told = "".join(f" AND {condition}" for condition, _ in conditions)
    given: dict[str, Any] = {"asked": asked, "before": before, "many": limit + 1}
    for _, some in conditions:
        given |= some
    statement = _MATCHING % ("" if where.is_everywhere else _WITH_VIEWS, told)
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = {int(SECONDS * 1000)}")
    try:
        rows = connection.execute(text(statement), given).all()
    except DBAPIError as error:
        if state_of(error) == _CANCELED:
            raise TooMuch(TOO_BROAD) from error
        raise
    return cut([_found(row, beginnings) for row in rows], limit)


def _found(row: Any, beginnings: Sequence[str]) -> SearchHit:
    begin, end = first_hit(row.text, beginnings)
    around = (row.text[:begin], row.text[begin:end], row.text[end:])
    return SearchHit(row.id, row.stream, row.seq, row.at, row.kind, *around)
