"""Lists, page by page: views newest first, events in order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from airboss.errors import Invalid
from airboss.log.log import EventLog
from airboss.model.events import Recorded
from airboss.model.runs import RunView
from airboss.model.task_runs import TaskRunView
from airboss.model.views import SessionView, View
from airboss.store.views import ALL, PageEnd, ViewIndex, Wanted

# When the last one of a page was made, in milliseconds, and its id.
CURSOR: Final = r"^[0-9]{1,16}\.[a-z]{3}_[0-9a-z]{1,40}$"
_NOT_OURS = "This cursor is not valid. Start again without it."

AnyView = TypeVar("AnyView", SessionView, TaskRunView, RunView)


@dataclass(frozen=True)
class ViewPage(Generic[AnyView]):
    """Some views, newest first, and where the next ones are."""

    items: list[AnyView]
    next_cursor: str | None


@dataclass(frozen=True)
class StreamPage:
    """Some events of a stream, in order, and whether there are more behind them."""

    items: list[Recorded]
    more: bool


async def page_of_views(
    index: ViewIndex,
    kind: type[AnyView],
    states: Sequence[str],
    cursor: str | None,
    limit: int,
    wanted: Wanted = ALL,
) -> ViewPage[AnyView]:
    before = _place(cursor) if cursor else None
    bodies = await index.page(kind.stream_kind, states, before, limit + 1, wanted)
    views = [kind.model_validate_json(body, extra="ignore") for body in bodies]
    more = len(views) > limit
    views = views[:limit]
    return ViewPage(views, _cursor(views[-1]) if more else None)


async def page_of_events(log: EventLog, stream: str, after: int, limit: int) -> StreamPage:
    found = await log.after(stream, after, limit + 1)
    return StreamPage(found[:limit], len(found) > limit)


async def page_for_late(log: EventLog, stream: str, after: int, limit: int) -> StreamPage:
    """Without the deltas of blocks that have ended: their ends have the whole text."""
    return StreamPage(*await log.compact(stream, after, limit))


async def last_events(log: EventLog, stream: str, count: int) -> StreamPage:
    """The last so many, and the deltas of blocks that are open."""
    return StreamPage(await log.last(stream, count), more=False)


def _cursor(view: View) -> str:
    return f"{view.created_at}.{view.id}"


def _place(cursor: str) -> PageEnd:
    if not re.fullmatch(CURSOR, cursor):
        raise Invalid(_NOT_OURS)
    at, _, stream = cursor.partition(".")
    return PageEnd(int(at), stream)
