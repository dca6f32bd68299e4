"""Tasks by themselves that wait for a person: whatever ends meanwhile, they wait on."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.conftest import MakePortal
from tests.crash.person import Person, person_at
from tests.crash.test_runs_parked import ENTRY, SCRIPT, lines
from tests.pauses import pauses

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
async def person(make_portal: MakePortal, tmp_path: Path) -> AsyncGenerator[Person]:
    async with person_at(make_portal, tmp_path, ENTRY, SCRIPT, "ask") as person:
        yield person


async def start(person: Person, task: str, **more: Any) -> str:
    asked_for = (
        {"task": task, "cwd": str(person.portal.work)} if not more else {"task": task, **more}
    )
    answer = await person.client.post("/api/v1/task-runs", json=asked_for)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def show(person: Person, task: str) -> dict[str, Any]:
    return (await person.client.get(f"/api/v1/task-runs/{task}")).json()


async def until(person: Person, task: str, **told: Any) -> dict[str, Any]:
    async with asyncio.timeout(30):
        view = await show(person, task)
        pause = pauses()
        while any(view[name] != value for name, value in told.items()):
            await asyncio.sleep(next(pause))
            view = await show(person, task)
    return view


async def test_approvals_and_an_answer_with_the_server_killed_between_each(
    person: Person,
) -> None:
    task = await start(person, "build")
    seen: list[str] = []
    for _ in range(4):
        item = (await person.items())[0]
        assert (item["task_run"], item["run"]) == (task, None)
        view = await until(person, task, for_person=True)
        assert (view["state"], view["waits_for"][:5]) == ("running", "your ")
        await asyncio.sleep(1)  # what the runtime had not written down yet is another story
        await person.kill()
        assert [one["id"] for one in await person.items()] == [item["id"]]
        seen.append(item["id"])
        await person.say(item)
    view = await until(person, task, state="succeeded")
    assert len({*seen}) == 4
    assert lines(person.portal.work) == ["one", "two"]
    assert (person.portal.work / "three.txt").exists()
    assert await person.items(0) == []
    assert len(view["attempts"]) == 1, "the one attempt went on"
    assert (view["waits_for"], view["for_person"]) == (None, None)


async def test_a_runtime_that_dies_while_a_person_is_waited_for_changes_nothing(
    person: Person,
) -> None:
    task = await start(person, "touch")
    item = (await person.items())[0]
    await asyncio.sleep(1)
    pid = (await person.client.get("/api/v1/status")).json()["runtime"]["pid"]
    os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(3)
    assert [one["id"] for one in await person.items()] == [item["id"]]
    await person.say(item)
    await until(person, task, state="succeeded")
    assert (person.portal.work / "touched").exists()


async def test_a_task_holds_one_of_the_places_unless_it_waits_for_a_person(
    person: Person,
) -> None:
    """There is one place."""
    waiting = await start(person, "touch")
    item = (await person.items())[0]
    await until(person, waiting, for_person=True)
    for _ in range(2):
        await until(person, await start(person, "quick"), state="succeeded")
    busy = await start(person, "long")
    await until(person, busy, missions=1)
    third, run = await start(person, "quick"), await person.start("quick")
    full = "a free place: 1 of 1 agents of jobs are at work"
    view = await until(person, third, waits_for=full)
    assert (view["missions"], view["for_person"]) == (0, None)
    async with asyncio.timeout(20):  # it begins behind its answer
        while (await person.run(run))["waits_for"] != full:  # noqa: ASYNC110 - asked over HTTP
            await asyncio.sleep(0.05)
    answer = await person.client.post("/api/v1/sessions", json={})
    lent = answer.json()["id"]
    await until(person, await start(person, "quick", session=lent), state="succeeded")
    await person.client.post(f"/api/v1/task-runs/{busy}/stop")
    await until(person, third, state="succeeded")
    await person.until(run, "succeeded")
    await person.say(item)
    await until(person, waiting, state="succeeded")


async def test_a_task_that_waits_for_a_person_is_stopped_and_asks_no_more(
    person: Person,
) -> None:
    task = await start(person, "touch")
    item = (await person.items())[0]
    await asyncio.sleep(1)
    await person.kill()
    assert [one["id"] for one in await person.items()] == [item["id"]]
    answer = await person.client.post(f"/api/v1/task-runs/{task}/stop")
    assert (answer.json()["state"], answer.json()["reason"]) == ("canceled", "Stopped by owner.")
    assert await person.items(0) == []
    assert not (person.portal.work / "touched").exists()
