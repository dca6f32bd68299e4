"""What the store knows of a job's runs: by the index, whatever there is beside them."""

import json
from typing import Any

from sqlalchemy import Connection

from airboss.store.database import Database
from airboss.store.job_stats import JobStatsIndex, LastRun
from airboss.store.tables import views
from airboss.store.view_rows import columns_of


def view(number: int, job: str, state: str, **more: Any) -> tuple[Any, ...]:
    usage = {"requests": number % 7, "milliseconds": 100, "sub_agents": {"requests": 1}}
    body = {"job": job, "ended_at": number + 100, "usage": usage, **more}
    name = f"run_{number:06}"
    told = (name, "run", state, number, 1, json.dumps(body))
    return told + columns_of(name, "run", state, body)


async def test_the_newest_count_and_those_of_other_jobs_do_not(database: Database) -> None:
    rows = [view(number, f"job {number % 40}", "succeeded") for number in range(4000)]
    rows += [view(5000, "job 1", "failed"), view(5001, "job 1", "running")]
    rows += [view(5002, "job 1", "waiting"), view(5003, "job 1", "waiting-for-person")]
    rows += [view(6000, "early", "succeeded", usage={"requests": 3})]

    def fill(connection: Connection) -> None:
        names = [column.name for column in views.columns]
        connection.execute(views.insert(), [dict(zip(names, row, strict=True)) for row in rows])

    await database.write(fill)
    found = await JobStatsIndex(database).of_jobs(["job 1", "early", 'no "such" job'], 10)
    one = found["job 1"]
    assert one.last == LastRun("run_005000", "failed", 5100)
    newest = [3961 - 40 * back for back in range(10)]
    assert one.succeeded == [(100, number % 7 + 1) for number in newest]
    assert (one.running, one.waiting_for_person) == (2, 1)
    assert found["early"].succeeded == [(0, 3)]
    assert (found['no "such" job'].last, found['no "such" job'].succeeded) == (None, [])
