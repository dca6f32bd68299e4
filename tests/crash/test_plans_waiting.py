"""Plans that wait for a person: nothing is changed before the yes, also with the server killed."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.asking import AskedGuest, refusal
from tests.contract.guest import Told
from tests.crash.conftest import MakePortal
from tests.crash.person import Person, person_at
from tests.crash.waiting import KEPT_SECONDS, Waited, of_kind, restarted
from tests.portal import Portal

pytestmark = pytest.mark.timeout(120)

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "^build"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/{last}-early.txt", file_text: "x"}}
      - call: {tool: exit_plan_mode, arguments: {summary: "- make {last}.txt"}}
      - call: {tool: create, arguments: {path: "{cwd}/{last}.txt", file_text: "x"}}
      - call: {tool: exit_plan_mode, arguments: {summary: "- make {last}-second.txt"}}
      - say: "Over."
  - when: "wrong"
    steps:
      - call: {tool: exit_plan_mode, arguments: {}}
      - say: "Over."
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "planned": {
            "model": {"category": "driving"},
            "prompt": ["build-it"],
            "requireUserInput": False,
            "plan": True,
        }
    },
    "jobs": {"ship": {"work": {"kind": "Ref", "taskId": "planned"}}},
    "grid": [],
}


@pytest.fixture
def portal(tmp_path: Path) -> Portal:
    return Portal(tmp_path, ("--permissions", "approve-all"), SCRIPT)


async def plan(guest: AskedGuest, text: str) -> Told:
    session = await guest.open()
    body = {"text": text, "mode": "plan"}
    answer = await guest.http.post(f"/api/v1/sessions/{session}/prompts", json=body)
    assert answer.status_code == 202, answer.text
    return await guest.first(session=session)


async def test_nothing_is_changed_before_the_yes_and_a_no_lets_it_plan_again(
    portal: Portal, anyio_backend: str
) -> None:
    portal.start()
    async with Waited.of(portal) as guest:
        approved, rejected = await plan(guest, "build-one"), await plan(guest, "build-two")
        assert approved["asked"]["kind"] == "plan.asked"
        assert approved["asked"]["summary"] == "- make build-one.txt"
        view = await guest.show(approved["session"])
        assert (view["mode"], view["plan_approved"]) == ("plan", None)
        assert [one["id"] for one in await guest.waiting(kind="plan")] == [
            approved["id"],
            rejected["id"],
        ]
        path = f"/api/v1/sessions/{approved['session']}/prompts"
        steered = await guest.http.post(
            path, json={"text": "too", "mode": "plan", "delivery": "steer"}
        )
        assert refusal(steered)[0] == 422
        assert "turn of its own" in refusal(steered)[2]
        always = await guest.say(approved["id"], "decision", choice="allow-always")
        assert refusal(always)[2] == "Choose one of: approve or reject."
        assert refusal(await guest.say(approved["id"], "answer", answer="yes"))[0] == 422

        said = await guest.say(approved["id"], "decision", choice="approve", words="Use tabs.")
        assert (said.json()["outcome"], said.json()["answer"]) == ("approved", "Use tabs.")
        events = await guest.ended(approved["session"], 1)
        answers = [one.get("result") or one["error"] for one in of_kind("tool.ended", events)]
        assert "policy read-only" in of_kind("permission.decided", events)[0]["by"]
        assert "with these changes: Use tabs." in answers[1]["content"]
        assert "Nobody asked for a plan" in answers[3]["message"]
        view = await guest.show(approved["session"])
        assert (view["mode"], view["plan_approved"]) == (None, True)

        no = await guest.say(rejected["id"], "decision", choice="reject", words="Smaller.")
        assert no.json()["outcome"] == "rejected"
        again = await guest.first(session=rejected["session"])
        assert again["asked"]["summary"] == "- make build-two-second.txt"
        assert (await guest.say(again["id"], "decision", choice="deny")).status_code == 200
        await guest.ended(rejected["session"], 1)
        assert sorted(file.name for file in portal.work.glob("*.txt")) == ["build-one.txt"]

        session = await guest.open()
        await guest.http.post(
            f"/api/v1/sessions/{session}/prompts", json={"text": "wrong", "mode": "plan"}
        )
        [wrong] = of_kind("tool.ended", await guest.ended(session, 1))
        assert "needs a string named “summary”" in wrong["error"]["message"]
    portal.stop()


async def test_a_plan_waits_on_when_the_server_is_killed(
    portal: Portal, anyio_backend: str
) -> None:
    portal.start()
    async with Waited.of(portal) as guest:
        yes, no = await plan(guest, "build-one"), await plan(guest, "build-two")
        await asyncio.sleep(KEPT_SECONDS)
    async with restarted(portal) as guest:
        assert await guest.waiting() == [yes, no]
        assert (await guest.show(no["session"]))["mode"] == "plan"
        for item, choice in ((yes, "approve"), (no, "reject")):
            said = await guest.say(item["id"], "decision", choice=choice, words="Smaller.")
            assert said.status_code == 200, said.text
        events = await guest.ended(yes["session"])
        assert [one["item"] for one in of_kind("plan.asked", events)] == [yes["id"]]
        assert not of_kind("session.error", events)
        again = await guest.first(session=no["session"])  # it still plans, and writes nothing
        assert again["asked"]["summary"] == "- make build-two-second.txt"
        assert sorted(file.name for file in portal.work.glob("*.txt")) == ["build-one.txt"]
    portal.stop()


@pytest.fixture
async def person(make_portal: MakePortal, tmp_path: Path) -> AsyncGenerator[Person]:
    async with person_at(make_portal, tmp_path, ENTRY, SCRIPT, "approve-all") as person:
        yield person


async def test_a_run_parks_with_its_plan_and_goes_on_when_that_is_approved(person: Person) -> None:
    run = await person.start("ship")
    [item] = await person.items()
    view = await person.until(run, "waiting-for-person")
    assert (item["run"], item["asked"]["kind"]) == (run, "plan.asked")
    assert view["waits_for"] == "your approval of the agent's plan"
    await asyncio.sleep(KEPT_SECONDS)
    await person.kill()
    assert [one["id"] for one in await person.items()] == [item["id"]]
    await person.say(item)
    await person.until(run, "succeeded")
    assert sorted(file.name for file in person.portal.work.glob("*.txt")) == ["build-it.txt"]
