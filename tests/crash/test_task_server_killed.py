"""Tasks by themselves whose server is killed: they go on, or fail with the session lent to them."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.contract.guest import Told, kinds
from tests.contract.task_guest import TaskGuest, install_tasks
from tests.crash.marks import left_of, soon
from tests.crash.test_task_stopped import TASKS, nothing_is_open, outcome, portal_in
from tests.portal import Portal
from tests.trials import sampled, share, trial

RESTARTED = "The server was restarted while the session worked on this."


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Portal]:
    portal = portal_in(tmp_path)
    yield portal
    portal.stop()


async def kill(portal: Portal) -> None:
    """Nothing that it had started is left; then another one comes in its place."""
    portal.kill()
    assert await asyncio.to_thread(soon, lambda: not left_of(portal)), left_of(portal)
    portal.start()


async def events(guest: TaskGuest, run: str) -> list[Told]:
    return (await guest.run_page(run, limit=1000))["items"]


@pytest.mark.parametrize(
    ("name", "mission"),
    sampled(2, [("hold", 1), ("ask another", 2), ("ask before", 1), ("ask after", 2)]),
)
async def test_a_task_on_sessions_of_its_own_goes_on(own: Portal, name: str, mission: int) -> None:
    async with TaskGuest.of(own) as guest:
        run = await guest.run(name)
        await guest.under_way(run, mission)
        before = await events(guest, run)
    await kill(own)
    async with TaskGuest.of(own) as guest:
        view = await guest.over(run)
        assert view["state"] == "succeeded"
        told = await events(guest, run)
        assert told[: len(before)] == before
        for kind in ("task.accepted", "task.ended"):
            assert kinds(told).count(kind) == 1
        restarted = [one["reason"] for one in view["attempts"] if one["outcome"] == "crashed"]
        assert restarted == [RESTARTED], "only what was cut off is asked again"
        assert (await guest.drained(run))[-1] == {"callback": "taskSucceeded"}
        await nothing_is_open(guest)


async def test_what_a_killed_server_had_done_is_told_with_the_retry(own: Portal) -> None:
    async with TaskGuest.of(own) as guest:
        run = await guest.run("change")
        await guest.under_way(run)
    await kill(own)
    async with TaskGuest.of(own) as guest:
        view = await guest.over(run)
        crashed, done = view["attempts"]
        assert (crashed["outcome"], crashed["effects"]) == ("crashed", ["bash"])
        assert (done["outcome"], done["effects"]) == ("done", None)
        said = [told["text"] for told in view["decisions"] if "CRASHED" in told["text"]]
        assert len(said) == 1
        assert said[0].endswith("A retry is not safe: it had used bash, and may do so again.")
        told = await guest.events(crashed["session"])
        [ended] = [one["event"] for one in told if one["event"]["kind"] == "turn.ended"]
        assert (ended["outcome"], ended["replay_safe"]) == ("interrupted", False)
        assert ended["effects"] == ["bash"]


@pytest.mark.parametrize("queued", [False, True])
async def test_a_task_in_a_lent_session_fails_with_it_and_leaves_it_to_its_person(
    own: Portal, queued: bool
) -> None:
    async with TaskGuest.of(own) as guest:
        lent = await guest.open(model="coder")
        await guest.turn(lent, "Say something.")
        await asyncio.sleep(1)  # the runtime writes a new session down a little later
        if queued:
            await guest.prompt(lent, "HOLD a person's own.")
        run = await guest.run("hold", session=lent)
        if queued:
            await guest.run_event(run, "task.mission.sent")
        else:
            await guest.under_way(run)
        mine = await guest.prompt(lent, "Say more.")
    await kill(own)
    async with TaskGuest.of(own) as guest:
        view = await guest.over(run)
        assert outcome(view) == ("failed", f"The borrowed session crashed: {RESTARTED}")
        assert (await guest.drained(run))[-1] == {"callback": "taskFailed"}
        view = await guest.show(lent)
        assert view["state"] == "interrupted"
        assert [waiting["prompt"] for waiting in view["queue"]] == [mine["prompt"]]
        await guest.do(lent, "resume")
        assert (await guest.until(lent, "idle"))["turns"] == 3


async def test_a_task_that_goes_on_is_stopped_like_any_other(own: Portal) -> None:
    async with TaskGuest.of(own) as guest:
        run = await guest.run("again in turns")
        await guest.under_way(run, 3)
    await kill(own)
    async with TaskGuest.of(own) as guest:
        assert outcome(await guest.stop_run(run)) == ("canceled", "Stopped by owner.")
        await nothing_is_open(guest)
    await kill(own)
    async with TaskGuest.of(own) as guest:
        assert (await guest.show_run(run))["state"] == "canceled", "a stop is for good"
        await nothing_is_open(guest)


async def begin_in_vain(guest: TaskGuest) -> None:
    with contextlib.suppress(httpx2.HTTPError):
        await guest.run("work")


@trial
async def test_a_server_killed_at_any_moment_loses_no_task(own: Portal) -> None:
    for number in range(0, 6, share(2, 1)):
        async with TaskGuest.of(own) as guest:
            begun = [await guest.run("work"), await guest.run("work")]
            async with asyncio.TaskGroup() as group:
                group.create_task(begin_in_vain(guest))
                await asyncio.sleep(number * 0.09)
                own.kill()
        own.start()
        async with TaskGuest.of(own) as guest:
            for run in begun:
                assert (await guest.over(run))["state"] == "succeeded"
                assert (await guest.drained(run))[-1] == {"callback": "taskSucceeded"}
            listed = (await guest.http.get("/api/v1/task-runs?limit=100")).json()["items"]
            for view in listed:  # also one that nobody was told of
                assert (await guest.over(view["id"]))["state"] == "succeeded"
            await nothing_is_open(guest)
        await install_tasks(own, TASKS)
