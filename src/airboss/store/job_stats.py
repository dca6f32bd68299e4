"""How the runs of jobs went, read from the kept views by their index and never by all runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select, text

from airboss.store.database import Database
from airboss.store.tables import views
from airboss.store.view_rows import tags_in

# Databases take some hundred parts in one query.
_AT_ONCE: Final = 100
_ENDED: Final = ("succeeded", "failed", "canceled")
_OPEN: Final = {"waiting": "running", "running": "running", "waiting-for-person": "waiting"}
# Of one job, in one state, the newest: in parentheses of its own, for its own bound.
_NEWEST: Final = """SELECT * FROM (
  SELECT job, state, stream, created_at, ended_at, milliseconds, requests FROM views
  WHERE job = :job{place} AND state = '{state}' ORDER BY created_at DESC LIMIT {count}
) AS newest_{state}_{place}"""


@dataclass(frozen=True)
class LastRun:
    """The newest run that has ended."""

    run: str
    state: str
    at: int


@dataclass(frozen=True)
class JobRuns:
    """Of one job; `succeeded` are the working times and requests of the newest that succeeded."""

    last: LastRun | None
    succeeded: Sequence[tuple[int, int]]
    running: int
    waiting_for_person: int


@dataclass(frozen=True)
class JobStatsIndex:
    database: Database

    async def of_jobs(self, names: Sequence[str], newest: int) -> dict[str, JobRuns]:
        """In a few queries, however many jobs and runs there are."""

        def work(connection: Connection) -> dict[str, JobRuns]:
            found: dict[str, JobRuns] = {}
            for start in range(0, len(names), _AT_ONCE):
                found |= _of_some(connection, names[start : start + _AT_ONCE], newest)
            return found

        return await self.database.read(work)

    async def names(self) -> tuple[list[str], list[str]]:
        """The jobs that runs are of, and the tags that runs have."""

        def work(connection: Connection) -> tuple[list[str], list[str]]:
            jobs = select(views.c.job).where(views.c.job.is_not(None)).distinct()
            tags = select(views.c.tags).where(views.c.job.is_not(None), views.c.tags.is_not(None))
            some = connection.execute(tags.distinct()).scalars()
            known = dict.fromkeys(tag for column in some for tag in tags_in(column))
            return list(connection.execute(jobs).scalars()), list(known)

        return await self.database.read(work)


def _of_some(connection: Connection, names: Sequence[str], newest: int) -> dict[str, JobRuns]:
    ended: dict[str, list[Any]] = {name: [] for name in names}
    given = {f"job{place}": name for place, name in enumerate(names)}
    for row in connection.execute(text(" UNION ALL ".join(_parts(names, newest))), given):
        ended[row.job].append(row)
    open_runs = _open_runs(connection, names)
    return {
        name: JobRuns(_last(rows), _succeeded(rows), *open_runs.get(name, (0, 0)))
        for name, rows in ended.items()
    }


def _parts(names: Sequence[str], newest: int) -> Iterator[str]:
    for place, _ in enumerate(names):
        for state in _ENDED:
            count = newest if state == "succeeded" else 1
            yield _NEWEST.format(place=place, state=state, count=max(count, 1))


def _last(rows: Sequence[Any]) -> LastRun | None:
    if not rows:
        return None
    last = max(rows, key=lambda row: row.created_at)
    return LastRun(last.stream, last.state, last.ended_at)


def _succeeded(rows: Sequence[Any]) -> list[tuple[int, int]]:
    done = [row for row in rows if row.state == "succeeded"]
    done.sort(key=lambda row: row.created_at, reverse=True)
    return [(row.milliseconds or 0, row.requests or 0) for row in done]


def _open_runs(connection: Connection, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How many of each job run, and how many wait for a person."""
    counted = (
        select(views.c.job, views.c.state, func.count())
        .where(views.c.job.in_(bindparam("jobs", expanding=True)), views.c.state.in_(list(_OPEN)))
        .group_by(views.c.job, views.c.state)
    )
    found: dict[str, dict[str, int]] = {}
    for job, state, count in connection.execute(counted, {"jobs": list(names)}):
        of_job = found.setdefault(job, {"running": 0, "waiting": 0})
        of_job[_OPEN[state]] += count
    return {job: (counts["running"], counts["waiting"]) for job, counts in found.items()}
