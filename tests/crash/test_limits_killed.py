"""Limits that a run has reached: whatever ends meanwhile, they stay reached, and are asked once."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.conftest import MakePortal
from tests.crash.person import Person, person_at
from tests.trials import sampled

pytestmark = pytest.mark.timeout(120)

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 1}]
rules:
  - when: "touch"
    steps:
      - call: {tool: bash, arguments: {command: "{touch}", description: "t"}}
      - say: "Touched."
  - when: "long"
    steps:
      - call: {tool: bash, arguments: {command: "touch {cwd}/long; sleep 60", description: "t"}}
      - say: "Done."
  - when: "."
    steps: [{say: "Yes."}]
""".replace("{touch}", "echo x >> {cwd}/touched; while test -e {cwd}/held; do sleep 0.1; done")


def task(prompt: str) -> dict[str, Any]:
    return {"model": {"category": "driving"}, "prompt": [prompt], "requireUserInput": False}


ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {"plain": task("Say yes"), "touch": task("touch it"), "long": task("long work")},
    "jobs": {
        "turns": {
            "work": {
                "kind": "Seq",
                "works": [
                    {"kind": "Ref", "taskId": "plain"},
                    {"kind": "Ref", "taskId": "touch"},
                ],
            },
            "limits": {"turns": 1},
        },
        "tokens": {"work": {"kind": "Ref", "taskId": "touch"}, "limits": {"tokens": 100}},
        "long": {"work": {"kind": "Ref", "taskId": "long"}},
    },
    "grid": [],
}


@pytest.fixture
async def person(make_portal: MakePortal, tmp_path: Path) -> AsyncGenerator[Person]:
    async with person_at(make_portal, tmp_path, ENTRY, SCRIPT, "approve-all") as person:
        yield person


async def asked_in(person: Person, run: str) -> list[str]:
    """All limits that were ever asked for in a run, in whichever session."""
    found: list[str] = []
    for work in (await person.run(run))["works"]:
        told = [one["event"] for one in await person.events("task-runs", work["task_run"])]
        for session in [one["session"] for one in told if one["kind"] == "task.session.started"]:
            events = [one["event"] for one in await person.events("sessions", session)]
            found += [one["item"] for one in events if one["kind"] == "limit.reached"]
    return found


def touched(person: Person) -> int:
    file = person.portal.work / "touched"
    return len(file.read_text("utf-8").splitlines()) if file.exists() else 0


@pytest.mark.parametrize("job", sampled(1, ["turns", "tokens"]))
async def test_a_run_parked_at_a_limit_waits_for_the_same_word_after_each_restart(
    person: Person, job: str
) -> None:
    """Before anything was sent (turns), and in the middle of a turn (tokens)."""
    run = await person.start(job)
    [item] = await person.items()
    asked = item["asked"]
    assert (asked["kind"], asked["scope"], asked["limit"]) == ("limit.reached", f"job {job}", job)
    await asyncio.sleep(1)  # what the runtime had not written down yet is another story
    for _ in range(2):
        await person.kill()
        assert [one["id"] for one in await person.items()] == [item["id"]]
        view = await person.until(run, "waiting-for-person")
        assert view["waits_for"].startswith("your decision: the limit of")
    await person.say(item)
    await person.until(run, "succeeded")
    assert touched(person) == 1
    assert await asked_in(person, run) == [item["id"]]
    assert await person.items(0) == []


@pytest.mark.parametrize(
    ("choice", "job"),
    sampled(
        2,
        [("allow-once", "tokens"), ("deny", "turns"), ("allow-once", "turns"), ("deny", "tokens")],
    ),
)
async def test_what_was_said_a_moment_before_the_end_holds(
    person: Person, job: str, choice: str
) -> None:
    run = await person.start(job)
    [item] = await person.items()
    # The turn is cut off: what it used in whole would have reached what was just granted.
    held = person.portal.work / "held"
    held.touch()
    await person.client.post(f"/api/v1/inbox/{item['id']}/decision", json={"choice": choice})
    await person.kill()
    held.unlink()
    view = await person.until(run, "succeeded", "failed")
    assert view["state"] == ("failed" if choice == "deny" else "succeeded")
    assert await asked_in(person, run) == [item["id"]]
    # What was cut off a moment behind the word is done again.
    assert bool(touched(person)) == (choice != "deny")


async def test_a_task_parked_at_a_limit_is_stopped_after_a_restart(person: Person) -> None:
    run = await person.start("turns")
    await person.items()
    await person.kill()
    await person.items()
    work = (await person.until(run, "waiting-for-person"))["works"][-1]
    stopped = await person.client.post(f"/api/v1/task-runs/{work['task_run']}/stop")
    assert stopped.status_code == 200, stopped.text
    await person.until(run, "failed")
    assert await person.items(0) == []
    assert touched(person) == 0


async def test_what_was_used_before_a_kill_is_in_the_sum(person: Person) -> None:
    run = await person.start("long")
    async with asyncio.timeout(20):
        while not (person.portal.work / "long").exists():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    await person.kill()
    await person.client.post(f"/api/v1/runs/{run}/stop")
    view = await person.until(run, "canceled")
    [work] = view["works"]
    told = [one["event"] for one in await person.events("task-runs", work["task_run"])]
    opened = [one["session"] for one in told if one["kind"] == "task.session.started"]
    sessions = [(await person.client.get(f"/api/v1/sessions/{one}")).json() for one in opened]
    calls = sum(session["usage"]["requests"] for session in sessions)
    assert sessions[0]["usage"]["requests"] == 1
    assert sessions[0]["usage"]["turns"] == 1
    assert view["usage"]["requests"] == work["usage"]["requests"] == calls
