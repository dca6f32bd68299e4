"""Work that crashed after it had effects, where the entry says `onUnsafeRetry`: real kills."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.conftest import MakePortal
from tests.crash.person import Person, person_at
from tests.portal import Portal

pytestmark = pytest.mark.timeout(120)

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "^The session crashed"
    steps: [{say: "Over."}]
  - when: "deploy"
    steps:
      - call: {tool: bash, arguments: {command: "echo x >> {cwd}/done.txt", description: "d"}}
      - call: {tool: bash, arguments: {command: "sleep 60", description: "hold"}}
      - say: "Over."
"""
USED = "- bash: echo x >> "


def given(word: str) -> dict[str, Any]:
    return {
        "model": {"category": "driving"},
        "prompt": ["deploy"],
        "requireUserInput": False,
        "onUnsafeRetry": word,
    }


ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {word: given(word) for word in ("ask", "fail")},
    "jobs": {word: {"work": {"kind": "Ref", "taskId": word}} for word in ("ask", "fail")},
    "grid": [],
}


@pytest.fixture
async def person(make_portal: MakePortal, tmp_path: Path) -> AsyncGenerator[Person]:
    async with person_at(make_portal, tmp_path, ENTRY, SCRIPT, "approve-all") as person:
        yield person


async def deployed(portal: Portal, times: int) -> None:
    """In the middle of the turn, behind so many deployments in all."""
    file = portal.work / "done.txt"
    async with asyncio.timeout(30):
        done = ""
        while done.count("x") < times:
            await asyncio.sleep(0.02)
            done = file.read_text("utf-8") if file.exists() else ""


async def kill_runtime(person: Person) -> None:
    status = (await person.client.get("/api/v1/status")).json()
    os.kill(status["runtime"]["pid"], signal.SIGKILL)


async def reason_of(person: Person, run: str) -> str:
    """Why its one task failed."""
    task_run = (await person.run(run))["works"][-1]["task_run"]
    return (await person.client.get(f"/api/v1/task-runs/{task_run}")).json()["reason"]


async def say(person: Person, item: dict[str, Any], answer: str) -> int:
    path = f"/api/v1/inbox/{item['id']}/answer"
    return (await person.client.post(path, json={"answer": answer})).status_code


async def test_a_person_is_asked_before_it_is_done_again_and_the_question_outlives_servers(
    person: Person,
) -> None:
    run = await person.start("ask")
    await deployed(person.portal, 1)
    await person.kill()
    [item] = await person.items()
    view = await person.until(run, "waiting-for-person")
    asked = item["asked"]
    title = "Try again after a crash? The agent had used bash."
    assert view["waits_for"] == f"your decision: {title}"
    assert (item["run"], asked["by"], asked["choices"]) == (
        run,
        "airboss",
        ["Try again", "Stop the task"],
    )
    assert asked["question"].startswith(title)
    assert USED in asked["question"]
    # Its agent is gone meanwhile, and so is its place: another run may work.
    other = await person.start("fail")
    await deployed(person.portal, 2)
    await kill_runtime(person)
    await person.until(other, "failed")
    failed = await reason_of(person, other)
    assert failed.startswith("The session crashed after it had used bash.")
    assert "onUnsafeRetry is fail" in failed

    await person.kill()
    assert [one["id"] for one in await person.items()] == [item["id"]]
    assert (await person.until(run, "waiting-for-person"))["waits_for"].endswith(title)
    assert await say(person, item, "perhaps") == 422
    assert await say(person, item, "Try again") == 200
    ended = await person.until(run, "succeeded")
    assert ended["waits_for"] is None
    assert (person.portal.work / "done.txt").read_text("utf-8").count("x") == 2


async def test_a_no_fails_the_task_and_a_stop_takes_the_question_back(person: Person) -> None:
    refused = await person.start("ask")
    await deployed(person.portal, 1)
    await kill_runtime(person)
    [item] = await person.items()
    stopped = await person.start("ask")
    await deployed(person.portal, 2)
    await kill_runtime(person)
    await person.items(2)
    assert await say(person, item, "2") == 200
    await person.until(refused, "failed")
    assert "after a crash. It had used bash." in await reason_of(person, refused)
    task_run = (await person.run(stopped))["works"][-1]["task_run"]
    answer = await person.client.post(f"/api/v1/task-runs/{task_run}/stop")
    assert answer.status_code == 200, answer.text
    await person.until(stopped, "failed")
    assert (await reason_of(person, stopped)).startswith("Stopped by ")
    assert await person.items(0) == []
