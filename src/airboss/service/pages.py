"""Lists, page by page: views newest first, events in order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from airboss.errors import Invalid
from airboss.log.log import EventLog
from airboss.model.events import Recorded
from airboss.model.run_events import (
    RunEnded,
    RunRetried,
    WorkGoing,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.runs import RunStory, RunView, tell_run
from airboss.model.task_runs import TaskRunView
from airboss.model.views import SessionView, View
from airboss.store.views import ALL, PageEnd, ViewIndex, Wanted

_STORY_PAGE = 1000
_WAITS = tuple(str(kind.model_fields["kind"].default) for kind in (WorkWaiting, WorkGoing))
# When the last one of a page was made, in milliseconds, and its id.
CURSOR: Final = r"^[0-9]{1,16}\.[a-z]{3}_[0-9a-z]{1,40}$"
_NOT_OURS = "This cursor is not one of ours. Begin again without it."

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
    views = [kind.model_validate_json(body) for body in bodies]
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


async def events_until(log: EventLog, stream: str, until: int) -> list[Recorded]:
    """All events of a stream that has no deltas, up to the seq `until`."""
    said: list[Recorded] = []
    while not said or said[-1].seq < until:
        found = await log.after(stream, said[-1].seq if said else 0, _STORY_PAGE)
        if not found:
            break
        said += found
    return [one for one in said if one.seq <= until]


async def story_of_run(log: EventLog, view: RunView) -> RunStory:
    """All that the run did as of its view."""
    return tell_run(await telling_events(log, view.id, view.seq))


async def telling_events(log: EventLog, run: str, until: int) -> list[Recorded]:
    """The events of a run up to `until` without those that no fold needs: what a work waited for
    does not matter once it has ended, and is most of what a long run says."""
    marks = await _until(log, run, 0, until, without=_WAITS)
    waits = await _until(log, run, _since(marks), until, kinds=_WAITS)
    # What is as of an event has its time and its seq, whatever it says.
    last = await log.transcript(run, until - 1, 1, until=until)
    said = {recorded.seq: recorded for recorded in (*marks, *waits, *last)}
    return [said[seq] for seq in sorted(said)]


def _since(marks: Sequence[Recorded]) -> int:
    """From where on waits matter: where the first work began that has not ended; without such a
    work, behind the last event that says that there is none."""
    # A view knows works by their paths, a story by their task runs.
    paths: dict[str, int] = {}
    task_runs: dict[str, int] = {}
    last = 0
    for recorded in marks:
        match recorded.event:
            case WorkStarted(path=path, task_run=task_run):
                paths.setdefault(path, recorded.seq)
                task_runs.setdefault(task_run, recorded.seq)
            case WorkStopped(path=path, task_run=task_run):
                paths.pop(path, None)
                task_runs.pop(task_run, None)
            case RunEnded():
                paths, task_runs = {}, {}
            case RunRetried():
                paths = {}
            case _:
                continue
        last = recorded.seq
    return min((*paths.values(), *task_runs.values()), default=last)


async def _until(
    log: EventLog,
    stream: str,
    after: int,
    until: int,
    kinds: Sequence[str] = (),
    without: Sequence[str] = (),
) -> list[Recorded]:
    said: list[Recorded] = []
    while found := await log.transcript(stream, after, _STORY_PAGE, kinds, until, without):
        said += found
        after = found[-1].seq
    return said


def _cursor(view: View) -> str:
    return f"{view.created_at}.{view.id}"


def _place(cursor: str) -> PageEnd:
    if not re.fullmatch(CURSOR, cursor):
        raise Invalid(_NOT_OURS)
    at, _, stream = cursor.partition(".")
    return PageEnd(int(at), stream)
