"""Runs that wait for a person: whatever ends meanwhile, they wait on, and nobody decides twice."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.conftest import MakePortal
from tests.crash.person import Person, person_at

pytestmark = pytest.mark.timeout(120)

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "build"
    steps:
      - call: {tool: bash, arguments: {command: "echo one >> {cwd}/done.txt", description: "1"}}
      - call: {tool: bash, arguments: {command: "echo two >> {cwd}/done.txt", description: "2"}}
      - call: {tool: ask_user, arguments: {question: "Which colour?", choices: [red, blue]}}
      - call: {tool: create, arguments: {path: "{cwd}/three.txt", file_text: "three"}}
      - say: "Built."
  - when: "touch"
    steps:
      - call: {tool: bash, arguments: {command: "touch {cwd}/touched", description: "t"}}
      - say: "Touched."
  - when: "quick"
    steps: [{say: "Quick."}]
  - when: "long"
    steps: [{sleep: 60}]
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        name: {
            "model": {"category": "driving"},
            "prompt": [f"{name} it"],
            "requireUserInput": False,
        }
        for name in ("build", "touch", "quick", "long")
    },
    "jobs": {
        "ship": {"work": {"kind": "Ref", "taskId": "build"}},
        "touch": {"work": {"kind": "Ref", "taskId": "touch"}},
        "quick": {"work": {"kind": "Ref", "taskId": "quick"}},
    },
    "grid": [],
}


@pytest.fixture
async def person(make_portal: MakePortal, tmp_path: Path) -> AsyncGenerator[Person]:
    async with person_at(make_portal, tmp_path, ENTRY, SCRIPT, "ask") as person:
        yield person


def lines(folder: Path) -> list[str]:
    file = folder / "done.txt"
    return file.read_text("utf-8").split() if file.exists() else []


async def test_three_approvals_and_an_answer_with_the_server_killed_between_each(
    person: Person,
) -> None:
    run = await person.start("ship")
    seen: list[str] = []
    for _ in range(4):
        item = (await person.items())[0]
        view = await person.until(run, "waiting-for-person")
        assert item["run"] == run
        assert view["waits_for"].startswith("your ")
        await asyncio.sleep(1)  # what the runtime had not written down yet is another story
        await person.kill()
        assert [one["id"] for one in await person.items()] == [item["id"]]
        seen.append(item["id"])
        await person.say(item)
    await person.until(run, "succeeded")
    assert len({*seen}) == 4
    assert lines(person.portal.work) == ["one", "two"]
    assert (person.portal.work / "three.txt").exists()
    assert await person.items(0) == []
    work = (await person.run(run))["works"][0]
    told = [one["event"] for one in await person.events("task-runs", work["task_run"])]
    sent = [event for event in told if event["kind"] == "task.mission.sent"]
    assert len(sent) == 1, "the one attempt goes on"


async def test_a_run_that_waits_for_a_person_holds_no_place(person: Person) -> None:
    waiting = await person.start("touch")
    item = (await person.items())[0]
    await person.until(waiting, "waiting-for-person")
    for _ in range(2):
        await person.until(await person.start("quick"), "succeeded")
    await person.kill()
    await person.until(await person.start("quick"), "succeeded")
    assert (await person.run(waiting))["state"] == "waiting-for-person"
    await person.say(item)
    await person.until(waiting, "succeeded")
    assert (person.portal.work / "touched").exists()


async def test_what_was_decided_a_moment_before_the_end_is_not_asked_again(
    person: Person,
) -> None:
    """Also where the runtime lost the request, and the prompt is sent again."""
    run = await person.start("touch")
    item = (await person.items())[0]
    await person.say(item)
    await person.kill()
    await person.until(run, "succeeded")
    work = (await person.run(run))["works"][0]
    told = [one["event"] for one in await person.events("task-runs", work["task_run"])]
    sessions = [one["session"] for one in told if one["kind"] == "task.session.started"]
    asked = [
        one["event"]["item"]
        for session in sessions
        for one in await person.events("sessions", session)
        if one["event"]["kind"] == "approval.asked"
    ]
    assert asked == [item["id"]]
    assert (person.portal.work / "touched").exists()


async def test_a_decision_on_a_run_whose_server_has_just_begun_counts(person: Person) -> None:
    run = await person.start("touch")
    item = (await person.items())[0]
    await asyncio.sleep(1)
    await person.kill()
    await person.say(item)
    await person.until(run, "succeeded")
    assert (person.portal.work / "touched").exists()


async def test_a_server_that_is_stopped_leaves_what_a_run_asked_as_it_is(person: Person) -> None:
    run = await person.start("touch")
    items = await person.items()
    await asyncio.sleep(1)
    await person.close()
    await asyncio.to_thread(person.portal.stop)
    await asyncio.to_thread(person.portal.start)
    assert await person.items() == items
    await person.say(items[0])
    await person.until(run, "succeeded")
    assert (person.portal.work / "touched").exists()


async def test_a_run_that_waits_for_a_person_is_stopped_like_any_other(person: Person) -> None:
    run = await person.start("touch")
    item = (await person.items())[0]
    await person.client.post(f"/api/v1/runs/{run}/stop")
    await person.until(run, "canceled")
    assert await person.items(0) == []
    answer = await person.client.post(
        f"/api/v1/inbox/{item['id']}/decision", json={"choice": "allow-once"}
    )
    assert answer.status_code == 409
    assert not (person.portal.work / "touched").exists()


async def test_a_runtime_that_dies_while_a_person_is_waited_for_changes_nothing(
    person: Person,
) -> None:
    run = await person.start("touch")
    item = (await person.items())[0]
    await asyncio.sleep(1)
    pid = (await person.client.get("/api/v1/status")).json()["runtime"]["pid"]
    os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(3)
    assert [one["id"] for one in await person.items()] == [item["id"]]
    await person.say(item)
    await person.until(run, "succeeded")
    assert (person.portal.work / "touched").exists()
