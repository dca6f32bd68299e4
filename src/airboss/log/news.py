"""What other processes said in several streams, read at once: for those who follow them here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from pydantic import ValidationError
from sqlalchemy import ARRAY, Connection, String, bindparam, func, select

from airboss.log.parts import kept
from airboss.log.rows import rest_of, text_of_end
from airboss.log.shared_view import view_of
from airboss.model.events import Recorded
from airboss.model.views import VIEWS, View
from airboss.store.dialect import Dialect, EventRow, NewsRows
from airboss.store.tables import streams

# Who is further behind than this reads the store, page by page.
MOST_SEQS: Final = 4_096
_NAMES: Final = bindparam("names", type_=ARRAY(String))


@dataclass(frozen=True, slots=True)
class News:
    """Of a stream that is known up to `after`; `said` is the rest, or None where that is too long.
    A stream that is gone has no head, and a view that has not changed is none."""

    after: int
    head: int | None
    view: View | None
    said: Sequence[Recorded] | None


def heads(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    wanted = select(streams.c.stream, streams.c.head)
    wanted = wanted.where(streams.c.stream == func.any(_NAMES))
    return {row.stream: row.head for row in connection.execute(wanted, {"names": list(names)})}


def news(dialect: Dialect, connection: Connection, places: Mapping[str, int]) -> dict[str, News]:
    """Of each of these streams, behind the seq that is known of it."""
    found = dialect.news(connection, places, MOST_SEQS)
    said = _said(found, places)
    told: dict[str, News] = {}
    for name, after in places.items():
        state = found.states.get(name)
        if state is None:
            if after:  # else nobody has said anything there yet
                told[name] = News(after, None, None, None)
            continue
        head, kind, body = state
        if head != after:
            told[name] = News(after, head, _view(kind, body), said.get(name))
    return told


def _view(kind: str | None, body: str | None) -> View | None:
    """What a newer Airboss wrote in addition is passed over. A view that only that one understands
    is none: what was said is followed all the same."""
    try:
        return view_of(kind, body) if kind in VIEWS and body else None
    except ValidationError:
        return None


def _said(found: NewsRows, places: Mapping[str, int]) -> dict[str, list[Recorded]]:
    said: dict[str, list[Recorded]] = {}
    for row in found.parts:
        said.setdefault(row[0], []).append(kept(*row[1:]).behind(places[row[0]]))
    bodies: dict[tuple[str, int | None], str] = {
        (row.stream, row.seq): row.body for row in found.events
    }
    for row in found.events:
        said.setdefault(row.stream, []).append(_told(row, bodies, places[row.stream]))
    for some in said.values():
        some.sort(key=attrgetter("seq"))
    return said


def _told(row: EventRow, bodies: Mapping[tuple[str, int | None], str], after: int) -> Recorded:
    if row.role == "merged":
        return rest_of(row, text_of_end(bodies[row.stream, row.end_seq]), after)
    return Recorded(row.seq, row.at, row.body)
