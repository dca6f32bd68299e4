"""Runs that wait for a person: whatever ends meanwhile, they wait on, and nobody decides twice."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.crash.conftest import MakePortal
from tests.crash.nursery import QuickPortal

pytestmark = [pytest.mark.anyio, pytest.mark.alone, pytest.mark.timeout(120)]

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
        for name in ("build", "touch", "quick")
    },
    "jobs": {
        "ship": {"work": {"kind": "Ref", "taskId": "build"}},
        "touch": {"work": {"kind": "Ref", "taskId": "touch"}},
        "quick": {"work": {"kind": "Ref", "taskId": "quick"}},
    },
    "grid": [],
}


class Person:
    """Somebody who looks into the inbox, through whatever happens to the server."""

    def __init__(self, portal: QuickPortal) -> None:
        self.portal = portal
        self._client: httpx2.AsyncClient | None = None

    @property
    def client(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = self.portal.client()
        return self._client

    async def kill(self, times: int = 1) -> None:
        for _ in range(times):
            await self.close()
            await asyncio.to_thread(self.portal.kill)
            await asyncio.to_thread(self.portal.start)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def start(self, job: str) -> str:
        wish = {"job": job, "cwd": str(self.portal.work)}
        answer = await self.client.post("/api/v1/runs", json=wish)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def run(self, run: str) -> dict[str, Any]:
        return (await self.client.get(f"/api/v1/runs/{run}")).json()

    async def until(self, run: str, *states: str) -> dict[str, Any]:
        async with asyncio.timeout(30):
            while (view := await self.run(run))["state"] not in states:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return view

    async def items(self, count: int = 1) -> list[dict[str, Any]]:
        async with asyncio.timeout(30):
            while True:
                items = (await self.client.get("/api/v1/inbox")).json()["items"]
                if len(items) == count:
                    return items
                await asyncio.sleep(0.05)

    async def say(self, item: dict[str, Any]) -> None:
        """Yes to all, and blue."""
        if item["asked"]["kind"] == "question.asked":
            path, wish = "answer", {"answer": "blue"}
        else:
            path, wish = "decision", {"choice": "allow-once"}
        answer = await self.client.post(f"/api/v1/inbox/{item['id']}/{path}", json=wish)
        assert answer.status_code == 200, answer.text

    async def events(self, stream: str, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["seq"] if found else 0
            answer = await self.client.get(
                f"/api/v1/{stream}/{name}/events", params={"after": after, "limit": 1000}
            )
            page = answer.json()
            found += page["items"]
            if not page["more"]:
                return found


@pytest.fixture
async def person(make_portal: MakePortal, tmp_path: Path) -> AsyncGenerator[Person]:
    entry = tmp_path / "airboss.json"
    entry.write_text(json.dumps(ENTRY), encoding="utf-8")
    options = ("--permissions", "ask", "--max-tasks", "1", "--entry", str(entry))
    portal = make_portal(*options, script=SCRIPT)
    portal.start()
    person = Person(portal)
    yield person
    await person.close()


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
        assert view["waits_for"].startswith("a person to ")
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
