"""Tasks whose server is killed: the next one says that they have crashed, and nothing is left."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.contract.task_guest import TaskGuest, install_tasks
from tests.crash.marks import left_of, soon
from tests.crash.test_task_stopped import TASKS, nothing_is_open, outcome, portal_in
from tests.portal import Portal

ENDED = "The server ended while this task ran."


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Portal]:
    portal = portal_in(tmp_path)
    yield portal
    portal.stop()


async def after_the_kill(portal: Portal, run: str) -> None:
    """A new server says that the run has crashed, and nothing of it is left."""
    portal.kill()
    assert await asyncio.to_thread(soon, lambda: not left_of(portal)), left_of(portal)
    portal.start()
    await install_tasks(portal, TASKS)
    async with TaskGuest.of(portal) as guest:
        view = await guest.over(run)
        assert outcome(view) == ("crashed", ENDED)
        *_, error = await guest.drained(run)
        assert json.loads(error["taskError"]) == {"name": "ServerEnded", "message": ENDED}
        assert await guest.task_stop(run) == {"error": "TaskNotFound"}
        assert outcome(await guest.stop_run(run)) == ("crashed", ENDED)
        await nothing_is_open(guest)


async def test_a_killed_server_leaves_its_tasks_crashed_and_their_sessions_closed(
    own: Portal,
) -> None:
    for name, mission in (("ask before", 1), ("hold", 1), ("ask another", 2)):
        async with TaskGuest.of(own) as guest:
            run = await guest.run(name)
            session = await guest.under_way(run, mission)
        await after_the_kill(own, run)
        async with TaskGuest.of(own) as guest:
            assert (await guest.show(session))["state"] == "closed"
            answer = await guest.http.post(f"/api/v1/sessions/{session}/resume")
            assert answer.status_code == 409
            assert (await guest.over(await guest.run("work")))["state"] == "succeeded"


@pytest.mark.parametrize("queued", [False, True])
async def test_a_killed_server_leaves_a_persons_session_without_the_tasks_request(
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
    await after_the_kill(own, run)
    async with TaskGuest.of(own) as guest:
        view = await guest.show(lent)
        assert view["state"] == "interrupted"
        assert [waiting["prompt"] for waiting in view["queue"]] == [mine["prompt"]]
        await guest.do(lent, "resume")
        assert (await guest.until(lent, "idle"))["turns"] == 3


async def begin_in_vain(guest: TaskGuest) -> None:
    with contextlib.suppress(httpx2.HTTPError):
        await guest.run("work")


async def test_a_server_killed_at_any_moment_leaves_no_task_running(own: Portal) -> None:
    begun: list[str] = []
    for number in range(6):
        async with TaskGuest.of(own) as guest:
            begun += [await guest.run("again in turns"), await guest.run("work")]
            async with asyncio.TaskGroup() as group:
                group.create_task(begin_in_vain(guest))
                await asyncio.sleep(number * 0.09)
                own.kill()
        own.start()
        await install_tasks(own, TASKS)
        async with TaskGuest.of(own) as guest:
            await nothing_is_open(guest)
            for run in begun[-2:]:
                assert (await guest.over(run))["state"] in ("crashed", "succeeded")
                last = (await guest.drained(run))[-1]
                assert "taskError" in last or last == {"callback": "taskSucceeded"}
    assert await asyncio.to_thread(soon, lambda: len(left_of(own)) <= 1), left_of(own)
