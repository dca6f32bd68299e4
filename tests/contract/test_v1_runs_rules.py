"""What holds for all runs of a server: how many work at once, their entry, what they may do."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.contract.guest import Told, only
from tests.contract.job_guest import SCRIPT, JobGuest, entry_of, job_portal_in, par, ref, seq, task
from tests.portal import Portal

YES, SLOW, MOMENT = ref("yes"), ref("slow"), ref("moment")
JOBS = {
    "yes": YES,
    "slow": SLOW,
    "moments": seq(MOMENT, YES),
    "both": par(SLOW, SLOW),
    "ten": par(*[SLOW] * 10),
}
ONE_PLACE = "a free place: 1 of 1 agents of jobs are at work"
MakePortal: TypeAlias = Callable[..., Portal]


@pytest.fixture
def make_portal(tmp_path: Path) -> Iterator[MakePortal]:
    """Portals of a test's own."""
    made: list[Portal] = []

    def make(*options: str, portal: Portal | None = None) -> Portal:
        made.append(portal or job_portal_in(tmp_path, *options))
        made[-1].start()
        return made[-1]

    yield make
    for portal in made:
        portal.stop()


@asynccontextmanager
async def served(portal: Portal) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(portal) as guest:
        await guest.install(entry_of(JOBS))
        yield guest


async def begun(guest: JobGuest, job: str) -> str:
    return (await guest.run(job))["id"]


async def waiting(guest: JobGuest, run: str) -> Told:
    return await guest.until_run(run, lambda view: view["waits_for"] == ONE_PLACE)


async def went_at(guest: JobGuest, run: str) -> int:
    told = await guest.run_events(run)
    [at] = [one["at"] for one in told if one["event"]["kind"] == "run.work.going"]
    return at


# What a run is called.


async def test_a_run_is_called_as_its_job_was_in_the_grid(make_portal: MakePortal) -> None:
    async with JobGuest.of(make_portal()) as guest:
        cell = {"name": "Say yes once", "jobName": "yes"}
        again = {"name": "Say it again", "jobName": "yes"}
        grid = [{"keyword": "Say", "jobs": [None, cell, again]}]
        await guest.install(entry_of(JOBS) | {"grid": grid})
        first, other = await begun(guest, "yes"), await begun(guest, "moments")
        for run, title in ((first, "Say yes once"), (other, "")):
            assert (await guest.over(run))["title"] == title
        found = await guest.http.get("/api/v1/runs", params={"text": "yes ONCE"})
        assert [view["id"] for view in found.json()["items"]] == [first]
        # It keeps that name, whatever the grid says later.
        await guest.install(entry_of(JOBS))
        assert (await guest.show_run(first))["title"] == "Say yes once"


# So many at once.


async def test_ten_branches_work_at_once_where_nobody_says_otherwise(
    make_portal: MakePortal,
) -> None:
    async with served(make_portal()) as guest:
        run = await begun(guest, "ten")
        assert len(await guest.at_work(run, 10)) == 10
        assert only("run.work.waiting", await guest.run_events(run)) == []
        await guest.do_run(run, "stop")


async def test_a_run_without_a_place_waits_says_so_and_goes_in_its_turn(
    make_portal: MakePortal,
) -> None:
    async with served(make_portal("--max-tasks", "1")) as guest:
        first = await begun(guest, "slow")
        await guest.at_work(first)
        second, third, fourth = [await begun(guest, "yes") for _ in range(3)]
        for run in (second, third, fourth):
            view = await waiting(guest, run)
            assert view["state"] == "waiting"
            [work] = view["works"]
            assert (work["state"], work["waits_for"]) == ("waiting", ONE_PLACE)
        listed = (await guest.http.get("/api/v1/runs?state=waiting")).json()["items"]
        assert {view["id"] for view in listed} == {second, third, fourth}

        # People who chat take no place.
        session = await guest.open(model="driver")
        await guest.turn(session, "Say something.")

        # Who waits can be stopped: the run, and the task alone.
        assert (await guest.do_run(third, "stop"))["state"] == "canceled"
        [work] = (await guest.show_run(fourth))["works"]
        answer = await guest.http.post(f"/api/v1/task-runs/{work['task_run']}/stop")
        assert (answer.json()["state"], answer.json()["reason"]) == ("failed", "Stopped by owner.")
        assert (await guest.over(fourth))["state"] == "failed"

        assert (await guest.do_run(first, "stop"))["state"] == "canceled"
        view = await guest.over(second)
        assert (view["state"], view["waits_for"]) == ("succeeded", None)
        told = await guest.run_events(second)
        assert [one["reason"] for one in only("run.work.waiting", told)] == [ONE_PLACE]
        assert only("run.work.going", told) == [{"kind": "run.work.going", "path": "0"}]


async def test_who_waited_first_goes_first_also_after_a_restart(make_portal: MakePortal) -> None:
    portal = make_portal("--max-tasks", "1")
    async with served(portal) as guest:
        first = await begun(guest, "moments")
        await guest.at_work(first)
        runs: list[str] = []
        for _ in range(3):
            runs.append(await begun(guest, "yes"))
            await waiting(guest, runs[-1])
    portal.kill()
    await asyncio.to_thread(portal.start)
    async with JobGuest.of(portal) as guest:
        views = [await guest.over(run) for run in (first, *runs)]
        assert [view["state"] for view in views] == ["succeeded"] * 4
        assert [view["restarts"] for view in views] == [1] * 4
        ends = [view["ended_at"] for view in views[1:]]
        assert ends == sorted(ends)


async def test_a_run_waits_when_all_of_it_waits_only(make_portal: MakePortal) -> None:
    async with served(make_portal("--max-tasks", "1")) as guest:
        run = await begun(guest, "both")
        await guest.at_work(run)
        view = await guest.until_run(run, lambda view: any(w["waits_for"] for w in view["works"]))
        assert {work["state"] for work in view["works"]} == {"running", "waiting"}
        assert (view["state"], view["waits_for"]) == ("running", None)
        await guest.do_run(run, "stop")


# The entry.


def portal_with(folder: Path, entry: Any, *options: str) -> Portal:
    file = folder / "mine.json"
    file.write_text(json.dumps(entry), "utf-8")
    return Portal(folder, ("--entry", str(file), *options), SCRIPT)


async def test_a_run_keeps_its_entry_whatever_happens_to_the_file(
    make_portal: MakePortal, tmp_path: Path
) -> None:
    entry = entry_of({"job": seq(MOMENT, YES)})
    portal = make_portal(portal=portal_with(tmp_path, entry))
    async with JobGuest.of(portal) as guest:
        run = await begun(guest, "job")
        await guest.at_work(run)
        other = entry_of({"job": seq(MOMENT, ref("no"), YES)}, yes=task("Say no, from now on."))
        portal_with(tmp_path, other)
    portal.kill()
    await asyncio.to_thread(portal.start)
    async with JobGuest.of(portal) as guest:
        new = await begun(guest, "job")
        view, later = await guest.over(run), await guest.over(new)
        assert (view["state"], view["works_succeeded"]) == ("succeeded", 2)
        shown = await guest.task_run(view["works"][1]["task_run"])
        assert (shown["attempts"][0]["text"], shown["entry"]) == ("Say yes.", view["entry"])
        assert (later["state"], later["entry"] != view["entry"]) == ("failed", True)


async def test_a_job_has_the_wider_policy_of_its_entry_once_that_is_trusted_only(
    make_portal: MakePortal, tmp_path: Path
) -> None:
    wide = task("Say yes.", permissions="approve-all")
    narrow = task("Say yes.", permissions="deny-all")
    jobs = {"job": seq(ref("wide"), ref("narrow"), YES)}
    portal = make_portal(portal=portal_with(tmp_path, entry_of(jobs, wide=wide, narrow=narrow)))

    async def policies() -> list[str]:
        view = await guest.over(await begun(guest, "job"))
        assert view["state"] == "succeeded"
        tasks = [work["task_run"] for work in view["works"]]
        sessions = {one["who"]: one["policy"] for one in await guest.sessions_of(*tasks)}
        granted = [(await guest.task_run(one))["policy"] for one in tasks]
        assert granted == [sessions[f"task {one}"] for one in tasks]
        return granted

    async with JobGuest.of(portal) as guest:
        assert await policies() == ["read-only", "deny-all", "read-only"]
        file = tmp_path / "mine.json"
        asked_for = {"path": str(file), "digest": sha256(file.read_bytes()).hexdigest()}
        answer = await guest.http.post("/api/v1/trust", json=asked_for)
        assert answer.is_success, answer.text
        assert await policies() == ["approve-all", "deny-all", "read-only"]


# The folder.


async def test_a_run_whose_folder_is_gone_fails_by_its_rules_and_is_retried_later(
    make_portal: MakePortal,
) -> None:
    async with served(make_portal()) as guest:
        folder = guest.portal.work / "soon gone"
        folder.mkdir()
        run = (await guest.run("moments", cwd=str(folder)))["id"]
        await guest.at_work(run)
        folder.rename(folder.with_name("gone"))
        view = await guest.over(run)
        assert (view["state"], view["reason"]) == ("failed", "A task failed.")
        assert [work["state"] for work in view["works"]] == ["succeeded", "failed"]
        shown = await guest.task_run(view["works"][1]["task_run"])
        assert "does not exist" in shown["reason"]
        folder.mkdir()
        await guest.do_run(run, "retry")
        assert (await guest.over(run))["state"] == "succeeded"
