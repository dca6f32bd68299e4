"""What was said behind a seq, in several streams of PostgreSQL at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airboss.store.dialect import EventRow, NewsRows, Part
from airboss.store.postgres_arrays import array_of
from airboss.store.tables import unescaped

if TYPE_CHECKING:
    import psycopg

_PLACES: Final = """
FROM unnest(%s::text[], %s::bigint[]) AS place(stream, after)
JOIN streams ON streams.stream = place.stream
"""
# A view that is as old as what is known is not read again.
_STATES: Final = f"""
SELECT streams.stream, streams.head, views.kind, views.body {_PLACES}
LEFT JOIN views ON views.stream = streams.stream
  AND (views.seq > place.after OR streams.head < place.after)
"""
_NEAR: Final = "streams.head > place.after AND streams.head <= place.after + %s"
_EVENTS: Final = f"""
SELECT said.stream, said.seq, said.at, said.kind, said.body, said.role, said.block, said.end_seq,
  said.marks {_PLACES} JOIN events AS said ON said.stream = place.stream AND said.seq > place.after
WHERE {_NEAR}
"""
_PARTS: Final = f"""
SELECT said.stream, said.seq, said.first, said.at, said.kind, said.block, said.text, said.marks
{_PLACES} JOIN parts AS said ON said.stream = place.stream AND said.seq > place.after
WHERE {_NEAR}
"""


def news_rows(driver: "psycopg.Connection[Any]", places: Mapping[str, int], most: int) -> NewsRows:
    """In one round trip, and as the state of one moment: whoever reads has that for all of a
    transaction."""
    given = (array_of([*places]), array_of([*places.values()]))
    with driver.pipeline():
        states = driver.execute(_STATES, given)
        events = driver.execute(_EVENTS, (*given, most))
        parts = driver.execute(_PARTS, (*given, most))
    return NewsRows(
        states={stream: (head, kind, body) for stream, head, kind, body in states.fetchall()},
        events=[_event(row) for row in events.fetchall()],
        parts=[_part(row) for row in parts.fetchall()],
    )


@dataclass(slots=True)
class _Event:
    """In the order in which they are asked for."""

    stream: str
    seq: int
    at: int
    kind: str
    body: str
    role: str | None
    block: str | None
    end_seq: int | None
    marks: bytes | None


def _event(row: Any) -> EventRow:
    event = _Event(*row)
    if event.block is not None:
        event.block = unescaped(event.block)
    return event


def _part(row: Any) -> Part:
    stream, seq, first, at, kind, block, text, marks = row
    return stream, seq, first, at, kind, unescaped(block), text, marks
