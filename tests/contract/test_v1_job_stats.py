"""How the runs of a job went, told with the list of jobs."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from statistics import median
from typing import Any

import pytest

from tests.contract.guest import Told
from tests.contract.job_guest import JobGuest, entry_of, job_portal_in, ref, task
from tests.portal import Portal

JOBS: dict[str, Any] = {
    "yes": ref("yes"),
    "no": ref("no"),
    "slow": ref("slow"),
    "asks": ref("asks"),
    "never": ref("yes"),
}
NOTHING = {
    "last": None,
    "usual_ms": None,
    "usual_requests": None,
    "running": 0,
    "waiting_for_person": 0,
}


@pytest.fixture(scope="module")
def job_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = job_portal_in(tmp_path_factory.mktemp("stats"))
    portal.start()
    asyncio.run(install(portal))
    yield portal
    portal.stop()


async def install(portal: Portal) -> None:
    async with JobGuest.of(portal) as guest:
        await guest.install(entry_of(JOBS, asks=task("Run for long.", permissions="ask")))


@pytest.fixture
async def guest(job_portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(job_portal) as guest:
        yield guest


async def stats(guest: JobGuest) -> dict[str, Told]:
    answer = await guest.http.get("/api/v1/jobs")
    assert answer.status_code == 200, answer.text
    return {job["name"]: job["stats"] for job in answer.json()["items"]}


async def test_a_job_tells_its_last_outcome_and_what_is_usual(guest: JobGuest) -> None:
    assert (await stats(guest))["yes"] == NOTHING
    runs = [await guest.over((await guest.run("yes"))["id"]) for _ in range(3)]
    failed = await guest.over((await guest.run("no"))["id"])
    told = await stats(guest)
    assert told["yes"] == {
        "last": {"run": runs[-1]["id"], "state": "succeeded", "at": runs[-1]["ended_at"]},
        "usual_ms": round(median(run["usage"]["milliseconds"] for run in runs)),
        "usual_requests": runs[0]["usage"]["requests"],
        "running": 0,
        "waiting_for_person": 0,
    }
    last = {"run": failed["id"], "state": "failed", "at": failed["ended_at"]}
    assert told["no"] == NOTHING | {"last": last}
    assert told["never"] == NOTHING


async def test_a_job_tells_what_is_at_work_and_what_waits_for_a_person(guest: JobGuest) -> None:
    going = [(await guest.run("slow"))["id"] for _ in range(2)]
    asking = (await guest.run("asks"))["id"]
    await guest.until_run(asking, lambda view: view["state"] == "waiting-for-person")
    told = await stats(guest)
    assert (told["slow"]["running"], told["slow"]["waiting_for_person"]) == (2, 0)
    assert (told["asks"]["running"], told["asks"]["waiting_for_person"]) == (0, 1)
    for run in (*going, asking):
        await guest.do_run(run, "stop")
    told = await stats(guest)
    assert told["slow"]["last"]["state"] == told["asks"]["last"]["state"] == "canceled"
    assert (told["slow"]["running"], told["asks"]["waiting_for_person"]) == (0, 0)


async def test_the_list_of_seed_001_is_as_it_was(guest: JobGuest) -> None:
    listed = await guest.seed("copilot/job", method="GET")
    assert sorted(listed) == ["chart", "grid", "jobs"]
    assert all(sorted(job) == ["requireUserInput", "work"] for job in listed["jobs"].values())
