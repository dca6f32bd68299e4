"""An abort leaves nothing behind within a second; what was to steer is not lost by a crash."""

import os
import signal
import time
from typing import Any

import httpx2
import pytest

from tests.crash.marks import running, soon
from tests.crash.witness import ENDS, STARTS, ask, read_all, show, start_session, until
from tests.portal import Portal
from tests.trials import sampled

IDLE_SECONDS = 1


async def steer(client: httpx2.AsyncClient, session: str, text: str) -> str:
    body = {"text": text, "delivery": "steer"}
    answer = await client.post(f"/api/v1/sessions/{session}/prompts", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["prompt"])


async def abort(client: httpx2.AsyncClient, session: str) -> list[dict[str, Any]]:
    """The events up to its end; all blocks are closed."""
    began = time.monotonic()
    view = (await client.post(f"/api/v1/sessions/{session}/abort")).json()
    assert time.monotonic() - began < IDLE_SECONDS
    assert (view["state"], view["turn"]) == ("idle", None)
    events = [recorded["event"] for recorded in await read_all(client, session)]
    kinds = [event["kind"] for event in events]
    assert sum(kind in STARTS for kind in kinds) == sum(kind in ENDS for kind in kinds)
    assert [event["outcome"] for event in events if event["kind"] == "turn.ended"] == ["aborted"]
    return events


@pytest.mark.timed
async def test_abort_during_an_answer_is_idle_within_a_second(portal: Portal) -> None:
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        await ask(client, session, "wait for me")
        shown = (await until(client, session, "message.delta"))["event"]["text"]
        events = await abort(client, session)
        [ended] = [event for event in events if event["kind"] == "message.ended"]
        assert ended["cut"]
        assert ended["text"].startswith(shown)
        assert "One moment. ".startswith(ended["text"])


@pytest.mark.timed
@pytest.mark.parametrize(
    "command",
    [
        "sleep {pid}.1",
        "sh -c 'trap \"\" TERM INT HUP; sleep {pid}.1; true'",
        "sh -c 'setsid nohup sleep {pid}.1 >/dev/null 2>&1 & sleep {pid}.2; true'",
    ],
    ids=["plain", "deaf", "detached"],
)
@pytest.mark.parametrize("is_steered", sampled(1, [True, False]), ids=["steered", ""])
async def test_abort_during_a_command_is_idle_within_a_second_and_nothing_runs_on(
    portal: Portal, command: str, is_steered: bool
) -> None:
    words = f"sleep {portal.pid}"
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        await ask(client, session, f"shell {command.format(pid=portal.pid)}")
        assert soon(lambda: running(f"{words}.1"))
        if is_steered:
            await steer(client, session, "say that you heard me")
            await until(client, session, "message.ended")
        await abort(client, session)
        assert running(words) == []
        receipt = await ask(client, session, "say hello")
        await until(client, session, "session.idle", receipt["seq"])
        assert (await show(client, session))["turns"] == 2, "what died did not wake the agent"


async def test_what_was_to_steer_and_was_not_read_comes_behind_a_resume(
    portal: Portal,
) -> None:
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        await ask(client, session, "wait for me")
        await until(client, session, "message.delta")
        waits = (await ask(client, session, "say that you waited"))["prompt"]
        steers = await steer(client, session, "say that you heard me")
        status = (await client.get("/api/v1/status")).json()
        os.kill(int(status["runtime"]["pid"]), signal.SIGKILL)
        await until(client, session, "session.interrupted")
        view = await show(client, session)
        assert [queued["prompt"] for queued in view["queue"]] == [steers, waits]
        assert (await client.post(f"/api/v1/sessions/{session}/resume")).status_code == 200
        receipt = await ask(client, session, "say the last word")
        await until(client, session, "session.idle", receipt["seq"])
        events = [recorded["event"] for recorded in await read_all(client, session)]
        started = [event["prompt"] for event in events if event["kind"] == "turn.started"]
        assert started[1:3] == [steers, waits]


async def test_what_was_to_steer_survives_the_end_of_the_server(portal: Portal) -> None:
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        await ask(client, session, "wait for me")
        await until(client, session, "message.delta")
        steers = await steer(client, session, "say that you heard me")
    portal.kill()
    portal.start()
    async with portal.client() as client:
        view = await show(client, session)
        assert view["state"] == "interrupted"
        assert [queued["prompt"] for queued in view["queue"]] == [steers]
