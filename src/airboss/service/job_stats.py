"""How the runs of a job went so far: what a page says of it before somebody starts it again."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final

from airboss.model.ids import RunId
from airboss.model.run_events import RunOutcome
from airboss.model.words import Frozen
from airboss.store.database import Database
from airboss.store.job_stats import JobRuns, JobStatsIndex

# Enough that one odd run changes nothing, few enough that a job which was changed is soon known.
_USUAL_OF: Final = 10


class LastOutcome(Frozen):
    """The newest run that has ended: how, and when."""

    run: RunId
    state: RunOutcome
    at: int


class JobStats(Frozen):
    """`usual_…` is the median of the last ten runs that succeeded; null where none did."""

    last: LastOutcome | None = None
    usual_ms: int | None = None
    usual_requests: int | None = None
    running: int = 0
    waiting_for_person: int = 0


class RunFilters(Frozen):
    """What the runs that are kept can be told apart by, each in the order of its letters."""

    jobs: list[str]
    tags: list[str]


async def filters_of_runs(database: Database) -> RunFilters:
    jobs, tags = await JobStatsIndex(database).names()
    return RunFilters(jobs=sorted(jobs, key=str.casefold), tags=sorted(tags, key=str.casefold))


async def stats_of_jobs(database: Database, names: Sequence[str]) -> dict[str, JobStats]:
    found = await JobStatsIndex(database).of_jobs(names, _USUAL_OF)
    return {name: _stats(runs) for name, runs in found.items()}


def _stats(runs: JobRuns) -> JobStats:
    last = runs.last
    return JobStats(
        last=LastOutcome.model_validate(vars(last)) if last else None,
        usual_ms=_usual(took for took, _ in runs.succeeded),
        usual_requests=_usual(requests for _, requests in runs.succeeded),
        running=runs.running,
        waiting_for_person=runs.waiting_for_person,
    )


def _usual(numbers: Iterable[int]) -> int | None:
    known = list(numbers)
    return round(median(known)) if known else None
