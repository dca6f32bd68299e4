"""Everything at the same time: whatever is asked in whatever order, each session's story is whole,
nothing answers 500, and in the end nothing is left."""

import asyncio
import os
import random
import re
import signal
import time
from collections.abc import Iterator

import pytest

from tests.contract.conftest import SCRIPT
from tests.contract.guest import JSON, Guest, Told, kinds, only
from tests.contract.stories import check_events
from tests.portal import Portal
from tests.trials import whole_only

CHANCE = random.Random()  # noqa: S311 - what comes next is no secret
PROMPTS = ("greet", "tell the tale", "look around", "take your time", "unlucky")
FORESEEN = (200, 201, 202, 404, 409, 410)


@pytest.fixture(scope="module")
def stormy_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("storm"), script=SCRIPT)
    portal.start()
    yield portal
    portal.stop()


async def _ask(guest: Guest, session: str, statuses: set[int]) -> None:
    """One thing that somebody may do with a session, at any time."""
    path = f"/api/v1/sessions/{session}"
    match CHANCE.randrange(12):
        case 0 | 1 | 2 | 3:
            text = CHANCE.choice(PROMPTS)
            body = f'{{"text": "{text}"}}'
            answer = await guest.http.post(f"{path}/prompts", content=body, headers=JSON)
        case 4 | 5:
            answer = await guest.http.post(f"{path}/abort")
        case 6:
            answer = await guest.http.post(f"{path}/close")
        case 7:
            answer = await guest.http.post(f"{path}/resume")
        case 8:
            answer = await guest.http.post(f"/api/copilot/session/{session}/stop")
        case 9:
            answer = await guest.http.get(f"{path}/events", params={"limit": 1000})
            check_events(answer.json()["items"])
        case _:
            answer = await guest.http.get(path)
    statuses.add(answer.status_code)


async def _storm(guest: Guest, seconds: float, *, sessions: int, people: int) -> list[str]:
    """`people` who ask without order on sessions that they share; a new one for each closed."""
    statuses: set[int] = set()
    known = [await guest.open() for _ in range(sessions)]
    until = time.monotonic() + seconds

    async def person() -> None:
        while time.monotonic() < until:
            place = CHANCE.randrange(max(0, len(known) - sessions), len(known))
            await _ask(guest, known[place], statuses)
            if CHANCE.random() < 0.05:
                answer = await guest.http.post("/api/v1/sessions", json={})
                statuses.add(answer.status_code)
                if answer.status_code == 201:
                    known.append(answer.json()["id"])

    async with asyncio.timeout(seconds + 25), asyncio.TaskGroup() as group:
        for _ in range(people):
            group.create_task(person())
    assert statuses <= {*FORESEEN, 503}, statuses
    return known


async def _settle(guest: Guest, known: list[str]) -> dict[str, list[Told]]:
    """Everything is closed; the whole story of each session."""
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        closing = [group.create_task(guest.do(session, "close")) for session in known]
    assert {task.result()["state"] for task in closing} == {"closed"}
    stories = {session: await guest.events(session, limit=1000) for session in known}
    for story in stories.values():
        blocks = check_events(story)
        assert not blocks.open
        told = kinds(story)
        assert told.count("session.closed") == 1
        assert told[-1] == "session.closed"
        assert told.count("turn.started") == told.count("turn.ended")
        ends = told.count("turn.started") + told.count("prompt.dropped")
        assert ends == told.count("prompt.accepted"), story
        assert all("prompt" in turn for turn in only("turn.started", story))
        assert {error["name"] for error in only("session.error", story)} <= {"query"}
        changes = [kind for kind in told if kind in ("session.interrupted", "session.resumed")]
        assert changes == ["session.interrupted", "session.resumed"] * (len(changes) // 2) + (
            ["session.interrupted"] * (len(changes) % 2)
        )
    metrics = (await guest.http.get("/metrics")).text
    for name in ("open", "working"):
        assert re.search(rf"^airboss_sessions_{name} 0\.0$", metrics, re.MULTILINE)
    return stories


async def test_a_storm_of_requests_leaves_every_story_whole(stormy_portal: Portal) -> None:
    async with Guest.of(stormy_portal) as guest:
        known = await _storm(guest, 3, sessions=6, people=12)
        stories = await _settle(guest, known)
        assert "session.interrupted" not in {kind for s in stories.values() for kind in kinds(s)}
        await guest.turn(await guest.open(), "greet")
    assert "Traceback" not in stormy_portal.log


@whole_only
async def test_a_storm_in_which_the_runtime_dies_again_and_again(stormy_portal: Portal) -> None:
    """Close, resume, start and abort meet the loss of the runtime at every moment."""
    async with Guest.of(stormy_portal) as guest:

        async def kill() -> None:
            for _ in range(3):
                await asyncio.sleep(1.2)
                status = (await guest.http.get("/api/v1/status")).json()
                if pid := status["runtime"]["pid"]:
                    os.kill(pid, signal.SIGKILL)

        killing = asyncio.create_task(kill())
        known = await _storm(guest, 4, sessions=5, people=8)
        await killing
        await _settle(guest, known)
        session = await guest.open()
        assert kinds(await guest.turn(session, "greet"))[-1] == "session.idle"
        await guest.do(session, "close")
    assert "Traceback" not in stormy_portal.log


async def test_a_session_whose_caller_left_while_it_started_is_closed(
    stormy_portal: Portal,
) -> None:
    async with Guest.of(stormy_portal) as guest:
        before = (await guest.http.get("/api/v1/status")).json()["sessions"]["open"]
        for path in ("/api/v1/sessions", "/api/copilot/session/start/rehearsal"):
            starting = asyncio.create_task(guest.http.post(path, content="{}", headers=JSON))
            await asyncio.sleep(0.02)
            starting.cancel()
            await asyncio.wait({starting})
        async with asyncio.timeout(10):
            opened = before + 1
            while opened > before:
                await asyncio.sleep(0.1)
                opened = (await guest.http.get("/api/v1/status")).json()["sessions"]["open"]


@whole_only
async def test_starts_stops_and_queries_of_many_at_once(stormy_portal: Portal) -> None:
    """The seed's calls: twenty people, each with a session of their own."""

    async def person(guest: Guest) -> None:
        session = await guest.start()
        await guest.query(session, "greet")
        heard = await guest.hear(session)
        assert heard[0]["callback"] == "onAgentStart"
        assert await guest.stop(session) == {"result": "Closed"}
        assert (await guest.hear(session, "SessionClosed"))[-1] == {"error": "SessionClosed"}

    async with (
        asyncio.timeout(40),
        Guest.of(stormy_portal) as guest,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(20):
            group.create_task(person(guest))
