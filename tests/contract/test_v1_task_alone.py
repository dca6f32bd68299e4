"""A task by itself is a run of one task: listed once, retried, exported and deleted over v1."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.contract.guest import Told
from tests.contract.job_guest import JobGuest, entry_of, job_portal_in, ref
from tests.contract.task_guest import TaskGuest
from tests.portal import Portal

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def alone_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = job_portal_in(tmp_path_factory.mktemp("alone"))
    portal.start()

    async def install() -> None:
        async with JobGuest.of(portal) as guest:
            await guest.install(entry_of({"job": ref("yes")}))

    asyncio.run(install())
    yield portal
    portal.stop()


@pytest.fixture
async def guest(alone_portal: Portal, anyio_backend: str) -> AsyncGenerator[TaskGuest]:
    async with TaskGuest.of(alone_portal) as guest:
        yield guest


async def asked(
    guest: TaskGuest, method: str, path: str, status: int, **query: Any
) -> dict[str, Any]:
    answer = await guest.http.request(method, f"/api/v1/{path}", params=query)
    assert answer.status_code == status, answer.text
    return answer.json() if answer.text else {}


async def retried(guest: TaskGuest, run: str) -> Told:
    return await asked(guest, "POST", f"task-runs/{run}/retry", 201)


async def refused(guest: TaskGuest, run: str, verb: str = "retry") -> str:
    return (await asked(guest, "POST", f"task-runs/{run}/{verb}", 409))["detail"]


async def test_lists_show_one_row_the_task(guest: TaskGuest) -> None:
    run = await guest.run("yes")
    view = await guest.over(run)
    assert (view["state"], view["run"], view["path"]) == ("succeeded", None, None)
    job = await JobGuest(guest.http, guest.portal).run("job")
    ended = await JobGuest(guest.http, guest.portal).over(job["id"])
    part = ended["works"][0]["task_run"]
    listed = (await asked(guest, "GET", "task-runs", 200, alone=True))["items"]
    assert run in [one["id"] for one in listed]
    assert part not in [one["id"] for one in listed]
    assert part in [one["id"] for one in (await asked(guest, "GET", "task-runs", 200))["items"]]
    runs = (await asked(guest, "GET", "runs", 200))["items"]
    assert {one["job"] for one in runs} == {"job"}
    jobs = (await asked(guest, "GET", "jobs", 200))["items"]
    assert [one["stats"]["last"]["run"] for one in jobs] == [job["id"]]
    for more, count in (({"text": "YES"}, 1), ({"text": "nobody"}, 0), ({"model": "other"}, 0)):
        found = await asked(guest, "GET", "task-runs", 200, alone=True, **more)
        assert len([one for one in found["items"] if one["id"] == run]) == count


async def test_no_call_for_jobs_knows_the_run_around_a_task(guest: TaskGuest) -> None:
    run = await guest.run("slow")
    around = (await guest.show_run(run))["own_run"]
    for method, path in (
        ("GET", around),
        ("GET", f"{around}/job"),
        ("GET", f"{around}/events"),
        ("GET", f"{around}/export"),
        ("POST", f"{around}/stop"),
        ("POST", f"{around}/retry"),
        ("POST", f"{around}/again"),
        ("DELETE", around),
    ):
        await asked(guest, method, f"runs/{path}", 404)
    await asked(guest, "GET", f"runs/{around}/digest", 404, seq=1)
    assert await guest.seed(f"copilot/job/{around}/live") == {"error": "JobNotFound"}
    assert await guest.seed(f"copilot/job/{around}/stop") == {"error": "JobNotFound"}
    assert (await guest.show_run(run))["state"] == "running"
    assert await guest.task_stop(run) == {"result": "Closed"}
    view = await guest.show_run(run)
    assert (view["state"], view["reason"]) == ("canceled", "Stopped by owner.")


async def test_what_failed_or_was_stopped_is_retried_as_a_task_run_of_its_own(
    guest: TaskGuest,
) -> None:
    first = await guest.over(await guest.run("input", input="this"))
    assert (first["state"], await refused(guest, first["id"])) == (
        "succeeded",
        "The run is succeeded. You can retry only a run that failed or was stopped.",
    )
    failed = await guest.over(await guest.run("no"))
    again = await retried(guest, failed["id"])
    assert again["id"] != failed["id"]
    assert (again["task"], again["own_run"]) == ("no", failed["own_run"])
    assert (await guest.over(again["id"]))["state"] == "failed"
    assert await guest.show_run(failed["id"]) == failed, "the first try stays as it was"
    slow = await guest.run("slow")
    await guest.under_way(slow)
    assert "running" in await refused(guest, slow)
    await guest.stop_run(slow)
    again = await retried(guest, slow)
    await guest.under_way(again["id"])
    assert "running" in await refused(guest, slow)
    assert (await guest.stop_run(again["id"]))["state"] == "canceled"


async def test_a_retry_is_refused_where_it_cannot_be(guest: TaskGuest) -> None:
    lent = await guest.open(model="driver")
    borrowed = await guest.over(await guest.run("no", session=lent))
    again = await retried(guest, borrowed["id"])
    assert ((await guest.over(again["id"]))["session"], again["cwd"]) == (lent, borrowed["cwd"])
    await guest.do(lent, "close")
    assert "is not open" in await refused(guest, borrowed["id"])
    jobs = JobGuest(guest.http, guest.portal)
    ended = await jobs.over((await jobs.run("job"))["id"])
    assert await refused(guest, ended["works"][0]["task_run"]) == (
        f"The task belongs to the run {ended['id']}. Retry the run instead."
    )
    await asked(guest, "POST", "task-runs/tsk_nobody/retry", 404)


async def test_a_task_is_exported_with_its_sessions(guest: TaskGuest) -> None:
    run = await guest.run("yes")
    await guest.over(run)
    path = f"/api/v1/task-runs/{run}/export"
    for form, words in (("markdown", "Session on driver"), ("jsonl", '"session":{"id":"ses_')):
        answer = await guest.http.get(path, params={"format": form})
        assert answer.status_code == 200
        assert f"yes-{run}." in answer.headers["content-disposition"]
        assert words in answer.text
        assert "Say yes." in answer.text


def streams(folder: Path, around: str) -> int:
    with closing(sqlite3.connect(folder / "airboss.sqlite")) as database:
        row = "SELECT count(*) FROM events WHERE stream = ?"
        found = database.execute(row, (around,)).fetchone()[0]
    with closing(sqlite3.connect(folder / "engine.sqlite")) as database:
        row = "SELECT count(*) FROM workflow_status WHERE workflow_uuid LIKE ? || '%'"
        return found + database.execute(row, (around,)).fetchone()[0]


async def test_a_task_is_deleted_for_good_with_the_run_around_it(guest: TaskGuest) -> None:
    run = await guest.run("slow")
    session = await guest.under_way(run)
    await asked(guest, "DELETE", f"task-runs/{run}", 409)
    around = (await guest.stop_run(run))["own_run"]
    assert await asyncio.to_thread(streams, guest.portal.data, around) > 0
    await asked(guest, "DELETE", f"task-runs/{run}", 204)
    for path in (f"task-runs/{run}", f"sessions/{session}"):
        await asked(guest, "GET", path, 404)
    assert await asyncio.to_thread(streams, guest.portal.data, around) == 0
    jobs = JobGuest(guest.http, guest.portal)
    ended = await jobs.over((await jobs.run("job"))["id"])
    await asked(guest, "DELETE", f"task-runs/{ended['works'][0]['task_run']}", 409)
