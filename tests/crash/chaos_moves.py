"""What must be true of runs that moved between machines: nothing of a former owner behind the move,
and every portal shows what the table has."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tests.crash.chaos_checks import (
    LATE_MS,
    Attempt,
    Evidence,
    Finding,
    attempt_of,
    check,
    compare_streams,
)
from tests.crash.chaos_house import House
from tests.crash.chaos_watch import TASK, Followed
from tests.crash.marks import bearing

Json = dict[str, Any]

_ROWS = """
SELECT stream, seq, kind, true_at, told_by FROM events
WHERE stream = ANY(%s) AND body <> '' ORDER BY stream, seq
"""
_HEADS = "SELECT stream, head FROM streams WHERE stream = ANY(%s)"
_WORK = "SELECT run FROM work WHERE run = %s"
_FLOWS = """
SELECT workflow_uuid FROM workflow_status
WHERE workflow_uuid = %s AND status IN ('PENDING', 'ENQUEUED')
"""


class Told(NamedTuple):
    """A row of the table: when it was written by the database's clock, and by which life."""

    stream: str
    seq: int
    kind: str
    at: int
    by: str


@dataclass(frozen=True)
class Tellings:
    """All that was told of one run, by whom."""

    run: str
    rows: list[Told]

    @property
    def moves(self) -> list[Told]:
        return [one for one in self.rows if one.stream == self.run and one.kind == "run.moved"]

    @property
    def left_at(self) -> dict[str, int]:
        """From when on each life that had the run has it no more."""
        found: dict[str, int] = {}
        # Who accepted it may have handed it over at once, which is no move.
        had: set[str] = set()
        for one in self.rows:
            if one.stream != self.run:
                continue
            if one.kind == "run.moved":
                found = dict.fromkeys(had, one.at) | found
                found.pop(one.by, None)
            had.add(one.by)
        return found

    def askers(self, found: Evidence) -> dict[Attempt, str]:
        """Of each attempt the life that sent it. A session that nobody has asked anything may go
        on elsewhere: who opened it says nothing of what is written in it."""
        by = {(one.stream, one.seq): one.by for one in self.rows}
        return {
            attempt_of(told["event"]): by[name, told["seq"]]
            for name, events in found.of(TASK)
            for told in events
            if told["event"]["kind"] == "task.mission.sent" and (name, told["seq"]) in by
        }


async def told_of(house: House, run: str, streams: list[str]) -> Tellings:
    rows = await house.rows(_ROWS, streams)
    return Tellings(run, [Told(*row) for row in rows])


def by_true_clock(found: Evidence, told: Tellings) -> Evidence:
    """The clocks of the machines jump; that of the database says when something was written."""
    at = {(one.stream, one.seq): one.at for one in told.rows}

    def timed(name: str, events: list[Json]) -> list[Json]:
        return [{**one, "at": at.get((name, one["seq"]), one["at"])} for one in events]

    followed = {
        name: Followed(one.kind, name, timed(name, one.seen), one.is_over)
        for name, one in found.followed.items()
    }
    stored = {name: timed(name, events) for name, events in found.stored.items()}
    return replace(found, stored=stored, followed=followed)


def check_moved(
    found: Evidence, told: Tellings, other: dict[str, Followed], heads: dict[str, int]
) -> Iterator[Finding]:
    """Today's list, and what moves add to it."""
    timed = by_true_clock(found, told)
    yield from check(timed)
    there = {name: one for name, one in other.items() if name in found.stored}
    for name in sorted({*found.stored} - {*there}):
        yield Finding("viewer", f"the other portal never told of {name}")
    seen = replace(found, followed=there, stored={n: found.stored[n] for n in there})
    for one in compare_streams(seen):
        yield Finding("viewer", f"at the other portal, {one.words}")
    for name, events in found.stored.items():
        if events and heads.get(name) != events[-1]["seq"]:
            yield Finding("lost", f"{name} has come to {heads.get(name)}, not {events[-1]['seq']}")
    yield from former_owners(timed, told)


def former_owners(found: Evidence, told: Tellings) -> Iterator[Finding]:
    left = told.left_at
    for one in told.rows:
        if one.at > left.get(one.by, one.at):
            late = one.at - left[one.by]
            words = f"{one.by} told {one.kind} ({one.seq}) {late} ms behind the move"
            yield Finding("former", f"{one.stream}: {words}")
    askers = told.askers(found)
    for line in found.lines:
        life = askers.get(line.attempt, "")
        if line.at_ms > left.get(life, line.at_ms) + LATE_MS:
            late = line.at_ms - left[life]
            yield Finding("former", f"an agent of {life} wrote {line} {late:.0f} ms late")


async def left_behind(house: House, run: str, sessions: list[str]) -> list[Finding]:
    """Rows of the run that nobody needs any more, and processes of its agents."""
    found = [Finding("left", f"work of {run}") for _ in await house.rows(_WORK, run)]
    flows = await house.rows(_FLOWS, run)
    found += [Finding("left", f"the workflow {name} is open") for (name,) in flows]
    for session in sessions:
        marked = await asyncio.to_thread(bearing, "COPILOT_AGENT_SESSION_ID", session)
        found += [Finding("left", f"{session}: the process {one.pid}") for one in marked]
    return found


async def heads_of(house: House, streams: list[str]) -> dict[str, int]:
    return dict(await house.rows(_HEADS, streams))
