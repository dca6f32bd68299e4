"""A run that crashes by a fault of ours, such as a disk that is full: told, and all of it ended."""

import asyncio
import json
import os
import resource
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import psutil
import pytest

from tests.contract.guest import kinds, only
from tests.contract.job_guest import JobGuest, par, ref, seq
from tests.crash.marks import running, soon
from tests.crash.test_runs_stopped import all_of, nothing_works, portal_in
from tests.portal import Portal
from tests.service.errands import entry, task

LONG = f"sleep 7{os.getpid()}.5"
TASKS: dict[str, Any] = {
    "work": task("Work."),
    "always": task("HOLD ALWAYS."),
    "moment": task("Run: sleep 1.5"),
    "long": task(f"Run: {LONG}"),
}
WORKS = par(ref("always"), seq(ref("moment"), ref("work")), ref("long"))
ENTRY = entry(TASKS, jobs={"job": {"work": WORKS}, "work": {"work": ref("work")}})


@pytest.fixture
def own(tmp_path: Any) -> Generator[Portal]:
    portal = portal_in(tmp_path)
    yield portal
    portal.stop()


@contextmanager
def full_disk(portal: Portal) -> Generator[None]:
    """The server may not make any file larger than it is."""
    server = psutil.Process(portal.pid)
    before = server.rlimit(resource.RLIMIT_FSIZE)
    server.rlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        with suppress(psutil.NoSuchProcess):
            server.rlimit(resource.RLIMIT_FSIZE, before)


async def test_a_disk_that_fills_up_fails_the_run_and_ends_all_that_works_in_it(
    own: Portal,
) -> None:
    async with JobGuest.of(own) as guest:
        await guest.install(ENTRY)
        run = (await guest.run("job"))["id"]
        await guest.at_work(run, 3)
        assert await asyncio.to_thread(soon, lambda: running(LONG), 10)
        with full_disk(own):
            assert await asyncio.to_thread(soon, lambda: not running(LONG), 10)
            answer = await guest.http.post("/api/v1/runs", json={"job": "work"})
            assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        view = await guest.over(run)
        assert view["state"] == "failed"
        assert view["reason"].startswith("A task crashed: ")
        told = await guest.run_events(run)
        ends = [kind for kind in kinds(told) if kind != "run.work.cut"]
        assert ends[-3:] == ["run.error", "run.ending", "run.ended"]
        [error] = only("run.error", told)
        assert error["name"] == "StoreUnavailable"
        heard = await guest.hear_job(run)
        [said] = [json.loads(one["jobError"]) for one in heard if "jobError" in one]
        assert said["message"] == error["message"]
        assert heard[-2] == {"callback": "jobFailed"}
        found = await nothing_works(guest, run)
        states = {one["path"]: one["state"] for one in found.values() if "path" in one}
        assert states == {"0.0": "canceled", "0.1.0": "crashed", "0.2": "canceled"}
        await asyncio.sleep(0.5)
        assert await all_of(guest, run) == found
        again = (await guest.run("work"))["id"]
        assert (await guest.over(again))["state"] == "succeeded"
    own.kill()
    await asyncio.to_thread(own.start)
    async with JobGuest.of(own) as guest:
        assert await all_of(guest, run) == found, "nothing brings it back"


async def test_a_server_that_ends_before_it_could_say_so_goes_on_with_the_run(
    own: Portal,
) -> None:
    """What nobody was told has not happened: there is no run without an end or an owner."""
    async with JobGuest.of(own) as guest:
        await guest.install(ENTRY)
        run = (await guest.run("job"))["id"]
        await guest.at_work(run, 3)
        assert await asyncio.to_thread(soon, lambda: running(LONG), 10)
        with full_disk(own):
            assert await asyncio.to_thread(soon, lambda: not running(LONG), 10)
            own.kill()
    await asyncio.to_thread(own.start)
    async with JobGuest.of(own) as guest:
        await guest.until_run(run, lambda view: view["restarts"] == 1)
        await guest.at_work(run, 2)
        assert (await guest.do_run(run, "stop"))["state"] == "canceled"
        await nothing_works(guest, run)
