"""How the runs of jobs went, read from the kept views by their index and never by all runs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from airboss.store.database import Database
from airboss.store.tables import is_run, job_of_run

# Literals, not parameters: only so SQLite sees that the partial index fits.
_OF_JOB = f"views INDEXED BY views_by_job WHERE {is_run} AND {job_of_run} = job.value AND state"
_NEWEST = " ORDER BY created_at DESC LIMIT "
_LAST = f"SELECT * FROM (SELECT stream, state, created_at, body FROM {_OF_JOB} = '%s'{_NEWEST}1)"  # noqa: S608 - words of ours
_STATS = f"""
SELECT job.key AS place,
  (SELECT json_array(stream, state, json_extract(body, '$.ended_at')) FROM (
     {" UNION ALL ".join(_LAST % state for state in ("succeeded", "failed", "canceled"))}
   ) ORDER BY created_at DESC LIMIT 1) AS last,
  (SELECT json_group_array(json_array(
     coalesce(json_extract(body, '$.usage.milliseconds'), 0),
     coalesce(json_extract(body, '$.usage.requests'), 0)
       + coalesce(json_extract(body, '$.usage.sub_agents.requests'), 0)
   )) FROM (SELECT created_at, body FROM {_OF_JOB} = 'succeeded'{_NEWEST}%d)) AS usual,
  (SELECT count(*) FROM {_OF_JOB} IN ('waiting', 'running')) AS running,
  (SELECT count(*) FROM {_OF_JOB} = 'waiting-for-person') AS waiting
FROM json_each(?) AS job
"""  # noqa: S608 - words of ours
_JOBS = f"SELECT DISTINCT {job_of_run} FROM views INDEXED BY views_by_job WHERE {is_run}"  # noqa: S608
_TAGS = f"""
SELECT DISTINCT tag.value FROM views, json_each(views.body, '$.tags') AS tag WHERE views.{is_run}
"""  # noqa: S608 - words of ours


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
        """In one query, however many jobs and runs there are."""

        def work(connection: Connection) -> dict[str, JobRuns]:
            found = connection.exec_driver_sql(_STATS % newest, (json.dumps(names),))
            return {
                names[int(row.place)]: JobRuns(
                    LastRun(*json.loads(row.last)) if row.last else None,
                    [(took, requests) for took, requests in json.loads(row.usual)],
                    row.running,
                    row.waiting,
                )
                for row in found
            }

        return await self.database.read(work)

    async def names(self) -> tuple[list[str], list[str]]:
        """The jobs that runs are of, and the tags that runs have."""

        def work(connection: Connection) -> tuple[list[str], list[str]]:
            jobs, tags = (connection.exec_driver_sql(one).scalars() for one in (_JOBS, _TAGS))
            return list(jobs), list(tags)

        return await self.database.read(work)
