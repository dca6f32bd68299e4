"""Agents that ask, over seed 001's API: callbacks beyond the seed's, and queries that answer."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.asking import AskedGuest, asking_portal_in
from tests.contract.guest import Told
from tests.contract.job_guest import JobGuest, story
from tests.portal import Portal

ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "name": {
            "model": {"category": "driving"},
            "prompt": ["Ask what name."],
            "requireUserInput": False,
        }
    },
    "jobs": {"naming": {"work": {"kind": "Ref", "taskId": "name"}}},
    "grid": [],
}
BEYOND = {"onApproval", "onQuestion", "onItemSettled"}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = asking_portal_in(tmp_path_factory.mktemp("asking"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
async def guest(asking: Portal, anyio_backend: str) -> AsyncGenerator[AskedGuest]:
    async with AskedGuest.of(asking) as guest:
        yield guest


def calls(heard: list[Told], *names: str) -> list[Told]:
    return [told for told in heard if told.get("callback") in names]


async def sent(guest: AskedGuest, session: str, text: str) -> Told:
    return await guest.seed(f"copilot/session/{session}/query", text)


async def test_the_next_query_answers_a_question(guest: AskedGuest) -> None:
    """ASK-6, INT-3: seed 001 has no other call for an answer."""
    session = await guest.start()
    await guest.query(session, "what name")
    heard = await guest.hear(session, "onQuestion")
    asked = heard[-1]
    assert {name: asked[name] for name in asked if name not in ("itemId", "toolCallId")} == {
        "callback": "onQuestion",
        "question": "What name?",
        "allowFreeform": True,
    }
    assert await sent(guest, session, "Ada") == {}
    heard += await guest.hear(session)
    assert calls(heard, "onItemSettled") == [
        {
            "callback": "onItemSettled",
            "itemId": asked["itemId"],
            "outcome": "answered",
            "who": "owner",
        }
    ]
    ended = calls(heard, "onEndToolExecution")[0]
    assert ended["result"]["content"] == "The person answered: Ada"
    assert len(calls(heard, "onAgentStart")) == 1, "the answer was no request of its own"


async def test_a_query_that_is_none_of_the_choices_is_refused_and_the_question_stays_open(
    guest: AskedGuest,
) -> None:
    """ASK-6, ASK-9."""
    session = await guest.start()
    await guest.query(session, "which colour")
    asked = (await guest.hear(session, "onQuestion"))[-1]
    assert (asked["choices"], asked["allowFreeform"]) == (["Red", "Blue"], False)
    assert await sent(guest, session, "green") == {
        "error": "InvalidAnswer",
        "message": "“green” is not one of the choices: 1 Red, 2 Blue.",
    }
    assert (await sent(guest, session, "  "))["error"] == "InvalidAnswer"
    assert [item["id"] for item in await guest.waiting(session=session)] == [asked["itemId"]]
    assert await sent(guest, session, "2") == {}
    heard = await guest.hear(session)
    assert calls(heard, "onEndToolExecution")[0]["result"]["content"] == "The person chose: Blue"
    await guest.query(session, "hello")
    heard = await guest.hear(session)
    assert calls(heard, "onEndMessage")[0]["completeContent"] == "Hello, captain."


async def test_a_query_beside_an_approval_is_a_query(guest: AskedGuest) -> None:
    session = await guest.start()
    await guest.query(session, "touch it")
    asked = (await guest.hear(session, "onApproval"))[-1]
    command = f"touch {guest.portal.work}/made.txt"
    assert asked["command"] == command
    assert asked["title"].startswith("Run touch")
    assert asked["choices"] == ["allow-once", "allow-always", "deny"]
    [item] = await guest.waiting(session=session)
    assert asked["expiresAt"] - item["asked_at"] == pytest.approx(120_000, abs=10_000)
    assert await sent(guest, session, "hello") == {}
    assert [item["id"] for item in await guest.waiting(session=session)] == [asked["itemId"]]
    assert (await guest.say(asked["itemId"], "decision", choice="deny")).status_code == 200
    heard = await guest.hear(session)
    assert calls(heard, "onItemSettled")[0]["outcome"] == "deny"
    heard = await guest.hear(session)
    assert calls(heard, "onEndMessage")[0]["completeContent"] == "Hello, captain."


async def test_over_v1_only_an_answer_answers(guest: AskedGuest) -> None:
    """ASK-6 holds for seed 001's API alone."""
    item = await guest.ask("what name")
    await guest.prompt(item["session"], "hello")
    assert await guest.waiting(session=item["session"]) == [item]
    assert len((await guest.show(item["session"]))["queue"]) == 1
    assert (await guest.say(item["id"], "answer", answer="Ada")).status_code == 200
    view = await guest.until(item["session"], "idle")
    assert view["turns"] == 2


async def test_what_the_seed_does_not_know_comes_within_a_turn_only(guest: AskedGuest) -> None:
    """INT-3: a client that leaves out what it does not know hears what it always heard."""
    session = await guest.start()
    heard: list[Told] = []
    await guest.query(session, "what name")
    heard += await guest.hear(session, "onQuestion")
    await guest.do(session, "abort")
    heard += await guest.hear(session)
    await guest.query(session, "touch it")
    heard += await guest.hear(session, "onApproval")
    assert await guest.stop(session) == {"result": "Closed"}
    heard += await guest.hear(session, "SessionClosed")
    is_within = False
    for told in heard:
        name = told.get("callback")
        is_within = (is_within or name == "onAgentStart") and name != "onIdle"
        assert name not in BEYOND or is_within, heard
    assert [told["outcome"] for told in calls(heard, "onItemSettled")] == ["cancelled"] * 2
    known = [told.get("callback") for told in heard if told.get("callback") not in BEYOND]
    turn = ["onAgentStart", "onStartToolExecution", "onEndToolExecution", "onAgentEnd", "onIdle"]
    assert [name for name in known if name in turn] == turn * 2


async def test_a_query_to_a_session_that_is_not_there_is_refused_as_ever(
    guest: AskedGuest,
) -> None:
    session = await guest.start()
    await guest.stop(session)
    for name in (session, "ses_nobody"):
        assert await sent(guest, name, "hello") == {"error": "SessionNotFound"}


async def test_the_streams_of_jobs_and_their_tasks_are_as_the_seed_has_them(
    tmp_path: Path,
) -> None:
    """INT-3: the session of a task says what waits, and its task and its job do not."""
    fixtures = ("--test", "--test-folder", str(tmp_path / "fixtures"))
    portal = asking_portal_in(tmp_path, *fixtures)
    portal.start()
    try:
        async with JobGuest.of(portal) as guest:
            await guest.install(ENTRY)
            run = await guest.start_job("naming")
            async with AskedGuest.of(portal) as person:
                item = await person.first(run=run)
                told = await guest.hear(item["session"], "onQuestion")
                assert told[-1]["itemId"] == item["id"]
                assert await sent(person, item["session"], "Ada") == {}
            heard = await guest.hear_job(run)
            assert story(heard) == "0+ 0:yes jobSucceeded error"
            task = heard[0]["taskId"]
            names: list[str | None] = []
            while (one := await guest.seed(f"copilot/task/{task}/live", method="GET")) != {
                "error": "TaskClosed"
            }:
                names.append(one.get("callback"))
            assert BEYOND.isdisjoint(names)
            assert "taskSucceeded" in names
    finally:
        portal.stop()
