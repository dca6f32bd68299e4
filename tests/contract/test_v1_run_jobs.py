"""A run keeps its own job and chart, whatever entry is in use by now; and its page is compared."""

from collections.abc import AsyncGenerator, Iterator

import pytest

from airboss.model.states import STATES
from tests.contract.guest import kinds
from tests.contract.job_guest import JobGuest, entry_of, job_portal_in, par, ref, seq
from tests.contract.stories import told
from tests.contract.test_v1_sessions import refused
from tests.portal import Portal


@pytest.fixture(scope="module")
def job_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with job_portal_in(tmp_path_factory.mktemp("run-jobs")).serving() as portal:
        yield portal


@pytest.fixture
async def guest(job_portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(job_portal) as guest:
        yield guest


async def test_a_run_shows_its_job_as_it_was_when_it_began(guest: JobGuest) -> None:
    await guest.install(entry_of({"job": seq(ref("yes"), ref("input"))}))
    run = (await guest.over((await guest.run("job", input="x"))["id"]))["id"]
    await guest.install(entry_of({"job": par(ref("yes"), ref("yes"))}))

    answer = await guest.http.get(f"/api/v1/runs/{run}/job")
    assert answer.status_code == 200
    told = answer.json()
    assert (told["name"], told["requireUserInput"]) == ("job", True)
    assert [work["taskId"] for work in told["work"]["works"]] == ["yes", "input"]
    assert told["chart"] == {
        "nodes": [
            {
                "id": 0,
                "hint": ["TaskNode", 0],
                "label": "yes (driving)",
                "arrows": [{"to": 1, "loopBack": False}],
            },
            {"id": 1, "hint": ["TaskNode", 1], "label": "input (driving)"},
        ]
    }
    [now] = (await guest.http.get("/api/v1/jobs")).json()["items"]
    assert now["chart"] != told["chart"]


async def test_a_run_that_is_not_there_has_no_job(guest: JobGuest) -> None:
    status, code, _ = await refused(guest, "GET", "runs/run_0/job")
    assert (status, code) == (404, "not_found")


async def test_as_of_every_event_of_a_run_both_come_to_the_same(guest: JobGuest) -> None:
    work = seq(par(ref("yes"), ref("yes")), ref("no"), ref("yes"))
    await guest.install(entry_of({"job": work}))
    run = (await guest.over((await guest.run("job"))["id"]))["id"]
    state = STATES["run"](run)
    events = await guest.run_events(run)
    assert kinds(events)[-1] == "run.ended"
    for one in events:
        answer = await guest.digest(f"runs/{run}", one["seq"], told(state, one))
        assert answer["same"] is True, one
