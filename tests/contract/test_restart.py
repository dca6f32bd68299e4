"""What a restart of the server leaves: ids go on being drained, and sessions can be resumed."""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.contract.conftest import SCRIPT
from tests.contract.guest import Guest, Told, kinds, only
from tests.contract.stories import check_callbacks, check_events, without_deltas
from tests.contract.test_live import names
from tests.portal import Portal


@dataclass
class Before:
    """Sessions of the first server, and what was read of them there."""

    portal: Portal
    closed: str = ""
    drained: str = ""
    working: str = ""
    remembered: str = ""
    queued: str = ""
    lost: str = ""
    given_up: str = ""
    heard: dict[str, list[Told]] = field(default_factory=dict[str, list[Told]])
    first: list[Told] = field(default_factory=list[Told])
    stored: list[Told] = field(default_factory=list[Told])

    async def prepare(self) -> None:
        async with Guest.of(self.portal) as guest:
            self.closed, self.working = await guest.start(), await guest.start()
            self.drained, self.lost = await guest.start(), await guest.start()
            self.remembered, self.queued = await guest.open(), await guest.open()
            self.given_up = await guest.open()
            await guest.turn(self.closed, "greet")
            await guest.stop(self.closed)
            self.heard[self.closed] = [await guest.live(self.closed) for _ in range(4)]
            await guest.query(self.working, "take your time")
            self.heard[self.working] = await guest.hear(self.working, "onMessage")
            await guest.stop(self.drained)
            assert await guest.live(self.drained) == {"error": "SessionClosed"}
            await guest.turn(self.lost, "greet")
            self.first = await guest.turn(self.remembered, "remember this: " + "beans " * 5_000)
            await guest.turn(self.remembered, "greet")
            self.stored = await guest.events(self.remembered)
            for session in (self.queued, self.given_up):
                for text in ("take your time", "greet", "look around"):
                    await guest.prompt(session, text)
            await asyncio.sleep(1)  # so long the runtime takes to have a session on disk


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Before]:
    portal = Portal(tmp_path_factory.mktemp("restart"), script=SCRIPT)
    portal.start()
    before = Before(portal)
    asyncio.run(before.prepare())
    portal.stop()
    shutil.rmtree(portal.data / "copilot-home" / "session-state" / before.lost)
    portal.start()
    yield before
    portal.stop()


@pytest.fixture
async def after(before: Before, anyio_backend: str) -> AsyncGenerator[Guest]:
    async with Guest.of(before.portal) as guest:
        yield guest


async def test_earlier_sessions_are_listed_as_interrupted(before: Before, after: Guest) -> None:
    answer = await after.http.get("/api/v1/sessions", params={"limit": 200})
    states = {view["id"]: view["state"] for view in answer.json()["items"]}
    for session in (before.closed, before.drained):
        assert states[session] == "closed"
    for session in (before.working, before.lost, before.given_up):
        assert states[session] == "interrupted"


async def test_a_closed_session_is_drained_from_where_reading_stopped(
    before: Before, after: Guest
) -> None:
    heard = before.heard[before.closed] + await after.hear(before.closed, "SessionClosed")
    assert set(check_callbacks(heard).ended.values()) == {
        "Somebody greets me.",
        "Hello, captain. Ünïcödé 🛫 too.",
    }
    assert names(heard)[-2:] == ["onIdle", "error"]
    for session in (before.closed, before.drained):
        assert await after.live(session) == {"error": "SessionNotFound"}


async def test_an_interrupted_session_gives_what_is_left_one_error_then_its_end(
    before: Before, after: Guest
) -> None:
    session = before.working
    heard = before.heard[session] + await after.hear(session, "SessionClosed")
    assert list(check_callbacks(heard).ended.values()) == ["One moment. "]
    assert names(heard).count("sessionError") == 1
    assert names(heard)[-2:] == ["sessionError", "error"]
    error = json.loads(heard[-2]["sessionError"])
    assert error == {"name": "SessionInterrupted", "message": "The server was stopped."}
    assert await after.live(session) == {"error": "SessionNotFound"}
    for call in ("query", "stop"):
        told = await after.seed(f"copilot/session/{session}/{call}", "greet")
        assert told == {"error": "SessionNotFound"}


async def test_a_session_is_resumed_with_its_history_and_live_goes_on(
    before: Before, after: Guest
) -> None:
    session = before.remembered
    stored = without_deltas(await after.events(session))
    assert stored[: len(without_deltas(before.stored))] == without_deltas(before.stored)
    await after.hear(session, "SessionClosed")
    assert await after.live(session) == {"error": "SessionNotFound"}

    view = await after.do(session, "resume")
    assert (view["id"], view["state"], view["turns"]) == (session, "idle", 2)
    again = await after.turn(session, "greet")
    # The model was sent the beans once more: the session has its history.
    assert _tokens(again) > _tokens(before.first) > 5_000

    heard = await after.hear(session)
    check_callbacks(heard)
    assert names(heard)[0] == "onAgentStart"
    assert await after.do(session, "resume") == await after.show(session)
    await after.stop(session)
    assert await after.live(session) == {"error": "SessionClosed"}
    assert await after.live(session) == {"error": "SessionNotFound"}
    check_events(await after.events(session))


def _tokens(events: list[dict[str, Any]]) -> int:
    return only("turn.ended", events)[0]["usage"]["input_tokens"]


async def test_what_was_queued_is_worked_on_after_a_resume(before: Before, after: Guest) -> None:
    session = before.queued
    view = await after.show(session)
    assert [queued["text"] for queued in view["queue"]] == ["greet", "look around"]
    await after.do(session, "resume")
    view = await after.until(session, "idle")
    assert (view["turns"], view["queue"]) == (3, [])
    events = await after.events(session)
    check_events(events)
    ends = [end["text"] for end in only("message.ended", events)]
    assert ends[-3:] == ["Hello, captain. Ünïcödé 🛫 too.", "I will look.", "That is all."]


async def test_a_session_that_the_runtime_lost_starts_over_and_says_so(
    before: Before, after: Guest
) -> None:
    session = before.lost
    answer = await after.http.post(f"/api/v1/sessions/{session}/resume")
    assert (answer.status_code, answer.json()["state"]) == (200, "idle")
    [told] = only("session.restarted", await after.events(session))
    assert told["why"] == f"The agent runtime has no record of session {session} any more."
    assert (told["number"], (await after.show(session))["restart_number"]) == (2, 2)
    bound = (await after.http.get(f"/api/v1/sessions/{session}/setup")).json()["binding"]
    assert (bound["number"], bound["runtime"]) == (2, f"{session}-2")
    assert (bound["parts"]["provider"], bound["fits"]) == ("rehearsal", True)
    assert (await after.do(session, "close"))["state"] == "closed"
    again = await after.http.post(f"/api/v1/sessions/{session}/resume")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


async def test_closing_an_interrupted_session_is_told_to_nobody_twice(
    before: Before, after: Guest
) -> None:
    session = before.given_up
    await after.hear(session, "SessionClosed")
    await after.do(session, "close")
    assert await after.live(session) == {"error": "SessionNotFound"}
    events = await after.events(session)
    assert kinds(events)[-3:] == ["prompt.dropped", "prompt.dropped", "session.closed"]
    frames = [frame async for frame in after.frames(session, after=events[-1]["seq"])]
    assert [frame.name for frame in frames] == ["end"]


async def test_after_a_kill_nothing_is_missing_and_every_block_is_closed(
    own_portal: Portal,
) -> None:
    async with Guest.of(own_portal) as guest:
        session = await guest.start()
        await guest.query(session, "take your time")
        heard = await guest.hear(session, "onMessage")
        await asyncio.sleep(0.7)  # positions are kept every half second
        heard.append(await guest.live(session))
        await asyncio.sleep(0.2)
    own_portal.kill()
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        view = await guest.show(session)
        assert (view["state"], view["turn"]) == ("interrupted", None)
        heard += await guest.hear(session, "SessionClosed")
        assert list(check_callbacks(heard).ended.values()) == ["One moment. "]
        assert names(heard)[-4:] == ["onEndMessage", "onAgentEnd", "sessionError", "error"]
        stored = await guest.events(session)
        check_events(stored)
        assert kinds(stored)[-3:] == ["message.ended", "turn.ended", "session.interrupted"]
