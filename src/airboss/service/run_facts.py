"""What a report is made from: a run's own events, its job's tree, and the sessions of its tasks."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from airboss.engine.run_story import events_until
from airboss.log.log import EventLog
from airboss.log.writer import now_ms
from airboss.model.events import Recorded
from airboss.model.run_events import RunTreeKept
from airboss.model.runs import RunStory, RunView, WorkRecord, tell_run
from airboss.model.task_events import TaskSessionStarted
from airboss.service.run_times import WorkTimes, times_of

if TYPE_CHECKING:
    from airboss.entry.document import Entry
    from airboss.entry.work_places import WorkPlace

_ROUND: Final = re.compile(r"\.it(\d+)")
_MOST_SESSIONS: Final = 5_000


@dataclass(frozen=True)
class OpenedSession:
    session: str
    task_run: str
    model: str
    is_driving: bool


@dataclass(frozen=True)
class RunFacts:
    """All of it as of one seq of the run."""

    view: RunView
    story: RunStory
    places: "list[WorkPlace]"
    times: dict[str, WorkTimes]
    sessions: list[OpenedSession]
    culprits: tuple[str, ...]
    now: int
    trees: dict[str, RunTreeKept] = field(default_factory=dict[str, RunTreeKept])

    @cached_property
    def by_work(self) -> dict[int, list[WorkRecord]]:
        """Every execution of each work, oldest first."""
        found: dict[int, list[WorkRecord]] = defaultdict(list)
        for work in self.story.works:
            found[work.work].append(work)
        return found

    @cached_property
    def by_task_run(self) -> dict[str, WorkRecord]:
        return {work.task_run: work for work in self.story.works}

    @cached_property
    def place_of(self) -> "dict[int, WorkPlace]":
        return {place.work: place for place in self.places}

    @cached_property
    def culprit(self) -> WorkRecord | None:
        """The execution that made the run fail; of several the first in the order of the job."""
        last = {work.path: work for work in self.story.works}
        found = [last[path] for path in self.culprits if path in last]
        return found[0] if found else None

    def worked_ms(self, work: WorkRecord) -> int:
        """What its agents worked, as every list has it."""
        return work.worked_until(self.now)

    def name(self, work: WorkRecord) -> str:
        """As the chart and all lists have it, with the round where there was more than one."""
        place = self.place_of.get(work.work)
        name = place.name if place else work.task
        times = {round_of(other.path) for other in self.by_work[work.work]}
        number = round_of(work.path)
        return f"{name} · round {number}" if number and len(times) > 1 else name

    def name_of(self, task_run: str | None) -> str:
        work = self.by_task_run.get(task_run or "")
        return self.name(work) if work else ""


def round_of(path: str) -> int:
    """Of the innermost loop; 0 outside of loops."""
    rounds = _ROUND.findall(path)
    return int(rounds[-1]) if rounds else 0


async def read_facts(log: EventLog, view: RunView, entry: "Entry") -> RunFacts:
    from airboss.engine.walk import tree_of
    from airboss.entry.work_places import places_of

    events = await events_until(log, view.id, view.seq)
    story = tell_run(events)
    now = view.ended_at or now_ms()
    return RunFacts(
        view=view,
        story=story,
        places=places_of(tree_of(view, entry)),
        times=times_of(events, now),
        sessions=await _sessions(log, story),
        culprits=_culprits(view, story, entry),
        now=now,
        trees=_trees(events),
    )


async def _sessions(log: EventLog, story: RunStory) -> list[OpenedSession]:
    task_runs = [work.task_run for work in story.works]
    said = await log.among(task_runs, ["task.session.started"], _MOST_SESSIONS)
    opened = [(task_run, recorded.at, recorded.event) for task_run, recorded in said]
    return [
        OpenedSession(event.session, task_run, event.model, event.is_driving)
        for task_run, _, event in sorted(opened, key=lambda one: one[1])
        if isinstance(event, TaskSessionStarted)
    ]


def _culprits(view: RunView, story: RunStory, entry: "Entry") -> tuple[str, ...]:
    if view.state not in ("failed", "canceled"):
        return ()
    from airboss.engine.culprits import find_culprits
    from airboss.engine.walk import tree_of

    latest = {work.path: work for work in story.works if work.ended_at}
    ended = {path: work.state == "succeeded" for path, work in latest.items()}
    unasked = [path for path, work in latest.items() if work.unasked]
    return find_culprits(tree_of(view, entry), ended, unasked)


def _trees(events: list[Recorded]) -> dict[str, RunTreeKept]:
    """The first of the beginning and the last of the end: a retry ends a run again."""
    found: dict[str, RunTreeKept] = {}
    for recorded in events:
        event = recorded.event
        if isinstance(event, RunTreeKept):
            found[event.when] = event
    return found
