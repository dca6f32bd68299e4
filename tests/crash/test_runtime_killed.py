"""The agent runtime dies or hangs in the middle of a turn: all are told, and work goes on."""

import asyncio
import json
import os
import signal
import time
from typing import Any

import httpx2
import psutil
import pytest

from tests.crash.marks import bearing, owner_of, running, soon
from tests.crash.witness import ENDS, STARTS, ask, read_all, show, start_session, until
from tests.portal import Portal
from tests.trials import whole_only

NOTICED_SECONDS = 2

both = pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])


async def runtime_pid(client: httpx2.AsyncClient) -> int:
    return int((await client.get("/api/v1/status")).json()["runtime"]["pid"])


async def live(client: httpx2.AsyncClient, session: str) -> dict[str, Any]:
    return (await client.get(f"/api/copilot/session/{session}/live")).json()


async def first_delta(client: httpx2.AsyncClient, session: str) -> None:
    while (await live(client, session)).get("callback") != "onMessage":
        pass


@pytest.mark.timed
@both
async def test_live_says_session_error_within_two_seconds_and_then_closed(
    portal: Portal, how: signal.Signals
) -> None:
    async with portal.client() as client:
        session = (
            await client.post(
                "/api/copilot/session/start/rehearsal", content=str(portal.work).encode()
            )
        ).json()["sessionId"]
        await client.post(f"/api/copilot/session/{session}/query", content=b"wait for me")
        await first_delta(client, session)
        await asyncio.sleep(0.3)  # anywhere in the watchdog's round
        os.kill(await runtime_pid(client), how)
        began, told = time.monotonic(), list[dict[str, Any]]()
        while "sessionError" not in (answer := await live(client, session)):
            told.append(answer)
        assert time.monotonic() - began < NOTICED_SECONDS
        ends = [answer for answer in told if answer.get("callback") == "onEndMessage"]
        assert [end["completeContent"] for end in ends] == ["One moment. "]
        error = json.loads(answer["sessionError"])
        assert "agent runtime" in error["message"]
        assert await live(client, session) == {"error": "SessionClosed"}
        assert await live(client, session) == {"error": "SessionNotFound"}

        view = await show(client, session)
        assert (view["state"], view["turn"]) == ("interrupted", None)
        assert "agent runtime" in view["error"]

        later = await start_session(client, portal.work)
        await ask(client, later, "say hello")
        await until(client, later, "session.idle")


@pytest.mark.timed
@both
async def test_every_session_on_it_is_told_and_can_be_resumed_with_its_history(
    portal: Portal, how: signal.Signals
) -> None:
    async with portal.client() as client:
        sessions = [await start_session(client, portal.work) for _ in range(3)]
        for session in sessions[:2]:
            await ask(client, session, "wait for me")
            await until(client, session, "message.delta")
        await ask(client, sessions[1], "say that this was waiting in the queue")
        await asyncio.sleep(0.8)  # the runtime writes sessions down a little later
        first = await runtime_pid(client)
        began = time.monotonic()
        os.kill(first, how)
        for session in sessions:
            await until(client, session, "session.interrupted")
        assert time.monotonic() - began < NOTICED_SECONDS
        for session in sessions:
            before = await read_all(client, session)
            kinds = [recorded["event"]["kind"] for recorded in before]
            assert sum(kind in STARTS for kind in kinds) == sum(kind in ENDS for kind in kinds)
            answer = await client.post(f"/api/v1/sessions/{session}/resume")
            assert answer.status_code == 200, answer.text
            receipt = await ask(client, session, "say that you are back")
            await until(client, session, "session.idle", receipt["seq"])
            after = await read_all(client, session)
            assert after[: len(before)] == before
        queued = [r["event"] for r in await read_all(client, sessions[1])]
        started = [event["prompt"] for event in queued if event["kind"] == "turn.started"]
        accepted = [event["prompt"] for event in queued if event["kind"] == "prompt.accepted"]
        assert started == accepted, "what waited in the queue was worked on, once, in its turn"
        assert await runtime_pid(client) != first
        assert not psutil.pid_exists(first)


async def test_shell_commands_of_a_dead_runtime_are_gone_before_the_next_session_opens(
    portal: Portal,
) -> None:
    attached, detached = f"sleep {portal.pid}.1", f"sleep {portal.pid}.2"
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        both_kinds = f"shell sh -c 'setsid nohup {detached} >/dev/null 2>&1 & {attached}; true'"
        await ask(client, session, both_kinds)
        assert soon(lambda: running(attached) and running(detached))
        first = await runtime_pid(client)
        os.kill(first, signal.SIGKILL)
        await start_session(client, portal.work)
        assert running(attached) == running(detached) == []
        marked = {process.pid for process in bearing("AIRBOSS_OWNER", owner_of(portal))}
        runtime = psutil.Process(await runtime_pid(client))
        assert marked <= {runtime.pid, runtime.ppid()}, "only the new runtime runs"
        ended = await until(client, session, "tool.ended")
        assert ended["event"]["cut"]
        assert ended["event"]["error"]


@whole_only
async def test_a_runtime_killed_ten_times_in_a_row_leaves_a_server_that_works(
    portal: Portal,
) -> None:
    async with portal.client() as client:
        for number in range(10):
            session = await start_session(client, portal.work)
            await ask(client, session, "stream something")
            await asyncio.sleep(number * 0.04)
            os.kill(await runtime_pid(client), signal.SIGKILL)
            await until(client, session, "session.interrupted")
        session = await start_session(client, portal.work)
        await ask(client, session, "say hello")
        await until(client, session, "session.idle")
        status = (await client.get("/api/v1/status")).json()
        assert status["runtime"]["restarts"] == 10
        assert status["sessions"] == {"open": 1, "working": 0}
        server = psutil.Process(portal.pid)
        runtimes = [child.pid for child in server.children(recursive=True)]
        assert status["runtime"]["pid"] in runtimes
        assert len(server.children()) == 1
        assert len(runtimes) <= 2, "one, with its supervisor"
    assert "Traceback" not in portal.log, portal.log
