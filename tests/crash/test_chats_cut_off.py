"""Chats that wait for a person while their runtime is killed, their server is stopped, or time
runs out."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.asking import refusal
from tests.crash.waiting import KEPT_SECONDS, Waited, of_kind, portal_in, restarted
from tests.portal import Portal

pytestmark = pytest.mark.timeout(120)

ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "touch": {
            "model": {"category": "driving"},
            "prompt": ["touch it"],
            "requireUserInput": False,
        }
    },
    "jobs": {},
    "grid": [],
}


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncGenerator[Portal]:
    entry = tmp_path / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    portal = portal_in(tmp_path, "--entry", str(entry))
    await asyncio.to_thread(portal.start)
    yield portal
    await asyncio.to_thread(portal.stop)


async def kill_runtime(guest: Waited, session: str) -> None:
    """Until its session says so."""
    status = (await guest.http.get("/api/v1/status")).json()
    os.kill(status["runtime"]["pid"], signal.SIGKILL)
    await guest.until(session, "interrupted")


async def test_a_runtime_that_dies_leaves_what_was_asked_to_be_decided(portal: Portal) -> None:
    async with Waited.of(portal) as guest:
        approval, question = await guest.ask("touch it"), await guest.ask("colour")
        await asyncio.sleep(KEPT_SECONDS)
        await kill_runtime(guest, approval["session"])
        assert await guest.waiting() == [approval, question]
        assert await guest.allow(approval["id"]) == 200
        assert (await guest.say(question["id"], "answer", answer="red")).status_code == 200
        events = await guest.ended(approval["session"])
        assert len(of_kind("approval.asked", events)) == 1
        assert guest.done == ["touch", "it"]
        events = await guest.ended(question["session"])
        ends = [one["text"] for one in of_kind("tool.ended", events) if not one["cut"]]
        assert ends == ["The person chose: red"]


async def test_a_server_that_is_stopped_leaves_what_was_asked_to_be_decided(
    portal: Portal,
) -> None:
    async with Waited.of(portal) as guest:
        item, idle = await guest.ask("touch it"), await guest.open()
        await guest.turn(idle, "hello")
        await asyncio.sleep(KEPT_SECONDS)
    await asyncio.to_thread(portal.stop)
    await asyncio.to_thread(portal.start)
    async with Waited.of(portal) as guest:
        assert await guest.waiting() == [item]
        assert await guest.allow(item["id"]) == 200
        events = await guest.ended(item["session"])
        assert [one["item"] for one in of_kind("approval.asked", events)] == [item["id"]]
        assert guest.done == ["touch", "it"]
        view = await guest.show(idle)
        assert (view["state"], view["turns"]) == ("interrupted", 1), "as ever"


async def test_a_deadline_counts_while_no_server_runs_and_while_no_agent_does(
    tmp_path: Path,
) -> None:
    portal = portal_in(tmp_path, approval_seconds=8)
    await asyncio.to_thread(portal.start)
    try:
        async with Waited.of(portal) as guest:
            item = await guest.ask("touch it")
        await asyncio.to_thread(portal.kill)
        await asyncio.sleep(8)
        await asyncio.to_thread(portal.start)
        async with Waited.of(portal) as guest:
            assert await guest.waiting() == []
            answer = await guest.say(item["id"], "decision", choice="allow-once")
            assert refusal(answer)[2] == "Too late: the time limit for this decision has passed."
            view = await guest.show(item["session"])
            assert (view["state"], view["items"]) == ("interrupted", [])

            second = await guest.ask("touch it")
            await kill_runtime(guest, second["session"])
            frames = await guest.follow_to(second["session"], "item.settled")
            assert frames[-1]["event"]["outcome"] == "timeout"
            assert frames[-1]["at"] >= second["asked"]["expires_at"]
            async with asyncio.timeout(20):  # the list hears of it behind the session's stream
                while await guest.waiting():  # noqa: ASYNC110 - asked over HTTP
                    await asyncio.sleep(0.02)
            assert (await guest.do(second["session"], "resume"))["state"] == "idle"
            assert guest.done == []
    finally:
        await asyncio.to_thread(portal.stop)


async def test_a_request_that_a_limit_held_back_is_sent_after_the_decision(
    portal: Portal,
) -> None:
    async with Waited.of(portal) as guest:
        asked_for = {"limits": {"turns": 1}}
        session = (await guest.http.post("/api/v1/sessions", json=asked_for)).json()["id"]
        await guest.turn(session, "hello")
        await guest.prompt(session, "hello")
        item = await guest.first(session=session)
        await asyncio.sleep(KEPT_SECONDS)
    async with restarted(portal) as guest:
        assert await guest.waiting() == [item]
        assert await guest.allow(item["id"]) == 200
        events = await guest.ended(session, 3)
        assert [one["text"] for one in of_kind("message.ended", events)] == ["Hello.", "Hello."]
        assert len(of_kind("limit.reached", events)) == 1


async def test_what_a_task_asked_in_a_lent_session_ends_with_the_task(portal: Portal) -> None:
    """Nobody would be told what comes of it."""
    async with Waited.of(portal) as guest:
        session = await guest.open()
        asked_for = {"task": "touch", "session": session}
        answer = await guest.http.post("/api/v1/task-runs", json=asked_for)
        assert answer.status_code == 201, answer.text
        item = await guest.first(session=session)
        await asyncio.sleep(KEPT_SECONDS)
    async with restarted(portal) as guest:
        await guest.asks_nothing(session)
        assert await guest.allow(item["id"]) == 409
        assert (await guest.do(session, "resume"))["state"] == "idle"
        assert guest.done == []
